"""Every broken text given to every option that reads a file: one line, exit code 2, nothing on stdout, within seconds.

What exactly each reader says is tested beside the reader; here it is that none of them lets anything through.
"""

from __future__ import annotations

import gzip
import json
import time
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from gangsched_framework import strict_yaml
from tests.scheduler.cli.command import gangsched
from tests.scheduler.config.test_bad_input import FILES
from tests.scheduler.manifests.test_bad_input import OBJECTS, TEXTS, Case
from tests.scheduler.replay.traces import HEADER

ROOT = Path(__file__).resolve().parents[3]
WALKTHROUGH = str(ROOT / "examples" / "walkthrough")
TRACE = str(ROOT / "examples" / "three-stage-evolution.jsonl")
RECORDING = str(ROOT / "tests" / "conformance" / "kube" / "cases" / "walkthrough.json")

READERS: dict[str, tuple[str, ...]] = {
    "run -f": ("run", "-f"),
    "run -c": ("run", "-f", WALKTHROUGH, "-c"),
    "explain -f": ("explain", "pod/p", "-f"),
    "explain -c": ("explain", "pod/pg1-pod-0", "-f", WALKTHROUGH, "-c"),
    "top -f": ("top", "queues", "-f"),
    "top -c": ("top", "jobs", "-f", WALKTHROUGH, "-c"),
    "replay": ("replay",),
    "replay --lenient": ("replay", "--lenient"),
    "replay as a native trace": ("replay", "--format", "native"),
    "replay as a Philly table": ("replay", "--format", "philly"),
    "replay --nodes": ("replay", TRACE, "--nodes"),
    "replay --queues": ("replay", TRACE, "--queues"),
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


# --- the same objects and configurations, wherever they may stand ---------------------------------------------------

SHAPE = (
    *("an unknown field", "allowed text", "allowed a list", "allowed an object"),
    *("allowed a whole number of 32 bits", "allowed a quantity"),
)
"""What is refused in recordings, too; they hold objects that a real API server would not take."""


def document(case: Case) -> Any:
    assert isinstance(case.content, str)
    (found,) = strict_yaml.parse(case.content, "")
    return found


def refused(result: Result) -> str:
    """The one line a bad input ends in."""
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    return result.stderr.removesuffix("\n")


@pytest.mark.parametrize("case", OBJECTS, ids=attrgetter("name"))
def test_a_bad_object_is_refused_in_a_trace_too(case: Case, tmp_path: Path) -> None:
    label, rest = case.want.split(": ", 1)[1].split(": ", 1)
    added = {"t": 0, "add": document(case)}
    (tmp_path / "t.jsonl").write_text(f"{json.dumps(HEADER)}\n{json.dumps(added)}\n")
    line = refused(gangsched("replay", str(tmp_path / "t.jsonl")))
    assert line.startswith(f"{tmp_path}/t.jsonl:2: {label}: add.{rest}"), line


@pytest.mark.parametrize("case", OBJECTS, ids=attrgetter("name"))
def test_a_bad_object_in_a_recording_is_refused_for_its_shape_and_played_otherwise(case: Case, tmp_path: Path) -> None:
    step = {"op": "create", "object": document(case)}
    scenario = {"format": "gangsched conformance v1", "name": "s", "config": {}, "steps": [step]}
    (tmp_path / "s.json").write_text(json.dumps({**scenario, "records": [{"op": "create", "t": 0}]}))
    result = gangsched("conform", str(tmp_path / "s.json"))
    if result.exit_code == 2:
        assert refused(result).startswith(f"{tmp_path}/s.json: s: steps[0]: ")
    else:
        assert not any(shape in case.want for shape in SHAPE), result.stdout
        assert result.stderr == ""


@pytest.mark.parametrize(("content", "want"), FILES.values(), ids=FILES)
def test_a_bad_configuration_is_refused_wherever_one_may_be_given(
    content: str | bytes, want: str, tmp_path: Path
) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for reader in ("run -c", "explain -c", "top -c", "replay -c", "config view -c", "conform -c"):
        line = refused(gangsched(*READERS[reader], str(path)))
        assert line.startswith(f"{path}{want}"), (reader, line)
