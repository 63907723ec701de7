"""Every broken text given to every option that reads a file: one line, exit code 2, nothing on stdout, within seconds.

What exactly each reader says is tested beside the reader; here it is that none of them lets anything through.
"""

from __future__ import annotations

import gzip
import time
from operator import attrgetter
from pathlib import Path

import pytest

from tests.scheduler.cli.command import gangsched
from tests.scheduler.manifests.test_bad_input import TEXTS, Case

ROOT = Path(__file__).resolve().parents[3]
WALKTHROUGH = str(ROOT / "examples" / "walkthrough")
TRACE = str(ROOT / "examples" / "three-stage-evolution.jsonl")
RECORDING = str(ROOT / "tests" / "conformance" / "kube" / "cases" / "walkthrough.json")

READERS: dict[str, tuple[str, ...]] = {
    "run -f": ("run", "-f"),
    "run -c": ("run", "-f", WALKTHROUGH, "-c"),
    "explain -f": ("explain", "pod/p", "-f"),
    "explain -c": ("explain", "pod/pg1-pod-0", "-f", WALKTHROUGH, "-c"),
    "replay": ("replay",),
    "replay --lenient": ("replay", "--lenient"),
    "replay as a native trace": ("replay", "--format", "native"),
    "replay as a Philly table": ("replay", "--format", "philly"),
    "replay --nodes": ("replay", TRACE, "--nodes"),
    "replay -c": ("replay", TRACE, "-c"),
    "config view -c": ("config", "view", "-c"),
    "conform": ("conform",),
    "conform -c": ("conform", RECORDING, "-c"),
}
MORE = [
    Case("nothing but null characters", b"\0" * 1000, ""),
    Case("random bytes", bytes(range(256)) * 10, ""),
    Case("nested 100,000 deep", "[" * 100_000, "", "in.json"),
    Case("objects nested 100,000 deep", '{"a":' * 100_000, "", "in.json"),
    Case("packed brackets", gzip.compress(b"[" * 10**6), "", "in.json.gz"),
    Case("a line without end", b"x" * 2**25, ""),
    Case("line ends of another system", "a: 1\r\nb: [\r\n", ""),
]


@pytest.mark.parametrize("case", [*TEXTS, *MORE], ids=attrgetter("name"))
def test_no_reader_lets_a_broken_text_through(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.file
    path.write_bytes(case.content if isinstance(case.content, bytes) else case.content.encode())
    for reader, arguments in READERS.items():
        started = time.process_time()
        result = gangsched(*arguments, str(path))
        assert time.process_time() - started < 5, reader
        assert (result.exit_code, result.stdout) == (2, ""), reader
        assert result.stderr.count("\n") == 1, (reader, result.stderr)
        assert result.stderr.removesuffix("\n").isprintable(), reader
        assert result.stderr.startswith(f"{path}"), (reader, result.stderr)
