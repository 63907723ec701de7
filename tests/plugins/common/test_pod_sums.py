"""PodSums: whatever happens to the node table, sums per row and per domain equal a recount."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node, Pod
from gangsched_framework.testing import make_node, make_pod
from gangsched_plugins.common.pod_sums import Mask, RowSums, SumsCache, domains_of

HOSTNAME = "kubernetes.io/hostname"
NAMES = ("a", "b", "c", "d", "e")
VERBS = ("node", "label", "add", "add", "add", "remove", "change", "renew", "log")
Step = tuple[str, int, int]


def weight(pod: Pod) -> int:
    """A measure of either sign; 0 for most."""
    return int(pod.labels.get("weight", "0"))


def node(name: str, rack: int) -> Node:
    made = make_node(name).label(HOSTNAME, name)
    return (made if rack == 0 else made.label("rack", f"r{rack}")).obj()


class World:
    """A node table driven by steps, and the pods on it."""

    def __init__(self) -> None:
        self.table = NodeTable()
        self.placed: dict[str, tuple[Pod, str]] = {}
        self.numbers = 0

    def apply(self, step: Step) -> None:
        verb, x, y = step
        name, known = NAMES[x % len(NAMES)], {n.name for n in self.table.known_nodes()}
        if verb == "node" and name in known:
            self.table.remove_node(name)
        elif verb == "node":
            self.table.add_node(node(name, y % 3))
        elif verb == "label" and name in known:
            self.table.update_node(node(name, y % 3))
        elif verb == "add" and known:
            self._add(sorted(known)[x % len(known)], y)
        elif verb == "log" and self.table.moves is not None:
            self.table.moves = []  # as when the old one has grown long
        elif verb in ("remove", "change", "renew") and self.placed:
            self._touch(verb, x, y)
        self.table.settle()

    def _add(self, name: str, y: int) -> None:
        self.numbers += 1
        pod = make_pod(f"p{self.numbers}").label("weight", str(y % 4 - 1)).obj()
        self.placed[pod.key] = (pod, name)
        self.table.add_pod(pod, name)

    def _touch(self, verb: str, x: int, y: int) -> None:
        key = sorted(self.placed)[x % len(self.placed)]
        pod, on = self.placed[key]
        if verb == "remove":
            self.table.remove_pod(pod, on)
            del self.placed[key]
            return
        changed = (
            evolve(pod, labels={"weight": str(y % 4)}) if verb == "change" else evolve(pod, annotations={"x": "y"})
        )
        self.table.replace_pod(changed, on)
        self.placed[key] = (changed, on)

    def recount(self) -> list[int]:
        return [sum(map(weight, pods.values())) for pods in self.table.pods]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 9), st.integers(0, 9)), max_size=30),
    st.lists(st.booleans()),
)
def test_sums_and_cells_equal_a_recount(steps: Sequence[Step], asked: list[bool]) -> None:
    world, cache = World(), SumsCache()
    for i, step in enumerate(steps):
        world.apply(step)
        if i < len(asked) and not asked[i]:  # what happens piles up until the next question
            continue
        table = world.table
        sums = cache.of(table, "weights", weight)
        sums.sync()
        counts = world.recount()
        assert list(sums.counts) == counts
        counting = np.array([i % 2 == 0 for i in range(len(counts))], np.bool_)
        for key in (HOSTNAME, "rack"):
            domains = domains_of(table.classes, key)
            for which in (None, counting):
                got = sums.by_domain((key, which is None), domains, which).totals
                assert got[:-1].tolist() == _by_value(table, key, counts, which, domains.values)
        pods = cache.of(table, "pods", lambda pod: 1)
        racks = domains_of(table.classes, "rack")
        cells = pods.by_cell("racks", racks.ids, racks.count + 1)
        pods.sync()
        numbers = [len(on_node) for on_node in table.pods]
        assert all(number < cells.width for number in numbers)
        assert cells.ids.tolist() == [rack * cells.width + n for rack, n in zip(racks.ids, numbers, strict=True)]
        assert cells.held.tolist() == np.bincount(cells.ids, minlength=cells.width * (racks.count + 1)).tolist()


def _by_value(table: NodeTable, key: str, counts: list[int], which: Mask | None, values: tuple[str, ...]) -> list[int]:
    rows = [row for row in range(len(counts)) if which is None or which[row]]
    return [sum(counts[row] for row in rows if table.nodes[row].labels.get(key) == value) for value in values]


def test_a_pod_that_comes_costs_one_measure_whatever_stands_there() -> None:
    table, asked = NodeTable(), list[str]()
    for name in NAMES:
        table.add_node(node(name, 1))
    table.settle()

    def measure(pod: Pod) -> int:
        asked.append(pod.name)
        return 1

    sums = RowSums(table, measure)
    for i in range(20):
        table.add_pod(make_pod(f"old-{i}").obj(), "a")
    racks = sums.by_domain("rack", domains_of(table.classes, "rack"))
    assert len(asked) == 20
    table.add_pod(make_pod("new").obj(), "b")
    sums.sync()
    assert asked[20:] == ["new"]
    assert racks.totals.tolist() == [21, 0]


def test_domains_of_single_nodes_are_told_from_shared_ones() -> None:
    table = NodeTable()
    for name, rack in (("a", 1), ("b", 1), ("c", 0)):
        table.add_node(node(name, rack))
    table.settle()
    racks, hosts = domains_of(table.classes, "rack"), domains_of(table.classes, HOSTNAME)
    assert (racks.values, racks.ids.tolist(), racks.single) == (("r1",), [0, 0, 1], False)
    assert (hosts.count, hosts.single) == (3, True)
    assert domains_of(table.classes, "absent").single
