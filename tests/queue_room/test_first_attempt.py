"""When a pod or a tree was in the active queue for the first time (spec §2.2.2): set once, for each member, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gangsched_framework.infos import PoppedPodGroupInfo
from gangsched_framework.status import unschedulable
from gangsched_queue.settings import SECOND
from tests.queue_room.cluster import Cluster, group, pod, rejected
from tests.queue_room.fakes import FIT


def at_second(cluster: Cluster, second: int) -> Cluster:
    cluster.advance(second * SECOND - cluster.clock.time)
    return cluster


def plain_pod() -> Cluster:
    cluster = at_second(Cluster(), 1)
    cluster.add_pod(pod("p"))
    return cluster


def gated_pod() -> Cluster:
    cluster = Cluster()
    cluster.add_pod(pod("p", gates=1))
    at_second(cluster, 3).update_pod(pod("p"))
    return cluster


def gang_whose_last_member_comes_late() -> Cluster:
    cluster = Cluster()
    cluster.add_group(group("g", 2))
    cluster.add_pod(pod("g0", "g"))
    at_second(cluster, 4).add_pod(pod("g1", "g"))
    return cluster


def newcomer_to_an_active_tree() -> Cluster:
    cluster = gang_whose_last_member_comes_late()
    at_second(cluster, 6).add_pod(pod("g2", "g"))
    return cluster


def refused_tree() -> Cluster:
    cluster = gang_whose_last_member_comes_late()
    assert at_second(cluster, 5).pop() is not None
    cluster.add_pod(pod("g2", "g"))
    cluster.finish({"g0": rejected(FIT), "g1": rejected(FIT)}, unschedulable("no"))
    return at_second(cluster, 20)


def gang_that_is_made_anew_and_larger() -> Cluster:
    cluster = gang_whose_last_member_comes_late()
    cluster.delete_group(group("g").key)
    cluster.add_group(group("g", 3))
    at_second(cluster, 9).add_pod(pod("g2", "g"))
    return cluster


WHEN: dict[str, tuple[Callable[[], Cluster], dict[str, int], int]] = {
    "a pod is ready when it comes": (plain_pod, {"p": 1}, 1),
    "a gated pod when its gate opens": (gated_pod, {"p": 3}, 3),
    "all members when the quorum is there": (gang_whose_last_member_comes_late, {"g0": 4, "g1": 4}, 4),
    "a newcomer to an active tree at once": (newcomer_to_an_active_tree, {"g0": 4, "g1": 4, "g2": 6}, 4),
    "who came during an attempt when the penalty is over": (refused_tree, {"g0": 4, "g1": 4, "g2": 7}, 4),
    "who was ready before keeps it in a tree that was not": (
        gang_that_is_made_anew_and_larger,
        {"g0": 4, "g1": 4, "g2": 9},
        9,
    ),
}


@pytest.mark.parametrize(("make", "members", "entity"), WHEN.values(), ids=WHEN)
def test_the_first_attempt_is_noted(make: Callable[[], Cluster], members: dict[str, int], entity: int) -> None:
    cluster = make()
    assert cluster.where
    popped = cluster.pop()
    assert popped is not None
    noted = {info.pod.name: info.initial_attempt_timestamp for info in popped.members()}
    params = popped.params if isinstance(popped, PoppedPodGroupInfo) else popped
    assert params is not None
    assert noted == {name: second * SECOND for name, second in members.items()}
    assert params.initial_attempt_timestamp == entity * SECOND
