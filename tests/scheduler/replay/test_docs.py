"""The trace of docs/replay.md plays as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gangsched.replay.nodes import nodes_of
from tests.scheduler.replay.play import moments, play

DOCS = Path(__file__).resolve().parents[3] / "docs" / "replay.md"


def test_the_trace_in_the_docs_plays(tmp_path: Path) -> None:
    text = DOCS.read_text(encoding="utf-8")
    (trace,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    path = tmp_path / "t.jsonl"
    path.write_text(trace, encoding="utf-8")
    assert moments(play(str(path))) == {"a": (1.5, None)}  # deleted at 9 s, long before its end


def test_the_shapes_in_the_docs_are_shapes() -> None:
    shapes = re.findall(r"`(\d+x[^`\s]+=?[^`]*)`", DOCS.read_text(encoding="utf-8"))
    assert shapes == ["80x8gpu", "10xcpu=32,memory=128Gi,nvidia.com/gpu=8"]
    assert all(nodes_of(shape) for shape in shapes)


@pytest.mark.slow
def test_two_runs_are_compared_as_the_docs_say(tmp_path: Path) -> None:
    _, _, page = DOCS.read_text(encoding="utf-8").partition("## Two runs compared")
    (block,) = re.findall(r"```\n(.*?)```", page, re.DOTALL)
    (said,) = re.findall(r"The last line prints `(.*?)`", page)
    (tmp_path / "examples").symlink_to(DOCS.parents[1] / "examples")
    command = f'gangsched() {{ {sys.executable} -m gangsched "$@"; }}\n{block}'
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout.splitlines()[-1] == said
    assert '<             "type": "MostAllocated",' in answer.stdout
