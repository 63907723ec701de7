"""RowCounts: whatever happens to the node table, a column equals a recount."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched_framework import node_table
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.testing import make_node, make_pod
from gangsched_plugins.common.row_counts import RowCounts

NODES, APPS = ["a", "b", "c", "d"], ["red", "blue"]
VERBS = ["node", "add", "add", "remove", "change"]
Step = tuple[str, int, int]


class World:
    """A node table driven by steps, and the pods on it."""

    def __init__(self) -> None:
        self.table = NodeTable()
        self.placed: dict[str, tuple[Pod, str]] = {}
        self.numbers = 0

    def apply(self, step: Step) -> None:
        verb, x, y = step
        name = NODES[x % len(NODES)]
        known = [node.name for node in self.table.known_nodes()]
        if verb == "node":
            if name in known:
                self.table.remove_node(name)
            else:
                self.table.add_node(make_node(name).obj())
            self.table.settle()
        elif verb == "add" and known:
            self.numbers += 1
            pod = make_pod(f"p{self.numbers}").label("app", APPS[y % 2]).obj()
            self.placed[pod.key] = (pod, known[x % len(known)])
            self.table.add_pod(*self.placed[pod.key])
        elif self.placed:
            key = sorted(self.placed)[x % len(self.placed)]
            pod, on = self.placed[key]
            if verb == "remove":
                self.table.remove_pod(pod, on)
                del self.placed[key]
            else:
                changed = evolve(pod, deletion_timestamp=1) if y % 3 == 0 else evolve(pod, labels={"app": APPS[y % 2]})
                self.table.replace_pod(changed, on)
                self.placed[key] = (changed, on)

    def recount(self, app: str) -> list[int]:
        return [sum(_counts(pod, app) for pod in on_node.values()) for on_node in self.table.pods]


def _counts(pod: Pod, app: str) -> bool:
    return not pod.deleting and pod.labels.get("app") == app


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 9), st.integers(0, 9))),
    st.lists(st.booleans()),
    st.integers(1, 3),
)
def test_a_column_equals_a_recount(steps: Sequence[Step], asked: list[bool], limit: int) -> None:
    world, counts = World(), RowCounts(limit)
    for i, step in enumerate(steps):
        world.apply(step)
        for app in APPS:
            if i >= len(asked) or asked[i]:  # otherwise rows pile up in the log until the next question
                column = counts.column(world.table, app, partial(_counts, app=app))
                assert list(column) == world.recount(app)


def test_only_touched_rows_are_counted_again() -> None:
    table, asked = NodeTable(), list[str]()
    for name in NODES:
        table.add_node(make_node(name).obj())
    table.settle()
    for name in NODES:
        table.add_pod(make_pod(f"on-{name}").obj(), name)

    def condition(pod: Pod) -> bool:
        asked.append(pod.name)
        return True

    counts = RowCounts()
    assert list(counts.column(table, "all", condition)) == [1, 1, 1, 1]
    assert len(asked) == 4
    table.add_pod(make_pod("new").obj(), "c")
    assert list(counts.column(table, "all", condition)) == [1, 1, 2, 1]
    assert asked[4:] == ["on-c", "new"]


def test_a_column_survives_the_beginning_of_a_new_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_table, "MAX_TOUCHES", 3)
    world, rows = World(), RowCounts()
    for step in (("node", 0, 0), *(("add", 0, 0),) * 5):
        world.apply(step)
    red = partial(_counts, app="red")
    assert list(rows.column(world.table, "red", red)) == [5]
    world.table.settle()
    world.apply(("remove", 0, 0))
    assert list(rows.column(world.table, "red", red)) == [4]
