"""The trace of docs/replay.md plays as printed."""

from __future__ import annotations

import re
from pathlib import Path

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
