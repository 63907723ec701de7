"""Spec podgroup-scheduling.md §2.7.2-4: what an event is worth."""

from __future__ import annotations

import pytest
from attrs import evolve

from gangsched_framework.events import WILDCARD_EVENT, ClusterEvent
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Node
from gangsched_queue.entities import QueuedPodGroupInfo
from gangsched_queue.in_flight import MissedEvent
from gangsched_queue.requeue import Occurrence, Strategy, strategy_of, strategy_of_missed, strategy_of_update
from tests.queue_room.cluster import Cluster, group, key, pod
from tests.queue_room.fakes import (
    ASSIGNED_DELETE,
    CLAIM,
    FIT,
    GANG,
    LOUD,
    NODE_ADD,
    NODE_LABEL,
    NODE_TAINT,
    WAITING_ADD,
)

SKIP, AFTER_BACKOFF, IMMEDIATELY = Strategy.SKIP, Strategy.AFTER_BACKOFF, Strategy.IMMEDIATELY
REGISTRATIONS = Cluster().queue.registrations


def member(
    name: str, unschedulable: str = "", pending: str = "", of: str = "", fits: str = "", room: str = ""
) -> QueuedPodInfo:
    info = QueuedPodInfo(pod(name, of, labels={"fits": fits, "room": room}), 0)
    info.unschedulable_plugins = frozenset(unschedulable.split())
    info.pending_plugins = frozenset(pending.split())
    return info


def in_gang(name: str, unschedulable: str = "", pending: str = "", fits: str = "") -> QueuedPodInfo:
    return member(name, unschedulable, pending, of="g", fits=fits)


def new_node(event: ClusterEvent = NODE_ADD) -> Occurrence:
    return Occurrence(event, None, Node("n"))


ONE_POD = [
    ("a: nobody rejected it", member("p"), NODE_ADD, AFTER_BACKOFF),
    (
        "c: its rejector registered the event and the hint says Queue",
        member("p", FIT, fits="n"),
        NODE_ADD,
        AFTER_BACKOFF,
    ),
    ("f: the hint says Skip", member("p", FIT, fits="m"), NODE_ADD, SKIP),
    ("c: its rejector did not register the event", member("p", FIT), NODE_LABEL, SKIP),
    ("c: a registration of another plugin does not count", member("p", LOUD), NODE_ADD, SKIP),
    ("§2.7.1: a registration without hint queues", member("p", LOUD), NODE_LABEL, AFTER_BACKOFF),
    ("d: a pending plugin queues at once", member("p", FIT, CLAIM), NODE_TAINT, IMMEDIATELY),
    (
        "e: a rejector queues, the pending plugin has nothing to say",
        member("p", FIT, CLAIM, fits="n"),
        NODE_ADD,
        AFTER_BACKOFF,
    ),
    (
        "d: the pending plugin is asked although a rejector queues",
        member("p", FIT, CLAIM, room="yes"),
        ASSIGNED_DELETE,
        IMMEDIATELY,
    ),
    ("d: a plugin in both sets counts as pending", member("p", LOUD, LOUD), NODE_LABEL, IMMEDIATELY),
    ("b: a wildcard event without a pod", member("p", FIT), WILDCARD_EVENT, AFTER_BACKOFF),
]


@pytest.mark.parametrize(("info", "event", "worth"), [case[1:] for case in ONE_POD], ids=[case[0] for case in ONE_POD])
def test_what_an_event_is_worth_to_one_pod(info: QueuedPodInfo, event: ClusterEvent, worth: Strategy) -> None:
    assert strategy_of(info, new_node(event), REGISTRATIONS) is worth


def test_g_a_pod_whose_profile_is_unknown_is_worth_queueing() -> None:
    info = member("p", FIT)
    info.renew(evolve(info.pod, scheduler_name="other"))
    assert strategy_of(info, new_node(), REGISTRATIONS) is AFTER_BACKOFF


def tree(*infos: QueuedPodInfo) -> QueuedPodGroupInfo:
    entity = QueuedPodGroupInfo(key("g"), group("g"), 0)
    for info in infos:
        entity.insert(key("g"), info)
    return entity


A_TREE = [
    ("all hints say Skip", [in_gang("p", FIT), in_gang("q", FIT)], NODE_ADD, SKIP),
    ("row 81: one willing member is enough", [in_gang("p", FIT), in_gang("q", FIT, fits="n")], NODE_ADD, AFTER_BACKOFF),
    ("one member nobody rejected is enough", [in_gang("p", FIT), in_gang("q")], NODE_ADD, AFTER_BACKOFF),
    ("a pending member counts most", [in_gang("p"), in_gang("q", "", CLAIM)], NODE_TAINT, IMMEDIATELY),
    ("a pending member whose hint skips", [in_gang("p", FIT), in_gang("q", FIT, CLAIM)], NODE_ADD, SKIP),
    ("a wildcard event", [in_gang("p", FIT)], WILDCARD_EVENT, AFTER_BACKOFF),
]


