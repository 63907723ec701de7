"""What an operation costs does not grow with what it does not concern: counted in questions asked of plugins."""

from __future__ import annotations

from math import log2
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.interface import DeclaresPreEnqueueScope
from gangsched_framework.status import unschedulable
from gangsched_framework.testing import FakeHandle
from gangsched_plugins.default_registry import default_registry
from gangsched_queue.entity_heap import EntityHeap
from tests.queue_room.cluster import Cluster, group, key, pod, rejected
from tests.queue_room.fakes import FIT, GANG, GATES, NODE_ADD, NODE_LABEL, NODE_TAINT, PREEMPTION

SIZES = [50, 400]


def questions(cluster: Cluster) -> int:
    """All questions asked since the last call."""
    asked = sum(cluster.framework.asked.values())
    cluster.framework.asked.clear()
    return asked


def filled(size: int, minimum: int) -> Cluster:
    cluster = Cluster()
    cluster.add_group(group("g", minimum))
    for i in range(size):
        cluster.add_pod(pod(f"p{i}", "g"))
    return cluster


@pytest.mark.parametrize("size", SIZES)
def test_filling_a_gang_asks_a_fixed_number_of_questions_per_pod(size: int) -> None:
    assert questions(filled(size, size)) <= 3 * size + 10


def test_the_member_a_tree_is_made_for_is_asked_once_and_its_event_asks_nobody() -> None:
    cluster = Cluster()
    cluster.add_group(group("g", 3))
    cluster.framework.asked.clear()
    cluster.add_pod(pod("p", "g"))
    assert cluster.framework.asked == {GATES: 1, PREEMPTION: 1, GANG: 1}
    cluster.framework.asked.clear()
    cluster.add_pod(pod("q", "g"))  # the event wakes its tree, whose answer is the newcomer's
    assert cluster.framework.asked == {GATES: 1, PREEMPTION: 1, GANG: 1}


@pytest.mark.parametrize("size", SIZES)
def test_a_gang_whose_quorum_comes_and_goes_asks_a_fixed_number_of_questions(size: int) -> None:
    cluster = filled(size, size)
    questions(cluster)
    for i in range(10):
        cluster.delete_pod(f"p{i}")
        cluster.delete_pod(f"p{i + 10}")
        cluster.add_pod(pod(f"p{i}", "g"))
        cluster.add_pod(pod(f"p{i + 10}", "g"))
    assert questions(cluster) <= 10 * 4 * 12


@pytest.mark.parametrize("size", SIZES)
def test_a_gang_whose_minimum_rises_and_falls_asks_a_fixed_number_of_questions(size: int) -> None:
    cluster = filled(size, 1)
    questions(cluster)
    for _ in range(10):
        cluster.update_group(group("g", size + 2))
        cluster.add_pod(pod("more", "g"))
        assert cluster.entity("p0").gated_by == GANG
        cluster.update_group(group("g", 1))
        cluster.delete_pod("more")
        assert set(cluster.where.values()) == {"active"}
    assert questions(cluster) <= 10 * 20


@pytest.mark.parametrize("size", SIZES)
def test_a_gang_of_which_some_pods_are_gated_asks_a_fixed_number_of_questions_per_pod(size: int) -> None:
    cluster = Cluster()
    cluster.add_group(group("g", size))
    for i in range(size):
        cluster.add_pod(pod(f"p{i}", "g", gates=i % 3))
    for i in range(size):
        cluster.update_pod(pod(f"p{i}", "g"))
    assert set(cluster.where.values()) == {"active"}
    assert questions(cluster) <= 16 * size


@pytest.mark.parametrize("size", SIZES)
def test_a_pod_asks_nothing_of_the_gangs_it_does_not_belong_to(size: int) -> None:
    cluster = Cluster()
    for i in range(size):
        cluster.add_group(group(f"g{i}", 3))
        cluster.add_pod(pod(f"a{i}", f"g{i}"))
    questions(cluster)
    cluster.add_pod(pod("b7", "g7"))
    cluster.add_group(group("new", 2))
    assert questions(cluster) <= 8


@pytest.mark.parametrize("size", SIZES)
def test_an_event_asks_only_the_pods_whose_rejectors_registered_it(size: int) -> None:
    cluster = Cluster()
    for i in range(size):
        cluster.add_pod(pod(f"p{i}"))
        cluster.pop()
        cluster.finish(rejected(FIT))
    cluster.add_group(group("g", size))
    for i in range(size):
        cluster.add_pod(pod(f"g{i}", "g", gates=1))
    questions(cluster)
    cluster.node_event(NODE_LABEL)
    cluster.node_event(NODE_TAINT)
    assert questions(cluster) == 0
    cluster.node_event(NODE_ADD)
    assert questions(cluster) == size


