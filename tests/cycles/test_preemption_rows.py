"""Preemption for groups through whole cycles: spec §8.5 rows 161-179 (tests/plugins has the plugin's own tables)."""

from __future__ import annotations

import pytest
from attrs import evolve

from gangsched_framework.objects import Group, Pod, PodDisruptionBudget
from gangsched_framework.pod_spec import LabelSelector
from gangsched_framework.status import unresolvable
from gangsched_framework.testing import ScriptedPlacementFeasible, make_pod
from tests.cycles.harness import (
    Cluster,
    being_preempted,
    binds,
    condition_writes,
    groups,
    inner,
    leaf,
    messages,
    node,
    pod,
    pods,
    tried,
    victims,
)

FOUND = "pod group preemption: found a placement for podgroup, preempting {} victims"


def high(minimum: int = 1) -> Group:
    return leaf("g", minimum, priority=10)


def member(name: str, cpu: float = 1, of: str = "g") -> Pod:
    return pod(name, of, cpu, priority=10)


def running(name: str, on: str = "n", cpu: float = 1, priority: int = 0, of: str = "", at: int = 0) -> Pod:
    built = make_pod(name).requests(cpu=cpu).priority(priority).node(on).started(at).label("app", name)
    return (built.in_group(of) if of else built).obj()


def root_message(cluster: Cluster) -> str:
    report = cluster.reports[-1]
    return report.groups[report.entity].status.message


def test_row_161_a_member_that_must_not_preempt_stops_the_whole_group() -> None:
    members = [evolve(member(name), preemption_policy="Never") for name in ("g-0", "g-1")]
    cluster = Cluster(node("n", cpu=1), running("low"), high(minimum=2), members)
    report = cluster.cycle()
    assert not victims(report)
    assert "not eligible due to preemptionPolicy=Never." in root_message(cluster)


def test_row_161_with_its_gate_the_groups_own_policy_counts() -> None:
    group = evolve(high(), preemption_policy="Never")
    members = [evolve(member("g-0"), preemption_policy="Never")]
    cluster = Cluster(node("n", cpu=1), running("low"), group, members, gates={"PodGroupPreemptionPolicy": True})
    assert not victims(cluster.cycle())
    assert "not eligible due to preemptionPolicy=Never." in root_message(cluster)


def test_row_162_pods_of_equal_priority_are_no_victims() -> None:
    cluster = Cluster(node("n", cpu=1), running("equal", priority=10), high(), member("g-0"))
    assert not victims(cluster.cycle())
    assert "No preemption victims found for incoming preemptor" in root_message(cluster)
    assert cluster.where == {"g-0": "backoff"}


def test_row_163_on_an_over_committed_node_the_two_most_important_stay() -> None:
    crowd = [running(f"low-{i}", priority=i, cpu=0) for i in range(4)]
    cluster = Cluster(node("n", pods=3), crowd, high(), member("g-0"))
    assert victims(cluster.cycle()) == ["low-0", "low-1"]


def test_row_164_of_two_that_would_do_the_unprotected_one_goes() -> None:
    budget = PodDisruptionBudget("default", "b", LabelSelector((("app", "kept"),)), 0)
    # by importance alone the protected pod would go
    pair = [running("kept", priority=1), running("open", priority=2)]
    cluster = Cluster(node("n", cpu=2), pair, budget, high(), member("g-0"))
    assert victims(cluster.cycle()) == ["open"]


UNITS = {
    "row 165: an all group goes whole": ([leaf("v", 1, whole=True)], {"v-0", "v-1", "v-2"}),
    "row 166: of a single group one pod is enough": ([leaf("v", 1)], {"v-2"}),
    "row 167: an all root takes its single leaf along": (
        [inner("V", 1, whole=True), leaf("v", 1, "V")],
        {"v-0", "v-1", "v-2"},
    ),
    "row 168: below a single root an all leaf is the unit": (
        [inner("V", 1), leaf("v", 1, "V", whole=True)],
        {"v-0", "v-1", "v-2"},
    ),
}


@pytest.mark.parametrize(("unit", "expected"), UNITS.values(), ids=UNITS)
def test_rows_165_to_168_victims_go_by_units(unit: list[Group], expected: set[str]) -> None:
    nodes = [node("n", cpu=3), node("m", cpu=1)]
    crowd = [running(f"v-{i}", of="v", at=i) for i in range(3)]
    cluster = Cluster(nodes, unit, crowd, running("wall", on="m", priority=99), high(), member("g-0"))
    report = cluster.cycle()
    assert set(victims(report)) == expected
    assert FOUND.format(len(expected)) in root_message(cluster)
    assert cluster.nominated() == {"g-0": "n"}


