"""The sums of a node table: pods whose rows a plan told are noted, and counted when somebody looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched_framework import node_sums
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, StatusAmounts
from gangsched_framework.testing import make_node, make_pod

GPU = "nvidia.com/gpu"
GI = 2**30
LARGE = 2**44
ASKED: dict[str, int | str] = {"cpu": 1, "memory": "1Gi", GPU: 2, EPHEMERAL_STORAGE: "3Gi"}
WEB = make_pod("web").requests(**ASKED).obj()
KINDS: tuple[Pod, ...] = (
    WEB,
    make_pod("lean").obj(),
    evolve(WEB, status=evolve(WEB.status, allocated={"main": StatusAmounts({"cpu": 2 * 10**9})})),
    make_pod("large").requests(memory=LARGE).obj(),
)
"""Three share their request vector but one of them counts what its status shows; the last is large."""


def table_of(*names: str) -> NodeTable:
    table = NodeTable()
    for name in names:
        table.add_node(make_node(name).capacity(cpu=64, memory="64Gi", pods=110).obj())
    table.settle()
    return table


def named(kind: Pod, name: str) -> Pod:
    return evolve(kind, name=name, uid=name)


def noted_table(*nodes: str) -> NodeTable:
    """A table to whose nodes pods like ``WEB`` came, all of them only noted."""
    table = table_of("a", "b")
    for number, node in enumerate(nodes):
        table.add_pod(named(WEB, f"p{number}"), node, table.row_of[node])
    assert len(table.sums.noted) == len(nodes)
    return table


def of_node(table: NodeTable, name: str) -> NodeInfo:
    return table.infos[table.row_of[name]]


LOOKS: dict[str, tuple[Callable[[NodeTable], object], object]] = {
    "the log of changed rows": (lambda table: table.touched, [0, 0, 1]),
    "the column of a usual resource": (lambda table: table.used[CPU].tolist(), [2000, 1000]),
    "the column of an extended one": (lambda table: table.column(GPU)[0].tolist(), [4, 2]),
    "the column of cpu with defaults": (lambda table: table.nonzero_cpu.tolist(), [2000, 1000]),
    "the column of memory with defaults": (lambda table: table.nonzero_memory.tolist(), [2 * GI, GI]),
    "a node's number of pods": (lambda table: of_node(table, "a").pod_count, 2),
    "a node's sum of any resource": (lambda table: of_node(table, "a").requested(GPU), 4),
    "a node's cpu": (lambda table: of_node(table, "a").requested_milli_cpu, 2000),
    "a node's memory": (lambda table: of_node(table, "a").requested_memory, 2 * GI),
    "a node's storage": (lambda table: of_node(table, "a").requested_ephemeral_storage, 6 * GI),
    "a node's cpu with defaults": (lambda table: of_node(table, "a").nonzero_milli_cpu, 2000),
    "a node's memory with defaults": (lambda table: of_node(table, "a").nonzero_memory, 2 * GI),
}


@pytest.mark.parametrize(("look", "seen"), LOOKS.values(), ids=LOOKS)
def test_whoever_looks_sees_what_was_only_noted(look: Callable[[NodeTable], object], seen: object) -> None:
    table = noted_table("a", "a", "b")
    assert look(table) == seen
    assert table.sums.noted == []
    table._check()


def test_a_column_that_was_read_is_right_again_once_the_log_is_asked_for() -> None:
    table = table_of("a")
    cpu = table.used[CPU]
    for name in "pq":
        table.add_pod(named(WEB, name), "a", 0)
    assert cpu[0] == 0
    assert (len(table.touched), cpu[0]) == (2, 2000)


@pytest.mark.parametrize("many", [3, 4], ids=["counted in one pass", "counted one by one"])
def test_a_pod_that_leaves_is_noted_too(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_sums, "MANY", many)
    table = noted_table("a", "b")
    table.remove_pod(named(WEB, "p0"), "a")
    assert table.sums.noted == [0, 1, ~0]
    assert table.touched == [0, 1, 0]
    assert table.used[CPU].tolist() == [0, 1000]


@pytest.mark.parametrize("row", [None, 0], ids=["counted", "noted"])
def test_before_a_pod_of_another_kind_those_noted_are_counted(row: int | None) -> None:
    table = noted_table("a", "b")
    table.add_pod(make_pod("other").requests(cpu=4).obj(), "a", row)
    assert table.sums.log == [0, 1, 0][: 3 if row is None else 2]
    assert table.used[CPU].tolist() == [5000, 1000]


def test_rows_that_are_renumbered_keep_what_was_noted() -> None:
    table = noted_table("b", "b")
    table.add_node(make_node("aa").capacity(pods=1).obj())
    table.settle()
    assert table.used[CPU].tolist() == [0, 0, 2000]


def test_beside_large_pods_each_is_counted_at_once_so_that_a_sum_too_large_is_seen() -> None:
    table = noted_table("a", "a")
    table.add_pod(named(KINDS[3], "large"), "b")
    for name in "xyz":
        table.add_pod(named(WEB, name), "a", 0)
    assert table.sums.noted == []
    assert table.sums.note([0], WEB.spec.requests) is False
    table._check()


Change = tuple[int, str, bool, bool]
changes = st.lists(
    st.tuples(st.integers(0, 11), st.sampled_from("abc"), st.booleans(), st.sampled_from([False, False, True])),
    max_size=40,
)


@settings(deadline=None, max_examples=200)
@given(steps=changes, many=st.sampled_from([1, 3, 1000]), large=st.booleans())
def test_sums_and_log_say_what_came_and_left_however_it_was_counted(
    steps: list[Change], many: int, large: bool
) -> None:
    """Pods come, some to rows that a plan told, and leave, four or three kinds of them; now and then somebody looks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node_sums, "MANY", many)
        table = table_of("a", "b", "c")
        stand: dict[str, tuple[Pod, str]] = {}
        rows: Counter[int] = Counter()
        for number, (kind, node, told, look) in enumerate(steps):
            if kind < 8:
                pod = named(KINDS[kind % (4 if large else 3)], f"p{number}")
                stand[pod.key] = pod, node
                table.add_pod(pod, node, table.row_of[node] if told else None)
                rows[table.row_of[node]] += 1
            elif stand:
                pod, node = stand.pop(sorted(stand)[kind % len(stand)])
                table.remove_pod(pod, node)
                rows[table.row_of[node]] += 1
            if look:
                assert Counter(table.touched) == rows
                assert table.used[PODS].tolist() == [len(pods) for pods in table.pods]
                assert sum(table.used[MEMORY]) == sum(pod.usage.requested.memory for pod, _ in stand.values())
        table._check()
        assert Counter(table.touched) == rows