@pytest.mark.parametrize("leaves", SIZES)
def test_a_pod_of_a_wide_tree_asks_nothing_of_the_other_leaves(leaves: int) -> None:
    cluster = Cluster()
    cluster.add_group(group("R", leaves + 1))
    for i in range(leaves):
        cluster.add_group(group(f"l{i}", 1, "R"))
        cluster.add_pod(pod(f"p{i}", f"l{i}"))
    questions(cluster)
    cluster.add_pod(pod("more", "l3"))
    assert questions(cluster) <= 8
    assert cluster.entity("more").rejected_by["default/more"] == (GANG,)


@pytest.mark.parametrize("name", ["SchedulingGates", "DynamicResources", "DefaultPreemption", "GangScheduling"])
def test_every_gating_plugin_of_ours_declares_its_scope(name: str) -> None:
    plugin = default_registry().build(name, {}, FakeHandle())
    assert isinstance(plugin, DeclaresPreEnqueueScope)
    assert plugin.pre_enqueue_scope == ("pod" if name in ("SchedulingGates", "DynamicResources") else "tree")


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "delete", "open", "shut", "hold", "release", "minimum", "event", "pop"]),
        st.integers(0, 7),
    ),
    max_size=40,
)


@given(CHANGES, st.booleans())
def test_declared_scopes_change_the_questions_but_not_the_answers(
    changes: list[tuple[str, int]], reverse: bool
) -> None:
    """One tree of three leaves at two depths, all three gating plugins, every order in which members come and go."""
    clusters = [Cluster(scoped=scoped, reverse=reverse) for scoped in (True, False)]
    for cluster in clusters:
        for one in (group("R", 1), group("a", 3, "R"), group("M", 1, "R"), group("b", 2, "M"), group("c", 1, "M")):
            cluster.add_group(one)
    for change, i in changes:
        for cluster in clusters:
            _tell(cluster, change, i)
        assert clusters[0].state == clusters[1].state


def _tell(cluster: Cluster, change: str, i: int) -> None:
    name = f"p{i}"
    known = cluster.known.get(f"default/{name}")
    if change == "add" and known is None:
        cluster.add_pod(pod(name, "abc"[i % 3], gates=i // 4))
    elif change == "delete" and known is not None:
        cluster.delete_pod(name)
    elif change in ("open", "shut") and known is not None:
        cluster.update_pod(pod(name, known.group_name, gates=int(change == "shut")))
    elif change in ("hold", "release"):
        held = cluster.framework.preemption.held
        held.add(key("R")) if change == "hold" else held.discard(key("R"))
    elif change == "minimum":
        cluster.update_group(group("R", 1 + i % 3))
    elif change == "event":
        cluster.activate(name)
    elif change == "pop" and cluster.pop() is not None:
        cluster.finish(rejected(FIT if i % 2 else GATES), unschedulable("no"))


class Counted(int):
    """A number that counts how often any of its kind is compared."""

    comparisons = 0

    def __lt__(self, other: object) -> bool:
        Counted.comparisons += 1
        return int(self) < int(other)  # type: ignore[call-overload, no-any-return]

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return int(self) == int(other)  # type: ignore[call-overload, no-any-return]

    __hash__ = int.__hash__


@pytest.mark.parametrize("size", SIZES)
def test_an_entity_comes_and_goes_with_a_logarithm_of_comparisons(size: int) -> None:
    heap = EntityHeap(lambda entity: (Counted(entity.timestamp),))
    dice = Random(1)
    for i in range(size):
        heap.enter(QueuedPodInfo(pod(f"p{i}"), dice.randrange(10 * size)))
    Counted.comparisons = 0

    for i in range(size):
        heap.pop()
        heap.enter(QueuedPodInfo(pod(f"q{i}"), dice.randrange(10 * size)))

    assert Counted.comparisons < size * 6 * log2(size)


def test_entities_that_leave_before_anybody_looks_are_not_compared() -> None:
    heap = EntityHeap(lambda entity: (Counted(entity.timestamp),))
    Counted.comparisons = 0

    for i in range(100):
        heap.enter(QueuedPodInfo(pod(f"p{i}"), i))
        heap.remove(pod(f"p{i}").entity_key)

    assert Counted.comparisons == 0
