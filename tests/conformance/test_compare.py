"""The comparer: every difference with its path, fields by name, and what does not count."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from gangsched.conform.compare import differences
from gangsched.conform.documents import read_scenarios
from gangsched.conform.errors import ConformError
from gangsched.conform.fields import KNOWN, Fields

HERE = Path(__file__).parent


@frozen
class Case:
    name: str
    expected: Any
    got: Any
    fields: str
    want: list[str]


CASES = [
    Case("equal values show nothing", {"t": 1, "bound": {"a/b": "n"}}, {"t": 1, "bound": {"a/b": "n"}}, "", []),
    Case("a value inside maps", {"root": {"code": "Error"}}, {"root": {"code": "Success"}}, "", ["root.code"]),
    Case("a key that is data", {"bound": {"d/p": "a"}}, {"bound": {"d/p": "b"}}, "", ["bound[d/p]"]),
    Case("what is missing", {"t": 0, "early": True}, {"t": 0}, "", ["early"]),
    Case("what is there too much", {"t": 0}, {"t": 0, "nominated": {"d/p": "n"}}, "", ["nominated"]),
    Case("records of equal number one by one", {"active": [{"ts": 0}]}, {"active": [{"ts": 1}]}, "", ["active[0].ts"]),
    Case("records of another number as a whole", {"active": [{"ts": 0}]}, {"active": [{}, {}]}, "", ["active"]),
    Case("the order of a plain list counts", {"order": ["a", "b"]}, {"order": ["b", "a"]}, "", ["order"]),
    Case("one and true are told apart by JSON only", {"attempts": 1}, {"attempts": 1}, "", []),
    Case("only the named field", {"t": 1, "raw": {"g/a": "S"}}, {"t": 2, "raw": {"g/a": "U"}}, "raw", ["raw[g/a]"]),
    Case(
        "a named field deep inside",
        {"t": 1, "root": {"code": "S", "msg": "a"}},
        {"t": 2, "root": {"code": "U", "msg": "b"}},
        "code",
        ["root.code"],
    ),
    Case("all but the unnamed", {"t": 1, "op": "x"}, {"t": 2, "op": "y"}, "-t", ["op"]),
    Case("unnamed wins inside named", {"root": {"code": "S", "msg": "a"}}, {"root": {"code": "S"}}, "root,-msg", []),
    Case("trace is not binding", {"trace": ["a"]}, {}, "", []),
    Case("trace can be asked for", {"trace": ["a"]}, {}, "trace", ["trace"]),
    Case("no texts of events", {"events": ["Warning X d/p: one"]}, {"events": ["Warning X d/p: two"]}, "-msg", []),
    Case(
        "no texts of conditions, but their reasons",
        {"podConditions": {"d/p": ["A=False R: x"], "d/q": ["A=True"]}},
        {"podConditions": {"d/p": ["A=False S: x"], "d/q": ["A=True"]}},
        "-msg",
        ["podConditions[d/p]"],
    ),
    Case("plugin names are data", {"raw": {"msg": 1}}, {"raw": {"msg": 2}}, "-msg", ["raw[msg]"]),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_differences(case: Case) -> None:
    found = differences(case.expected, case.got, Fields.parse(case.fields))
    assert [difference.field for difference in found] == case.want


def test_a_difference_tells_both_sides_and_its_step() -> None:
    (difference,) = differences({"t": 1}, {"t": 2}, Fields(), step=7)
    assert (difference.step, difference.expected, difference.got) == (7, 1, 2)


def test_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(ConformError, match="--fields: found mgs, allowed "):
        Fields.parse("t,-mgs")


def test_every_field_of_the_recordings_is_known() -> None:
    unknown: set[str] = set()

    def visit(value: Any, last: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if "/" not in key and last not in ("raw", "normalized", "plugins"):
                    unknown.update({key} - KNOWN)
                visit(inner, key)
        elif isinstance(value, list):
            for item in value:
                visit(item, last)

    for scenario in read_scenarios([HERE / "kube", HERE / "node-plugins" / "cases"]):
        visit(scenario.document.get("records", scenario.document.get("want")), "")
    assert unknown == set()