def test_a_group_that_goes_as_a_whole_gets_no_condition_but_its_pods_do() -> None:
    """Spec §1.6, as recorded of v1.37.2 (victim-unit-all-below-all), whatever §5.4 says of groups."""
    cluster = Cluster(node("n", cpu=2), leaf("w", 1, whole=True), pods("w", 2, on="n"), high(), member("g-0"))
    cluster.host.evict = lambda evict: None
    report = cluster.cycle()
    assert victims(report) == ["w-0", "w-1"]
    assert "w" not in condition_writes(report)
    assert cluster.pod("w-0").condition("DisruptionTarget") is not None


def test_row_168_a_sibling_of_the_all_leaf_stays() -> None:
    unit: list[Group] = [inner("V", 1), leaf("v", 1, "V", whole=True), leaf("w", 1, "V")]
    crowd = [running("v-0", of="v", at=9), running("w-0", of="w", at=1)]
    cluster = Cluster(node("n", cpu=2), unit, crowd, high(), member("g-0", cpu=1))
    assert len(victims(cluster.cycle())) == 1


def test_row_169_of_equal_priority_the_plain_pod_goes_before_the_group() -> None:
    crowd = [running("v-0", of="v", at=9), running("plain", at=1)]
    cluster = Cluster(node("n", cpu=2), leaf("v", 1, whole=True), crowd, high(), member("g-0"))
    assert victims(cluster.cycle()) == ["plain"]


def test_row_170_the_priority_of_the_victims_group_counts_not_that_of_the_pod() -> None:
    crowd = [running("v-0", of="v", priority=0)]
    cluster = Cluster(node("n", cpu=1), leaf("v", 1, priority=50), crowd, high(), member("g-0"))
    assert not victims(cluster.cycle())


def test_row_171_nobody_goes_for_a_gang_that_cannot_be_placed_whole() -> None:
    cluster = Cluster(node("n", cpu=1), running("low"), high(minimum=2), [member("g-0"), member("g-1", cpu=9)])
    report = cluster.cycle()
    assert not victims(report)
    assert "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining" in root_message(cluster)


def test_row_172_a_group_that_succeeds_preempts_nobody_for_its_extra_pods() -> None:
    crowd = [running("low-0"), running("low-1")]
    cluster = Cluster(node("n", cpu=3), crowd, high(), [member("g-0"), member("g-1")])
    report = cluster.cycle()
    assert set(binds(report)) == {"g-0"}
    assert not victims(report)
    assert messages(report) == {"g-1": "0/1 nodes are available: 1 Insufficient cpu."}


def test_row_173_an_unresolvable_root_is_no_case_for_the_post_filter() -> None:
    script = [("placementFeasible", ScriptedPlacementFeasible, {"answers": {"g": [unresolvable("hopeless")]}})]
    gates = {"TopologyAwareWorkloadScheduling": False, "CompositePodGroup": False}
    cluster = Cluster(
        node("n", cpu=1), running("low"), leaf("g", priority=10), member("g-0"), plugins=script, gates=gates
    )
    report = cluster.cycle()
    assert groups(report) == {"g": "UnschedulableAndUnresolvable"}
    assert not victims(report)


@pytest.mark.parametrize(("nominated", "ongoing"), [("n", True), ("m", False)])
def test_rows_174_and_175_only_victims_leaving_a_nominated_node_are_waited_for(nominated: str, ongoing: bool) -> None:
    waiting = evolve(member("g-0"), status=evolve(member("g-0").status, nominated_node_name=nominated))
    crowd = [being_preempted(running("leaving")), running("other", on="m")]
    cluster = Cluster([node("n", cpu=1), node("m", cpu=1)], crowd, high(), waiting)
    report = cluster.cycle()
    assert ("ongoing preemption on nominated nodes" in root_message(cluster)) is ongoing
    if ongoing:
        assert not victims(report)
        assert cluster.nominated() == {"g-0": nominated}


def test_the_nomination_of_a_deleted_member_that_is_passed_over_is_not_waited_for() -> None:
    waiting = evolve(member("g-0"), status=evolve(member("g-0").status, nominated_node_name="n"), deletion_timestamp=1)
    crowd = [being_preempted(running("leaving")), running("other", on="m")]
    cluster = Cluster([node("n", cpu=1), node("m", cpu=1)], crowd, high(), waiting, member("g-1"))
    assert victims(cluster.cycle()) == ["other"]


