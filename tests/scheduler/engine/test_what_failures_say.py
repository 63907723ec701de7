"""What a failed pod is told: the plugins that refuse it by the end of the cycle, the instant, and its own words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gangsched.engine.decisions import SetCondition
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
    pairs = ((d.key, d.condition) for d in report.decisions if isinstance(d, SetCondition))
    return {key.name: condition for key, condition in pairs if condition is not None and key.kind == "pod"}


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
