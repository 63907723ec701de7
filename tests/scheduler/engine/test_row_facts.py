"""What columns read of rows: once a change, for all that read alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, field

from gangsched.engine.row_facts import FactsOfTable, RowFacts
from gangsched_framework.node_table import NodeTable
from gangsched_framework.testing import make_node, make_pod


@define(eq=False)
class World:
    """Three nodes, their facts for a reader of the pods on them, and the rows that were read."""

    table: NodeTable = field(factory=NodeTable)
    read: list[int] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        for name in ("a", "b", "c"):
            self.table.add_node(make_node(name).capacity(cpu=4, pods=9).obj())
        self.table.settle()

    def pods(self, row: int) -> int:
        self.read.append(row)
        return len(self.table.pods[row])

    def ask(self, facts: RowFacts, row: int) -> tuple[Any, ...]:
        facts.follow()
        return facts.known[row] or facts.read(row)

    def place(self, name: str, node: str) -> None:
        self.table.add_pod(make_pod(name).obj(), node)


CHANGES: dict[str, tuple[Callable[[World], object], list[int]]] = {
    "nothing": (lambda world: None, []),
    "a pod comes to another row": (lambda world: world.place("p", "b"), []),
    "a pod comes to the row": (lambda world: world.place("p", "a"), [0]),
    "the log starts anew": (lambda world: setattr(world.table.sums, "log", []), [0]),
}


@pytest.mark.parametrize(("change", "read"), CHANGES.values(), ids=CHANGES)
def test_a_row_is_read_again_only_when_it_was_touched(change: Callable[[World], object], read: list[int]) -> None:
    world = World()
    facts = FactsOfTable(world.table).of((None, world.pods))
    assert world.ask(facts, 0) == (0, 0)
    world.read.clear()

    change(world)

    assert world.ask(facts, 0) == (0, len(world.table.pods[0]))
    assert world.read == read
    facts._check()


def test_those_who_read_alike_share_what_they_read_until_nodes_change() -> None:
    world = World()
    shared = FactsOfTable(world.table)
    facts = shared.of((world.pods,))

    assert shared.of((world.pods,)) is facts
    assert shared.of((world.pods, None)) is not facts
    world.table.update_node(make_node("b").capacity(cpu=8, pods=9).obj())
    assert shared.of((world.pods,)) is not facts


def test_facts_that_no_column_needs_are_forgotten() -> None:
    world = World()
    shared = FactsOfTable(world.table)
    facts = shared.of((world.pods,))
    world.ask(facts, 1)
    del facts

    assert world.ask(shared.of((world.pods,)), 1) == (0,)
    assert world.read == [1, 1]
