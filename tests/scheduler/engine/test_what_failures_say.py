"""What a failed pod is told: the plugins that refuse it by the end of the cycle, the instant, and its own words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from gangsched.engine.decisions import SetCondition, SetGroupCondition
from gangsched.engine.report import CycleReport
from gangsched_framework.objects import Condition
from gangsched_framework.status import unschedulable
from tests.cycles.harness import Cluster, FilterByPod, ReserveByPod, leaf, messages, node, pod


def _room_comes(cluster: Cluster) -> None:
    cluster.add(node("n2"))


def _gated_as_room_comes(cluster: Cluster) -> None:
    cluster.change("p", scheduling_gates=("wait",))
    cluster.add(node("n2"))


REJECTED: dict[str, tuple[Cluster, Callable[[Cluster], None], tuple[str, ...]]] = {
    "a pod that nothing gates": (
        Cluster(node("n", cpu=1), pod("p", cpu=3)),
        _room_comes,
        ("NodeResourcesFit",),
    ),
    "a pod gated while its cycle ran": (
        Cluster(node("n", cpu=1), pod("p", cpu=3)),
        _gated_as_room_comes,
        ("NodeResourcesFit", "SchedulingGates"),
    ),
    "a pod gated until its victims have gone": (
        Cluster(node("n", cpu=1), pod("low", on="n"), pod("p", priority=9), gates={"SchedulerAsyncPreemption": True}),
        _room_comes,
        ("DefaultPreemption", "NodeResourcesFit"),
    ),
    "a pod that its reservation refuses and a gate holds": (
        Cluster(node("n"), pod("p"), plugins=[("reserve", ReserveByPod, {"answers": {"p": unschedulable("no")}})]),
        _gated_as_room_comes,
        ("ReserveByPod", "SchedulingGates"),
    ),
}


@pytest.mark.parametrize(("cluster", "during", "want"), REJECTED.values(), ids=REJECTED)
def test_the_rejectors_of_a_verdict_are_those_the_pod_waits_with(
    cluster: Cluster, during: Callable[[Cluster], None], want: tuple[str, ...]
) -> None:
    report = cluster.cycle(after_algorithm=lambda: during(cluster))
    assert report.pods["default/p"].plugins == want
    assert cluster.entity("p").rejected_by["default/p"] == want


def _written(report: CycleReport) -> dict[str, Condition]:
    """Conditions written to pods."""
    pairs = ((d.pod, d.condition) for d in report.decisions if isinstance(d, SetCondition))
    return {pod.split("/")[1]: condition for pod, condition in pairs if condition is not None}


def test_pods_that_fail_alike_at_two_instants_are_told_each_its_own() -> None:
    cluster = Cluster(node("n", cpu=1), pod("a", cpu=3))
    first = _written(cluster.cycle())["a"]
    cluster.advance(1)
    cluster.add(pod("b", cpu=3))
    second = _written(cluster.cycle())["b"]
    assert (first.message, second.last_transition_time) == (second.message, first.last_transition_time + 10**9)


def test_a_gang_refused_as_one_before_is_told_its_own_instant() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 1), pod("a", "g", cpu=3))
    cluster.core.tracer.on = False  # a traced cycle repeats no refusal
    first = _written(cluster.cycle())["a"]
    cluster.advance(1)
    cluster.add(leaf("h", 1), pod("b", "h", cpu=3))
    second = _written(cluster.cycle())["b"]
    memo = cluster.core._tools.memo
    assert memo is not None
    assert memo.hits == 1
    assert (first.message, second.last_transition_time) == (second.message, first.last_transition_time + 10**9)


@pytest.mark.parametrize("of", ["", "g"], ids=["plain pods", "members of a gang"])
def test_pods_that_fail_apart_at_one_instant_are_told_each_its_own(of: str) -> None:
    answers = {name: unschedulable(f"no room for {name}") for name in "ab"}
    waiting = [pod("a", of), pod("b", of), pod("c", of)]
    cluster = Cluster(node("n"), leaf("g", 1), waiting, plugins=[("filter", FilterByPod, {"answers": answers})])
    reports = [cluster.cycle() for _ in ("" if of else "ab")] + [cluster.cycle()]
    written = {name: each.message for report in reports for name, each in _written(report).items()}
    said = {name: message for report in reports for name, message in messages(report).items()}
    assert written == said
    assert [said[name].startswith(f"0/1 nodes are available: 1 no room for {name}") for name in "ab"] == [True, True]


def _of_groups(cluster: Cluster) -> Condition:
    """The condition of the one group of the next cycle."""
    (said,) = (d.condition for d in cluster.cycle().decisions if isinstance(d, SetGroupCondition))
    assert said is not None
    return said


def test_groups_that_fare_alike_share_a_condition_of_their_instant_and_generation() -> None:
    cluster = Cluster(node("n", cpu=9), leaf("a", 1), pod("a-0", "a"), leaf("b", 1), pod("b-0", "b"))
    first, second = _of_groups(cluster), _of_groups(cluster)
    cluster.advance(1)
    cluster.add(leaf("c", 1), pod("c-0", "c"))
    later = _of_groups(cluster)
    cluster.add(evolve(leaf("d", 1), generation=4), pod("d-0", "d"))
    renewed = _of_groups(cluster)
    cluster.add(leaf("e", 1), pod("e-0", "e"))
    assert _of_groups(cluster) == later
    cluster.add(leaf("f", 1), pod("f-0", "f", cpu=99))
    refused = _of_groups(cluster)
    assert first is second
    assert later == evolve(first, last_transition_time=first.last_transition_time + 10**9)
    assert renewed == evolve(later, observed_generation=4)
    assert (refused.status, refused.reason) == ("False", "Unschedulable")


def test_a_group_that_showed_success_before_takes_none_of_it_from_the_next() -> None:
    cluster = Cluster(node("n", cpu=9), leaf("a", 1), pod("a-0", "a"))
    first = _of_groups(cluster)
    cluster.add(pod("a-1", "a"))
    assert not [d for d in cluster.cycle().decisions if isinstance(d, SetGroupCondition)]
    cluster.advance(1)
    cluster.add(pod("a-2", "a"), leaf("b", 1), pod("b-0", "b"))
    cluster.cycle()
    assert _of_groups(cluster) == evolve(first, last_transition_time=first.last_transition_time + 10**9)
