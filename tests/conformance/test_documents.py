"""Reading recorded scenarios: formats by shape, and one line for every kind of bad file."""

from __future__ import annotations

import gzip
import json
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from gangsched.conform.documents import read_scenarios
from gangsched.conform.errors import ConformError

KUBE = {"format": "gangsched conformance v1", "name": "one", "config": {}, "steps": [], "records": []}
NODE = {"name": "N/a", "plugin": "N", "nodes": [], "pod": {}, "want": {}}


def kube(**changes: Any) -> dict[str, Any]:
    return {**KUBE, **changes}


def steps(*found: Any) -> bytes:
    return json.dumps(kube(steps=list(found), records=[{}] * len(found))).encode()


@frozen
class Shape:
    name: str
    document: Any
    want: list[tuple[str, str]]


SHAPES = [
    Shape("a kube scenario by its format", KUBE, [("one", "kube")]),
    Shape("one node-plugin case", NODE, [("N/a", "node-plugin")]),
    Shape(
        "a file of cases",
        {"plugin": "N", "cases": [NODE, {**NODE, "name": "N/b"}]},
        [("N/a", "node-plugin"), ("N/b", "node-plugin")],
    ),
    Shape("quantities", [{"in": "1Ki", "value": 1024}], [('quantity/"1Ki"', "quantity")]),
    Shape("configurations", {"a.yaml": {"stage": "load", "error": "x"}}, [("configs/a.yaml", "configuration")]),
    Shape("facts", {"default": {"profiles": {}, "events": {}}}, [("facts/default", "facts")]),
    Shape("a volcano session", {"scenario": {"name": "v"}, "result": {}}, [("v", "volcano")]),
]


@pytest.mark.parametrize("shape", SHAPES, ids=attrgetter("name"))
def test_formats_are_recognised_by_shape(shape: Shape, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text(json.dumps(shape.document))
    assert [(s.name, s.format) for s in read_scenarios([tmp_path])] == shape.want


def test_lines_of_a_compressed_file_are_scenarios(tmp_path: Path) -> None:
    lines = [json.dumps(kube(name=name)) for name in ("a", "b")]
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    found = list(read_scenarios([tmp_path]))
    assert [(s.name, s.where.rpartition(":")[2]) for s in found] == [("a", "1"), ("b", "2")]


@frozen
class Bad:
    name: str
    file: str
    content: bytes
    want: str


BAD = [
    Bad("broken JSON", "x.json", b'{"a":\n 1,,}', r"x\.json:2: broken JSON: "),
    Bad("an empty file", "x.json", b"", r"x\.json:1: broken JSON: "),
    Bad("an unknown format", "x.json", b'{"format": "gangsched conformance v2"}', r"x\.json: unknown format"),
    Bad("a bare number", "x.json", b"1", r"x\.json: unknown format"),
    Bad("a broken line", "x.jsonl", json.dumps(KUBE).encode() + b"\n{", r"x\.jsonl:2: broken JSON: "),
    Bad("a blank line", "x.jsonl", json.dumps(KUBE).encode() + b"\n\n", r"x\.jsonl:2: broken JSON: "),
    Bad("not a number", "x.json", b'{"a": NaN}', r"x\.json: broken JSON: NaN is not a number"),
    Bad("deep nesting", "x.json", b"[" * 100_000, r"x\.json: broken JSON: nested too deeply"),
    Bad("another encoding", "x.json", b'{"a": "\xff"}', r"x\.json:1: not UTF-8"),
    Bad("no gzip", "x.jsonl.gz", b"{}", r"x\.jsonl\.gz:1: cannot be read: "),
    Bad("cut gzip", "x.jsonl.gz", gzip.compress(b"x" * 9999)[:-9], r"x\.jsonl\.gz:\d: cannot be read: "),
    Bad("a record too few", "x.json", json.dumps(kube(steps=[{"op": "cycle"}])).encode(), r"1 steps but 0 records"),
    Bad(
        "steps that are no list",
        "x.json",
        json.dumps(kube(steps={})).encode(),
        r"steps: found an object, expected a list",
    ),
    Bad("a scenario without name", "x.json", json.dumps(kube(name=None)).encode(), r"name: found nothing"),
    Bad("an unknown step", "x.json", steps({"op": "creat"}), r'steps\[0\]: op: found "creat", allowed create, '),
    Bad("a step that is no object", "x.json", steps(3), r"steps\[0\]: op: found a number"),
    Bad("creation of nothing", "x.json", steps({"op": "create"}), r"steps\[0\]: object: found nothing"),
    Bad("time going back", "x.json", steps({"op": "advance", "seconds": -1}), r"seconds: found -1, expected 0 or more"),
    Bad(
        "a bad step in a hook",
        "x.json",
        steps({"op": "cycle", "afterPop": [{"op": "?"}]}),
        r"steps\[0\]: afterPop\[0\]: op",
    ),
    Bad(
        "a case without pod",
        "x.json",
        json.dumps({"plugin": "N", "cases": [{**NODE, "pod": 1}]}).encode(),
        r"case N/a: pod",
    ),
]


@pytest.mark.parametrize("bad", BAD, ids=attrgetter("name"))
def test_a_bad_file_is_refused_in_one_line(bad: Bad, tmp_path: Path) -> None:
    (tmp_path / bad.file).write_bytes(bad.content)
    with pytest.raises(ConformError, match=bad.want) as refusal:
        list(read_scenarios([tmp_path]))
    assert "\n" not in str(refusal.value)


def test_a_path_without_scenarios_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match="no recorded scenarios"):
        list(read_scenarios([tmp_path]))
    with pytest.raises(ConformError, match="cannot be read: no such file or directory"):
        list(read_scenarios([tmp_path / "absent"]))
