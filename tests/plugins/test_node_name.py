"""NodeName: spec node-plugins.md §7.1, rows 1-4."""

from __future__ import annotations

from operator import attrgetter

import pytest

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import Hint
from gangsched_framework.testing import FakeHandle, make_pod
from gangsched_plugins.node_name import NodeName
from tests.plugins.judge import Case, HintCase, check, check_hint, handle_of, roomy, verdict

NODES = [roomy("a"), roomy("b"), roomy("c")]
CASES = [
    Case(
        name="the named node alone is looked at",
        pod=make_pod("p").node("b"),
        nodes=NODES,
        want={"a": "excluded", "b": "Ok", "c": "excluded"},
    ),
    Case(
        name="an unknown name excludes every node",
        pod=make_pod("p").node("zz"),
        nodes=NODES,
        want={"a": "excluded", "b": "excluded", "c": "excluded"},
    ),
    Case(
        name="a pod without a name runs anywhere",
        pod=make_pod("p"),
        nodes=NODES,
        want={"a": "Ok", "b": "Ok", "c": "Ok"},
    ),
]
HINTS = [
    HintCase(name="any new node", event="Node/Add", pod=make_pod("p").node("zz"), new=roomy("q"), want=Hint.QUEUE),
    HintCase(
        name="a label is not registered",
        event="Node/UpdateNodeLabel",
        pod=make_pod("p").node("zz"),
        old=roomy("a"),
        new=roomy("a").label("x", "1"),
        want=None,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_verdicts(case: Case) -> None:
    check(NodeName, case)


@pytest.mark.parametrize("case", HINTS, ids=attrgetter("name"))
def test_hints(case: HintCase) -> None:
    check_hint(NodeName, case)


def test_filter_refuses_another_node_even_when_nothing_narrowed() -> None:
    handle = handle_of(CASES[0])
    plugin, pod = NodeName({}, FakeHandle()), make_pod("p").node("b").obj()
    answers = {node.name: verdict(plugin.filter(CycleState(), pod, node)) for node in handle.snapshot.nodes}
    other = "UU node(s) didn't match the requested node name"
    assert answers == {"a": other, "b": "Ok", "c": other}