@pytest.mark.parametrize(("infos", "event", "worth"), [case[1:] for case in A_TREE], ids=[case[0] for case in A_TREE])
def test_what_an_event_is_worth_to_a_tree(infos: list[QueuedPodInfo], event: ClusterEvent, worth: Strategy) -> None:
    assert strategy_of(tree(*infos), new_node(event), REGISTRATIONS) is worth


@pytest.mark.parametrize(("carried", "worth"), [("p", AFTER_BACKOFF), ("other", SKIP)])
def test_a_wildcard_event_that_carries_a_pod_concerns_its_tree_alone(carried: str, worth: Strategy) -> None:
    entity = tree(member("p", FIT, of="g"), member("q", FIT, of="g"))
    assert strategy_of(entity, Occurrence(WILDCARD_EVENT, None, pod(carried)), REGISTRATIONS) is worth


def test_of_a_plugin_that_answers_alike_for_a_tree_one_member_is_asked() -> None:
    cluster = Cluster()
    cluster.add_group(group("g", 9))
    for i in range(5):
        cluster.add_pod(pod(f"p{i}", "g"))
    cluster.framework.asked.clear()
    cluster.update_group(group("g", 10))  # every hint would say Skip
    assert cluster.framework.asked == {f"{GANG} hint": 1}


@pytest.mark.parametrize(
    ("other", "worth"),
    [(member("q", FIT, fits="n", of="g"), SKIP), (member("q", of="g"), AFTER_BACKOFF)],
    ids=["a rejected one is not asked", "one that nobody rejected is enough"],
)
def test_another_member_of_the_tree_of_an_updated_pod(other: QueuedPodInfo, worth: Strategy) -> None:
    updated = member("p", LOUD, of="g")
    happened = Occurrence(NODE_ADD, None, Node("n"))
    assert strategy_of_update(tree(updated, other), updated, happened, REGISTRATIONS) is worth


MISSED = [
    ("nobody rejected it: no replay", member("p"), [], AFTER_BACKOFF),
    ("nothing happened", member("p", FIT), [], SKIP),
    ("the second event helps", member("p", FIT, fits="n"), [NODE_LABEL, NODE_ADD], AFTER_BACKOFF),
    (
        "a later event for a pending plugin counts more",
        member("p", FIT, CLAIM, "", "n"),
        [NODE_ADD, NODE_TAINT],
        IMMEDIATELY,
    ),
    ("a forced activation", member("p", FIT), [WILDCARD_EVENT], AFTER_BACKOFF),
]


@pytest.mark.parametrize(("info", "events", "worth"), [case[1:] for case in MISSED], ids=[case[0] for case in MISSED])
def test_what_missed_events_are_worth_to_a_plain_pod(
    info: QueuedPodInfo, events: list[ClusterEvent], worth: Strategy
) -> None:
    missed = [
        MissedEvent(i, event, None, Node("n") if event is NODE_ADD else None, "") for i, event in enumerate(events)
    ]
    assert strategy_of_missed(info, missed, REGISTRATIONS) is worth


def test_events_of_the_gang_plugin_wake_other_trees_only_through_a_member_nobody_rejected() -> None:
    """Spec §2.7.3a holds for every event the gating plugin registered, also for one of another tree."""
    cluster = Cluster()
    for name in ("g", "h"):
        cluster.add_group(group(name, 9))
        cluster.add_pod(pod(f"{name}0", name))
    cluster.add_pod(pod("g1", "g"))
    cluster.framework.asked.clear()
    cluster.add_pod(pod("h1", "h"))
    assert f"{GANG} hint" not in cluster.framework.asked  # h1 has no rejector, g0 is not of its tree
    cluster.replace_pod(pod("g0", "g", uid="second"))  # one update: no event UnscheduledPod/Add
    assert cluster.entity("g0").rejected_by == {"default/g1": (GANG,)}
    cluster.queue.move_all(WAITING_ADD, None, cluster.known["default/h1"])
    assert cluster.entity("g0").rejected_by == {"default/g0": (GANG,), "default/g1": (GANG,)}


def test_the_arrival_of_a_member_is_an_event_for_the_pods_in_flight_that_of_a_plain_pod_is_none() -> None:
    cluster = Cluster()
    cluster.add_pod(pod("p"))
    popped = cluster.pop()
    assert isinstance(popped, QueuedPodInfo)
    cluster.add_pod(pod("q"))
    cluster.add_group(group("g", 9))
    cluster.add_pod(pod("g0", "g"))
    missed = cluster.queue.in_flight.missed(popped.pod.uid)
    assert [(each.event, each.new) for each in missed][-1] == (WAITING_ADD, cluster.known["default/g0"])
    assert [each.event for each in missed].count(WAITING_ADD) == 1
