"""Spoilt traces end in a result or in one error line: no other exception, no hang.

More of it: ``GANGSCHED_FUZZ=100000 python -m pytest tests/scheduler/replay/test_fuzz.py``.
"""

from __future__ import annotations

import copy
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsched.replay.converters.philly import HEADER as PHILLY
from gangsched.replay.nodes import nodes_of
from gangsched_framework.errors import GangschedError
from tests.scheduler.replay.play import SECOND, play
from tests.scheduler.replay.traces import HEADER, add, composite, delete, group, node, pod, update

TRIES = int(os.environ.get("GANGSCHED_FUZZ", "60"))
TRACE: list[dict[str, Any]] = [
    HEADER | {"start": "2026-01-01T00:00:00Z", "feature_gates": {"CompositePodGroup": True}},
    add(0, node("n1")),
    add(0, composite("root", 1)),
    add(0.5, group("g", 2, "root")),
    add(1, pod("g-0", in_group="g", duration="3s")),
    add(1, pod("g-1", in_group="g", duration="4s")),
    add(2, pod("plain", duration="1m")),
    update(3, pod("plain", duration="2m")),
    update(4, node("n1", "8")),
    delete(5, "Pod", "plain"),
    delete(6, "PodGroup", "g"),
]
ROWS = [PHILLY, "0,100,8,a", "1.5,10,12,b", "3,1e2,1,a", "9,7,16,c"]
ODD: tuple[Any, ...] = (
    *(None, True, "", " ", "x", "NaN", -1, 0, 1.5, 10**30, [], {}, [[]], {"a": {}}, "\u0000", "é", "\udcff"),
    *("default/a", "Pod", "1e400", "a" * 300),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


def spoil(draw: st.DrawFn, document: Any) -> Any:
    """Drop, retype, rename, copy or nest one value."""
    place = draw(st.sampled_from(places(document)[1:] or [()]))
    if not place:
        return draw(st.sampled_from(ODD))
    parent = document
    for step in place[:-1]:
        parent = parent[step]
    key, how = place[-1], draw(st.sampled_from(("drop", "retype", "rename", "nest", "copy")))
    value = parent[key]
    if how == "drop":
        del parent[key]
    elif how == "nest":
        parent[key] = [value] if draw(st.booleans()) else {"items": value}
    elif how == "rename" and isinstance(parent, dict):
        parent[draw(st.sampled_from(("x", f"{key}s", str(key).upper(), "add", "t")))] = parent.pop(key)
    elif how == "copy" and isinstance(parent, dict):
        parent[draw(st.sampled_from(list(parent)))] = copy.deepcopy(value)
    else:
        parent[key] = draw(st.sampled_from(ODD))
    return document


@st.composite
def native_traces(draw: st.DrawFn) -> bytes:
    lines = copy.deepcopy(TRACE)
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, len(lines) - 1))
        lines[number] = spoil(draw, lines[number])
    return spoil_bytes(draw, [json.dumps(line).encode() for line in lines])


@st.composite
def philly_tables(draw: st.DrawFn) -> bytes:
    cells = [row.split(",") for row in ROWS]
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.sampled_from(cells))
        row[draw(st.integers(0, len(row) - 1))] = draw(st.text(max_size=5) | st.integers().map(str))
    return spoil_bytes(draw, [",".join(row).encode("utf-8", "surrogatepass") for row in cells])


def spoil_bytes(draw: st.DrawFn, lines: list[bytes]) -> bytes:
    """Perhaps swap, repeat, lose or cut lines, or put any bytes in."""
    how = draw(st.sampled_from(("keep", "keep", "swap", "repeat", "lose", "cut", "bytes")))
    at = draw(st.integers(0, len(lines) - 1))
    if how == "swap":
        lines[at - 1], lines[at] = lines[at], lines[at - 1]
    elif how == "repeat":
        lines.insert(at, lines[at])
    elif how == "lose":
        del lines[at]
    text = b"\n".join(lines)
    if how == "cut":
        return text[: draw(st.integers(0, len(text)))]
    if how == "bytes":
        cut = draw(st.integers(0, len(text)))
        return text[:cut] + draw(st.binary(max_size=4)) + text[cut:]
    return text


@pytest.mark.parametrize("kind", ["native", "philly"])
def test_no_spoilt_trace_gets_through_or_hurts(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    strategy = native_traces() if kind == "native" else philly_tables()

    @settings(max_examples=TRIES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(raw=strategy, lenient=st.booleans())
    def look(raw: bytes, lenient: bool) -> None:
        path.write_bytes(raw)
        started = time.process_time()
        try:
            # Cut after an hour: a gang that never fits is retried for as long as anything runs.
            nodes = nodes_of("2x8gpu") if kind == "philly" else None
            result = play(str(path), nodes, lenient=lenient, until=3600 * SECOND)
            assert lenient or not result.skipped
        except GangschedError as problem:
            text = str(problem)
            assert text
            assert "\n" not in text
            text.encode("utf-8")
        assert time.process_time() - started < 5

    look()
