"""Members that need not be told apart: a newcomer like all others, a tree that comes back from its cycle as it left."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from gangsched_framework.infos import PoppedPodGroupInfo
from gangsched_framework.objects import Group, Pod
from gangsched_framework.status import unschedulable
from gangsched_queue.entities import QueuedPodGroupInfo
from gangsched_queue.settings import SECOND
from tests.queue_room.cluster import BINDING, Cluster, group, key, pod, rejected
from tests.queue_room.fakes import FIT, GANG, GATES, PREEMPTION

NO = unschedulable("no")
DEEP = (group("R", 2), group("A", 1, "R"), group("B", 1, "A"), group("C", 1, "B"), group("D", 1, "C"))
"""A chain of composite groups; a leaf below ``D`` is deeper than GangScheduling allows."""


def told(*objects: Pod | Group) -> Cluster:
    cluster = Cluster()
    for one in objects:
        if isinstance(one, Pod):
            cluster.add_pod(one)
        else:
            cluster.add_group(one)
    return cluster


def three() -> Cluster:
    """A gang ``g`` of ``p``, ``q`` and ``r`` in the active queue."""
    return told(group("g", 3), *(pod(name, "g") for name in "pqr"))


def tree(cluster: Cluster, name: str) -> QueuedPodGroupInfo:
    found = cluster.queue.waiting.find_tree(key(name))
    assert found is not None
    return found[0]


def failed(cluster: Cluster) -> Cluster:
    assert isinstance(cluster.pop(), PoppedPodGroupInfo)
    cluster.finish(rejected(FIT), NO)
    return cluster


# --- a newcomer -------------------------------------------------------------------------------------------------------


def test_what_the_gate_says_to_a_newcomer_is_shown_though_it_was_said_otherwise_to_the_others() -> None:
    cluster = told(group("g", 3), pod("p", "g"), pod("q", "g"))
    cluster.update_group(group("g", 5))  # no event for the gate
    assert cluster.entity("p").reason == "no quorum of 3"
    cluster.add_pod(pod("r", "g"))
    assert tree(cluster, "g").alike is not None
    assert cluster.entity("p").reason == "no quorum of 5"


def test_of_plugins_without_scope_each_is_asked_once_about_each_member() -> None:
    """Such a plugin may count its questions."""
    cluster = Cluster(scoped=False)
    cluster.add_group(group("g", 1))
    cluster.add_pod(pod("p", "g"))
    assert cluster.framework.asked[GATES] == cluster.framework.asked[GANG] == 1


def test_a_newcomer_of_another_profile_is_not_held_back_with_the_others() -> None:
    cluster = told(group("g", 4), pod("p", "g"), pod("q", "g"), evolve(pod("r", "g"), scheduler_name="unknown"))
    assert tree(cluster, "g").alike is None
    assert cluster.entity("r").rejected_by == {"default/p": (GANG,), "default/q": (GANG,)}


def test_a_newcomer_of_a_leaf_of_another_depth_is_told_apart_but_waits_with_the_others() -> None:
    cluster = told(group("R", 3), group("a", 1, "R"), group("M", 1, "R"), group("b", 1, "M"), pod("p", "a"))
    cluster.add_pod(pod("q", "b"))
    assert tree(cluster, "R").alike is None
    assert cluster.entity("q").rejected_by == {"default/p": (GANG,), "default/q": (GANG,)}


def test_a_newcomer_of_another_leaf_as_deep_is_like_the_others() -> None:
    cluster = told(group("R", 3), group("a", 1, "R"), group("b", 1, "R"), pod("p", "a"), pod("q", "b"))
    assert tree(cluster, "R").alike is not None
    assert cluster.entity("q").rejected_by == {"default/p": (GANG,), "default/q": (GANG,)}


def test_an_arrival_elsewhere_wakes_a_tree_of_the_same_gate_in_which_somebody_waits_whom_nobody_rejected() -> None:
    cluster = told(*DEEP, group("a", 1, "R"), group("b", 1, "R"), group("x", 1, "D"), pod("p", "a"), pod("q", "b"))
    cluster.add_pod(pod("deep", "x"))
    assert cluster.entity("q").gated_by == GANG
    assert cluster.entity("q").rejected_by == {"default/p": (GANG,), "default/deep": (GANG,)}
    cluster.add_group(group("other", 3))
    cluster.add_pod(pod("o", "other"))
    cluster.delete_pod("deep")
    assert cluster.entity("q").gated_by == GANG
    cluster.add_pod(pod("more", "other"))
    assert cluster.where == {"p": "active", "q": "active", "o": "gated", "more": "gated"}


def test_a_tree_that_serves_a_penalty_and_is_gated_serves_it_when_a_newcomer_opens_the_gate() -> None:
    cluster = failed(told(group("g", 2), pod("p", "g"), pod("q", "g")))
    cluster.update_group(group("g", 4))
    cluster.add_pod(pod("r", "g"))
    assert cluster.where == dict.fromkeys("pqr", "gated")
    cluster.add_pod(pod("s", "g"))
    assert cluster.where == dict.fromkeys("pqrs", "backoff")


def test_a_newcomer_of_an_active_tree_that_a_plugin_refuses_takes_the_tree_with_it() -> None:
    cluster = told(group("g", 1), pod("p", "g"), pod("q", "g"))
    cluster.framework.preemption.held.add(key("g"))
    cluster.add_pod(pod("r", "g"))
    assert cluster.entity("p").gated_by == PREEMPTION
    assert cluster.entity("p").rejected_by == {f"default/{name}": (PREEMPTION,) for name in "pqr"}


def test_a_member_that_left_a_gated_tree_is_asked_by_its_old_gate_first() -> None:
    cluster = told(group("g", 2), pod("p", "g"))
    cluster.delete_group(key("g"))
    cluster.framework.preemption.held.add(key("g"))
    cluster.add_group(group("g", 2))
    assert cluster.entity("p").gated_by == GANG  # not PREEMPTION, which stands before it in the profile


# --- a tree that comes back -------------------------------------------------------------------------------------------


def nothing(cluster: Cluster) -> None:
    assert cluster.known


def status(cluster: Cluster) -> None:
    known = cluster.known["default/p"]
    cluster.show_status(known.with_status(evolve(known.status, start_time=5)))


def label(cluster: Cluster) -> None:
    cluster.update_pod(evolve(cluster.known["default/p"], labels={"a": "b"}))


def gate(cluster: Cluster) -> None:
    cluster.update_pod(evolve(cluster.known["default/p"], scheduling_gates=("late",)))


@pytest.mark.parametrize(
    ("change", "times"),
    [(nothing, 1), (label, 3)],
    ids=["one is asked for all that are as they were popped", "everybody is asked when one has changed meanwhile"],
)
def test_of_a_tree_that_failed(change: Callable[[Cluster], None], times: int) -> None:
    cluster = three()
    assert cluster.pop() is not None
    change(cluster)
    cluster.framework.asked.clear()
    cluster.finish(rejected(FIT), NO)
    assert {plugin: cluster.framework.asked[plugin] for plugin in (GATES, PREEMPTION, GANG)} == dict.fromkeys(
        (GATES, PREEMPTION, GANG), times
    )


@pytest.mark.parametrize(
    ("change", "alike"),
    [(status, True), (label, False)],
    ids=["but not for its status", "for whatever else changed"],
)
def test_a_changed_member_is_asked_anew(change: Callable[[Cluster], None], alike: bool) -> None:
    cluster = failed(three())
    change(cluster)
    assert (tree(cluster, "g").alike is not None) is alike


def test_a_gate_put_up_during_the_attempt_holds_the_tree_back_when_it_ends() -> None:
    cluster = three()
    cluster.pop()
    gate(cluster)
    cluster.finish(rejected(FIT), NO)
    assert cluster.entity("p").gated_by == GATES


def test_a_gate_put_up_while_a_failed_member_is_pending_holds_the_tree_back_when_the_cycle_ends() -> None:
    cluster = three()
    popped = cluster.pop()
    assert isinstance(popped, PoppedPodGroupInfo)
    for info in popped.members():
        info.unschedulable_plugins = frozenset({FIT})
        cluster.queue.add_unschedulable(info)
    gate(cluster)
    cluster.queue.add_attempted(popped, NO)
    assert cluster.entity("p").gated_by == GATES


def test_a_member_of_an_earlier_cycle_that_comes_back_into_a_later_one_is_asked() -> None:
    cluster = failed(told(group("g", 1), pod("p", "g"), pod("q", "g")))
    gate(cluster)  # in backoff, from where it goes to the active queue without being asked again
    cluster.advance(20 * SECOND)
    assert cluster.pop() is not None
    cluster.finish({"p": BINDING, "q": rejected(FIT)}, NO)
    cluster.advance(20 * SECOND)
    popped = cluster.pop()
    assert popped is not None
    assert [info.pod.name for info in popped.members()] == ["q"]
    cluster.refuse("p")
    cluster.finish(rejected(FIT), NO)
    assert cluster.entity("q").gated_by == GATES


def test_members_that_failed_at_one_instant_go_by_their_names_whoever_came_first() -> None:
    cluster = told(group("g", 2), pod("q", "g"))
    cluster.advance(SECOND)
    cluster.add_pod(pod("p", "g"))
    assert cluster.entity("p").members == {key("g"): ("q", "p")}
    assert failed(cluster).entity("p").members == {key("g"): ("p", "q")}


def test_members_whose_leaf_moved_during_the_attempt_are_told_apart() -> None:
    cluster = told(
        group("R", 1), group("M", 1, "R"), group("a", 1, "R"), group("b", 1, "R"), pod("p", "a"), pod("q", "b")
    )
    cluster.pop()
    cluster.update_group(group("a", 1, "M"))
    cluster.finish(rejected(FIT), NO)
    assert cluster.where == {"p": "backoff", "q": "backoff"}
    assert tree(cluster, "R").alike is None
