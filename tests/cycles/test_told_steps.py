"""What a trace tells of placements and of preemption: who was looked at, who goes, who may stay, and why."""

from __future__ import annotations

from attrs import evolve

from gangsched.engine.report import CycleReport
from gangsched_framework.objects import ClusterObject, Pod, PodDisruptionBudget
from gangsched_framework.pod_spec import LabelSelector
from tests.cycles.harness import Cluster, leaf, node, pod, pods

BUDGET = PodDisruptionBudget("default", "db", LabelSelector((("app", "db"),)), 0)


def protected(victim: Pod) -> Pod:
    return evolve(victim, labels={"app": "db"})


def told(report: CycleReport, kind: str) -> list[str]:
    return [step.text for step in report.trace if step.kind == kind]


def test_placements_are_told_with_the_parts_of_their_scores_and_the_choice() -> None:
    nodes = [node("a", cpu=2, rack="1"), node("b", cpu=4, rack="2"), node("c", cpu=1, rack="3")]
    report = Cluster(nodes, leaf("g", 2, topology="rack"), pods("g", 2)).cycle()
    assert told(report, "placement") == ["1", "2", "3"]
    assert told(report, "scores") == [
        "1: 150 = NodeResourcesFit 50×1 + PodGroupPodsCount 100×1, chosen",
        "2: 125 = NodeResourcesFit 25×1 + PodGroupPodsCount 100×1",
    ]


def test_a_plain_pod_tells_of_each_candidate_node() -> None:
    running = [protected(pod("db", cpu=1, on="a")), pod("web", cpu=1, on="a"), pod("peer", cpu=2, priority=9, on="b")]
    report = Cluster([node("a", cpu=2), node("b", cpu=2)], BUDGET, running, pod("p", cpu=1, priority=9)).cycle()
    assert told(report, "note") == [
        "given back first, as a budget would be broken: pod/default/db (priority 0)",
        "pod/default/db (priority 0) stays",
        "pod/default/web (priority 0) goes: default/p on a: Insufficient cpu",
        "a is a candidate: pod/default/web would go; budget violations 0, highest priority 0, victims 1",
        "b is no candidate: No preemption victims found for incoming pod",
    ]
    assert told(report, "post-filter") == [
        "preemption: found a potential placement for pod on node a, preempting 1 victims"
    ]


def test_a_group_tells_who_was_taken_off_who_goes_and_who_stays() -> None:
    whole: list[ClusterObject] = [leaf("w", 1, whole=True), *pods("w", 2, on="b")]
    running = [protected(pod("db", cpu=1, on="a")), pod("web", cpu=1, on="a"), pod("far", cpu=2, on="c")]
    nodes = [node("a", cpu=2), node("b", cpu=2), evolve(node("c", cpu=2), unschedulable=True)]
    report = Cluster(nodes, BUDGET, running, whole, leaf("g", 2, priority=9), pods("g", 2, 1, 9)).cycle()
    assert told(report, "note") == [
        "taken off in thought: podgroup/default/w (priority 0, 2 pods), pod/default/db (priority 0), "
        "pod/default/far (priority 0), pod/default/web (priority 0)",
        "given back first, as a budget would be broken: pod/default/db (priority 0)",
        "pod/default/db (priority 0) stays",
        "podgroup/default/w (priority 0, 2 pods) goes: default/g-1 on b: Insufficient cpu",
        "pod/default/web (priority 0) goes: default/g-0 on a: Insufficient cpu",
        "units that stay, on no node of the assignment: 1",
    ]