def test_row_176_every_pod_of_the_found_assignment_is_nominated_one_that_was_not_tried_too() -> None:
    crowd = [running(f"low-{i}", on=f"n{i}", cpu=1) for i in range(3)]
    nodes = [node(f"n{i}", cpu=1) for i in range(3)]
    cluster = Cluster(nodes, crowd, high(minimum=3), [member(f"g-{i}") for i in range(3)])
    cluster.host.evict = lambda evict: None
    report = cluster.cycle()
    assert tried(report) == ["g-0"]
    assert set(victims(report)) == {"low-0", "low-1", "low-2"}
    assert set(cluster.nominated()) == {"g-0", "g-1", "g-2"}
    assert set(cluster.nominated().values()) == {"n0", "n1", "n2"}
    assert all(verdict.waiting_on_preemption for verdict in report.groups.values())


def test_row_177_with_asynchronous_preemption_the_tree_is_gated_until_a_victim_is_deleted() -> None:
    cluster = Cluster(node("n", cpu=1), running("low"), high(), member("g-0"), gates={"SchedulerAsyncPreemption": True})
    cluster.host.evict = lambda evict: None
    assert victims(cluster.cycle()) == ["low"]
    assert cluster.where == {"g-0": "gated"}
    assert cluster.entity("g").reason == "waiting for the preemption for this pod to be finished"
    cluster.advance(20)
    assert cluster.where == {"g-0": "gated"}
    cluster.delete("low")
    assert cluster.where == {"g-0": "active"}
    assert binds(cluster.cycle()) == {"g-0": "n"}


def test_row_178_retried_before_its_victims_are_gone_it_may_be_bound_elsewhere_but_preempts_nobody_more() -> None:
    cluster = Cluster([node("n", cpu=1), node("m", cpu=1)], running("low"), running("wall", "m", priority=99))
    cluster.add(high(), member("g-0"))
    cluster.host.evict = lambda evict: cluster.add(being_preempted(cluster.pod("low")))
    assert victims(cluster.cycle()) == ["low"]
    cluster.advance(2)
    report = cluster.cycle()
    assert not victims(report)
    assert "ongoing preemption on nominated nodes" in root_message(cluster)
    assert cluster.nominated() == {"g-0": "n"}
    cluster.add(node("free", cpu=1))
    cluster.advance(3)
    report = cluster.cycle()
    assert binds(report) == {"g-0": "free"}
    assert not victims(report)


def test_row_179_without_help_from_preemption_a_placed_pod_loses_its_nomination_and_a_failed_one_keeps_it() -> None:
    members = [member("g-0"), member("g-1", cpu=9)]
    waiting = [evolve(m, status=evolve(m.status, nominated_node_name="n")) for m in members]
    cluster = Cluster(node("n", cpu=2), high(minimum=2), waiting)
    report = cluster.cycle()
    assert groups(report) == {"g": "Unschedulable"}
    assert cluster.nominated() == {"g-1": "n"}


def test_a_victim_that_is_leaving_anyway_is_not_evicted_again() -> None:
    leaving = evolve(running("leaving"), deletion_timestamp=1)
    cluster = Cluster(node("n", cpu=2), leaving, running("low"), high(minimum=2), [member("g-0"), member("g-1")])
    report = cluster.cycle()
    assert victims(report) == ["low"]
    assert FOUND.format(2) in root_message(cluster)
    assert cluster.nominated() == {"g-0": "n", "g-1": "n"}
    assert cluster.pod("leaving").condition("DisruptionTarget") is None


def test_the_pods_of_a_failed_subtree_that_found_a_node_are_nominated_too() -> None:
    tree: list[Group] = [inner("R", 1, priority=10), leaf("a", 2, "R", priority=10), leaf("b", 1, "R", priority=10)]
    members = [member("a-0", of="a"), member("a-1", of="a", cpu=9), member("b-0", of="b")]
    cluster = Cluster(node("n", cpu=2), [running("low-0"), running("low-1")], tree, members)
    cluster.host.evict = lambda evict: None
    report = cluster.cycle()
    assert victims(report) == ["low-0", "low-1"]
    assert set(cluster.nominated()) == {"a-0", "b-0"}
