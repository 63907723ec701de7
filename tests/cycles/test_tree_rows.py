"""Whole cycles of trees: spec §8.3 rows 125-144, and §8.4 rows 155-160 on conditions."""

from __future__ import annotations

import pytest
from attrs import evolve

from gangsched.engine.decisions import SetGroupCondition
from gangsched.engine.report import CycleReport
from gangsched_framework.objects import PodGroup
from gangsched_framework.status import error
from gangsched_framework.testing import ScriptedPlacementFeasible
from tests.cycles.harness import (
    Cluster,
    FilterByPod,
    asked,
    binds,
    codes,
    condition_writes,
    groups,
    inner,
    leaf,
    messages,
    node,
    pod,
    pods,
    tried,
)

NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"


def placements(text: str) -> str:
    return f"pod group is unschedulable, 0/1 placements are available, first placement status: {text}"


# --- quorum of child groups -----------------------------------------------------------------------------------------


def test_row_125_one_of_two_children_is_enough_for_a_minimum_of_one() -> None:
    cluster = Cluster(
        node("n", cpu=2), inner("R", 1), leaf("a", 1, "R"), leaf("b", 1, "R"), pod("a-0", "a", 9), pod("b-0", "b")
    )
    report = cluster.cycle()
    assert groups(report) == {"R": "Success", "a": "Unschedulable", "b": "Success"}
    assert cluster.bound == {"b-0": "n"}
    a, b = cluster.condition("a"), cluster.condition("b")
    assert a is not None
    assert (a[:2], b) == (("False", "Unschedulable"), ("True", "Scheduled", ""))


def test_row_126_two_of_three_children_are_enough_for_a_minimum_of_two() -> None:
    leaves = [leaf(name, 1, "R") for name in "abc"]
    cluster = Cluster(node("n"), inner("R", 2), leaves, pod("a-0", "a", 9), pod("b-0", "b"), pod("c-0", "c"))
    report = cluster.cycle()
    assert groups(report) == {"R": "Success", "a": "Unschedulable", "b": "Success", "c": "Success"}
    assert set(cluster.bound) == {"b-0", "c-0"}


def test_row_127_a_child_that_fits_falls_with_its_parent_and_its_pods_stay_unbound() -> None:
    leaves = [leaf(name, 1, "R") for name in "ab"]
    cluster = Cluster(node("n"), inner("R", 2), leaves, pod("a-0", "a"), pod("b-0", "b", 9))
    report = cluster.cycle()
    text = placements("minCount (2) cannot be satisfied: 1 scheduled, 0 remaining")
    assert not cluster.bound
    raw = {key.name: code.value for key, code in report.raw.items()}
    assert raw == {"R": "Unschedulable", "a": "Success", "b": "Unschedulable"}
    assert groups(report) == {"R": "Unschedulable", "a": "Unschedulable", "b": "Unschedulable"}
    # the status is shared, so the post-filter's reason shows once per sharer (§4.9.2)
    shown = {key.name: verdict.status.message for key, verdict in report.groups.items()}
    assert shown["R"] == shown["a"] == f"{text}, {NO_VICTIMS}, {NO_VICTIMS}"
    assert messages(report)["a-0"] == text
    assert report.pods["default/a-0"].plugins == ()
    (waiting,) = cluster.core.queue_state().backoff
    assert "default/a-0" not in waiting.rejected_by  # PreEnqueue's gate is forgotten


def test_row_128_a_parent_with_too_few_children_is_stopped_by_its_pre_check_and_they_share_its_status() -> None:
    leaves = [leaf(name, 1, "R") for name in "ab"]
    cluster = Cluster(node("n"), inner("R", 2), leaves, pods("a", 1), pods("b", 1))
    cluster.change("R", minimum=3)
    report = cluster.cycle()
    assert asked(report, "R") == [(2, 0, "Unschedulable")]
    assert not tried(report)
    statuses = [verdict.status for verdict in report.groups.values()]
    assert len({status.message for status in statuses}) == 1
    assert messages(report)["a-0"] == placements("minCount (3) cannot be satisfied: 0 scheduled, 2 remaining")


def test_row_129_a_composite_group_without_children_is_unschedulable() -> None:
    cluster = Cluster(node("n"), inner("R", 1), inner("E", 1, "R"), leaf("g", 1, "R"), pods("g", 1))
    report = cluster.cycle()
    assert asked(report, "E") == [(0, 0, "Unschedulable")]
    assert groups(report) == {"R": "Success", "E": "Unschedulable", "g": "Success"}
    assert cluster.condition("E") == (
        "False",
        "Unschedulable",
        placements("minCount (1) cannot be satisfied: 0 scheduled, 0 remaining"),
    )


def test_row_130_when_two_of_three_children_failed_the_third_is_not_evaluated_and_shares_the_status() -> None:
    leaves = [leaf(name, 1, "R") for name in "abc"]
    cluster = Cluster(node("n"), inner("R", 2), leaves, pod("a-0", "a", 9), pod("b-0", "b", 9), pod("c-0", "c"))
    report = cluster.cycle()
    assert tried(report) == ["a-0", "b-0"]
    assert [key.name for key in report.raw] == ["R", "a", "b"]
    assert messages(report)["c-0"] == placements("minCount (2) cannot be satisfied: 0 scheduled, 1 remaining")
    assert report.groups[leaf("c").key].status.message == report.groups[report.entity].status.message


def test_row_131_an_error_of_a_child_is_an_error_of_the_tree_at_once() -> None:
    broken = [("filter", FilterByPod, {"answers": {"a-0": error("broken")}})]
    leaves = [leaf(name, 1, "R") for name in "ab"]
    cluster = Cluster(node("n"), inner("R", 1), leaves, pods("a", 1), pods("b", 1), plugins=broken)
    report = cluster.cycle()
    own = 'failed to schedule other pod from a pod group: running "FilterByPod" filter plugin: broken'
    text = f"composite pod group evaluation failed due to child error: {own}"
    assert groups(report) == {"R": "Error", "a": "Error", "b": "Error"}
    assert messages(report) == {"a-0": text, "b-0": text}
    assert tried(report) == ["a-0"]
    assert cluster.entity("R").errors == 1


def test_an_error_after_a_child_is_an_error_of_that_child_too() -> None:
    script = {"answers": {"R": [None, error("lost")]}}
    plugins = [("placementFeasible", ScriptedPlacementFeasible, script)]
    leaves = [leaf(name, 1, "R") for name in "ab"]
    cluster = Cluster(node("n"), inner("R", 2), leaves, pods("a", 1), pods("b", 1), plugins=plugins)
    report = cluster.cycle()
    text = "failed to evaluate placement feasibility: lost"
    assert groups(report) == {"R": "Error", "a": "Error", "b": "Error"}
    assert messages(report) == {"a-0": text, "b-0": text}
    assert {key.name: code.value for key, code in report.raw.items()} == {"R": "Error", "a": "Success"}
    assert cluster.used_cpu() == {"n": 0}


def test_row_132_of_a_basic_root_the_leaf_that_fits_is_bound() -> None:
    leaves = [leaf(name, 2, "R") for name in "ab"]
    cluster = Cluster(node("n", cpu=2), inner("R"), leaves, pods("a", 2, cpu=2), pods("b", 2))
    cluster.cycle()
    assert set(cluster.bound) == {"b-0", "b-1"}


def test_row_133_what_a_failed_subtree_had_taken_is_free_again_for_its_siblings() -> None:
    cluster = Cluster(
        node("n", cpu=2),
        inner("R", 1),
        inner("C1", 2, "R"),
        inner("C2", 1, "R"),
        [leaf("a", 1, "C1"), leaf("b", 1, "C1"), leaf("d", 1, "C2")],
        [pod("a-0", "a", 2), pod("b-0", "b", 2), pod("d-0", "d", 2)],
    )
    report = cluster.cycle()
    assert cluster.bound == {"d-0": "n"}
    assert groups(report)["a"] == "Unschedulable"


def test_row_134_a_greedy_child_may_take_what_its_sibling_needs() -> None:
    leaves = [leaf(name, 1, "R") for name in "ab"]
    cluster = Cluster(node("n", cpu=4), inner("R", 2), leaves, pods("a", 4), pods("b", 1))
    report = cluster.cycle()
    assert not cluster.bound
    assert tried(report) == ["a-0", "a-1", "a-2", "a-3", "b-0"]
    assert set(cluster.where.values()) == {"backoff"}


def test_row_135_a_subtree_that_cannot_reach_its_minimum_of_groups_is_not_tried_and_its_siblings_are_bound() -> None:
    cluster = Cluster(
        node("n", cpu=200),
        inner("R", 2),
        inner("C1", 2, "R"),
        [leaf("a", 100, "C1"), leaf("b", 1, "R"), leaf("d", 1, "R")],
        pods("a", 100),
        [pod("b-0", "b"), pod("d-0", "d")],
    )
    report = cluster.cycle()
    assert tried(report) == ["b-0", "d-0"]
    assert asked(report, "C1") == [(1, 0, "Unschedulable")]
    assert set(cluster.bound) == {"b-0", "d-0"}
    assert messages(report)["a-50"] == placements("minCount (2) cannot be satisfied: 0 scheduled, 1 remaining")


def test_row_136_a_child_whose_pods_all_run_counts_as_scheduled() -> None:
    leaves = [leaf("a", 2, "R"), leaf("b", 1, "R")]
    cluster = Cluster(node("n", cpu=8), inner("R", 2), leaves, pods("a", 2, on="n"), pods("b", 1))
    report = cluster.cycle()
    assert asked(report, "a") == [(0, 2, "Success")]
    assert asked(report, "R")[-1] == (0, 2, "Success")
    assert set(cluster.bound) == {"b-0"}


def test_row_136_it_does_so_after_a_child_of_which_something_was_placed() -> None:
    leaves = [leaf("a", 1, "R"), leaf("b", 2, "R")]
    cluster = Cluster(node("n", cpu=8), inner("R", 2), leaves, pods("a", 1), pods("b", 2, on="n"))
    assert set(binds(cluster.cycle())) == {"a-0"}


# --- the reference walk-through ---------------------------------------------------------------------------------------


def walkthrough() -> Cluster:
    return Cluster(
        [node("node-1"), node("node-2")],
        [inner("root", 1), inner("sub1", 1, "root"), inner("sub2", 2, "root")],
        [leaf("pg1", 2, "sub1"), leaf("pg2", 2, "sub2"), leaf("pg3", 2, "sub2")],
        pods("pg1", 2, cpu=2),
        pods("pg2", 2, cpu=2),
        pods("pg3", 2, cpu=2),
    )


def test_row_137_the_contention_walk_through() -> None:
    cluster = walkthrough()
    report = cluster.cycle()
    calls = [(s.subject.rsplit("/", 1)[1], *(s.progress or ()), s.text) for s in report.trace if s.kind == "feasible"]
    assert calls == [
        ("root", 2, 0, 1, "Wait"),
        ("sub1", 1, 0, 1, "Wait"),
        ("pg1", 2, 0, 2, "Wait"),
        ("pg1", 1, 1, 2, "Wait"),
        ("pg1", 0, 2, 2, "Success"),
        ("sub1", 0, 1, 1, "Success"),
        ("root", 1, 1, 1, "Success"),
        ("sub2", 2, 0, 2, "Wait"),
        ("pg2", 2, 0, 2, "Wait"),
        ("pg2", 1, 1, 2, "Wait"),
        ("pg2", 0, 2, 2, "Success"),
        ("sub2", 1, 1, 2, "Wait"),
        ("pg3", 2, 0, 2, "Wait"),
        ("pg3", 1, 0, 2, "Unschedulable"),
        ("sub2", 0, 1, 2, "Unschedulable"),
        ("root", 0, 1, 1, "Success"),
    ]
    assert binds(report) == {"pg1-0": "node-1", "pg1-1": "node-2"}
    sub2 = placements("minCount (2) cannot be satisfied: 1 scheduled, 0 remaining")
    pg3 = placements("minCount (2) cannot be satisfied: 0 scheduled, 1 remaining")
    assert messages(report) == {
        "pg2-0": sub2,
        "pg2-1": sub2,
        "pg3-0": "0/2 nodes are available: 2 Insufficient cpu.",
        "pg3-1": pg3,
    }
    assert cluster.where == dict.fromkeys(("pg2-0", "pg2-1", "pg3-0", "pg3-1"), "active")
    assert cluster.entity("root").ts == 0
    assert cluster.entity("root").unschedulable == 0


def test_row_138_its_second_cycle_places_nothing_new() -> None:
    cluster = walkthrough()
    cluster.cycle()
    report = cluster.cycle()
    assert report.root is not None
    assert (report.root.code.value, report.root.reasons) == ("Unschedulable", ("pod group is unschedulable",))
    assert groups(report)["sub1"] == groups(report)["pg1"] == "Unschedulable"
    assert cluster.condition("pg1") == ("True", "Scheduled", "")
    entity = cluster.entity("root")
    assert (entity.unschedulable, entity.errors, entity.expires) == (1, 0, 10**9)


# --- trees that cannot be scheduled as they stand ---------------------------------------------------------------------


def all_in_error(cluster: Cluster, report: CycleReport, text: str) -> None:
    assert report.early
    assert set(messages(report).values()) == {text}
    assert set(codes(report).values()) == {"Error"}
    assert cluster.entity("R").heap == "error"
    assert cluster.entity("R").errors == 1


def two_leaves() -> Cluster:
    objects = (node("n"), inner("R", 1), [leaf("a", 1, "R"), leaf("b", 1, "R")], pods("a", 1), pods("b", 1))
    return Cluster(*objects, schedulers=["other"])


@pytest.mark.parametrize("running", [False, True])
def test_row_139_pods_of_different_schedulers_are_an_error_of_all_and_every_group_says_so(running: bool) -> None:
    cluster = two_leaves()
    cluster.add(evolve(pod("b-1", "b", on="n" if running else ""), scheduler_name="other"))
    report = cluster.cycle()
    text = (
        "all pods in a single pod group should have the same .spec.schedulerName set, got: "
        '"other" and "default-scheduler"'
    )
    all_in_error(cluster, report, text)
    assert sorted(condition_writes(report)) == ["R", "a", "b"]
    assert cluster.condition("a") == cluster.condition("R") == ("False", "SchedulerError", text)


@pytest.mark.parametrize("running", [False, True])
def test_row_140_a_pod_of_another_priority_than_its_root_is_an_error_of_all_even_a_running_one(running: bool) -> None:
    cluster = two_leaves()
    cluster.add(pod("b-1", "b", priority=5, on="n" if running else ""))
    report = cluster.cycle()
    text = "all pods in a single pod group should have the same priority as the pod group's priority, got 5 and 0"
    all_in_error(cluster, report, text)
    assert cluster.condition("b") == ("False", "SchedulerError", text)


def test_row_141_a_child_group_of_another_priority_than_the_root_is_an_error_of_all() -> None:
    cluster = two_leaves()
    cluster.delete("b")
    cluster.add(leaf("b", 1, "R", priority=7))
    report = cluster.cycle()
    text = (
        "all pod groups in a hierarchy should have the same priority as the root pod group's priority, got "
        "7 (default/b) and 0 (default/R)"
    )
    all_in_error(cluster, report, text)


def test_row_142_different_class_names_of_one_number_are_accepted() -> None:
    cluster = two_leaves()
    cluster.change("a", priority_class_name="low", priority=0)
    cluster.change("b", priority_class_name="lowest")
    report = cluster.cycle()
    assert set(binds(report)) == {"a-0", "b-0"}


def test_row_143_a_group_removed_after_the_pop_is_an_error_of_all_and_its_pods_become_incomplete() -> None:
    cluster = Cluster(node("n"), leaf("g", 2), pods("g", 2))
    report = cluster.cycle(after_pop=lambda: cluster.delete("g"))
    assert messages(report) == dict.fromkeys(
        ("g-0", "g-1"), "pod group object not found for pod group podgroup/default/g"
    )
    assert not condition_writes(report)
    assert cluster.where == {"g-0": "incomplete", "g-1": "incomplete"}


def test_row_144_a_child_that_came_after_the_pop_is_an_error_of_all_and_the_rebuilt_tree_has_it() -> None:
    cluster = Cluster(node("n"), inner("R", 1), leaf("a", 1, "R"), pods("a", 1))
    report = cluster.cycle(after_pop=lambda: cluster.add(leaf("b", 1, "R"), pods("b", 1)))
    text = "different number of children in composite pod group between snapshot (2) and queued entity (1)"
    assert messages(report) == {"a-0": text}
    assert not condition_writes(report)
    assert cluster.entity("R").heap == "error"
    cluster.advance(2)
    assert set(binds(cluster.cycle())) == {"a-0", "b-0"}


def test_a_success_after_an_error_and_a_rejection_clears_both_counters() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), pods("g", 3))
    cluster.add(pod("g-3", "g", priority=5))
    cluster.cycle()
    cluster.delete("g-3")
    cluster.advance(2)
    cluster.cycle()
    cluster.advance(2)
    assert (cluster.entity("g").errors, cluster.entity("g").unschedulable) == (0, 1)
    cluster.change("g", priority=7)
    cluster.cycle()
    entity = cluster.entity("g")
    assert (entity.errors, entity.unschedulable, entity.attempts) == (1, 1, 3)
    cluster.change("g", priority=0, minimum=1)
    cluster.advance(3)
    assert set(binds(cluster.cycle())) == {"g-0"}
    entity = cluster.entity("g")
    assert (entity.errors, entity.unschedulable, entity.attempts) == (0, 0, 4)


# --- conditions -----------------------------------------------------------------------------------------------------


def scheduled(cluster: Cluster) -> tuple[str, int, int]:
    """Status, transition time and generation of the condition of group ``g``."""
    found = _group(cluster).condition("PodGroupInitiallyScheduled")
    assert found is not None
    return (found.status, found.last_transition_time, found.observed_generation)


def _group(cluster: Cluster) -> PodGroup:
    group = cluster.core.world.forest.group(leaf("g").key)
    assert isinstance(group, PodGroup)
    return group


def test_row_155_a_true_condition_survives_a_later_failure_unchanged() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 1), pods("g", 1))
    cluster.cycle()
    cluster.advance(5)
    cluster.change("g", generation=2)
    cluster.add(pods("g", 1, start=1))
    report = cluster.cycle()
    assert groups(report) == {"g": "Unschedulable"}
    assert not condition_writes(report)
    assert scheduled(cluster) == ("True", 0, 1)


def test_a_later_success_renews_the_generation_of_a_true_condition_and_keeps_its_time() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 1), pods("g", 1))
    cluster.cycle()
    cluster.advance(5)
    cluster.change("g", generation=2)
    cluster.add(pods("g", 1, start=1))
    assert condition_writes(cluster.cycle()) == ["g"]
    assert scheduled(cluster) == ("True", 0, 2)


def test_row_156_the_same_failure_again_writes_nothing() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), pods("g", 2))
    assert condition_writes(cluster.cycle()) == ["g"]
    cluster.advance(2)
    assert condition_writes(cluster.cycle()) == []


def test_row_157_another_failure_changes_the_message_and_keeps_the_time() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 3), pods("g", 3))
    cluster.cycle()
    before = cluster.condition("g")
    cluster.advance(2)
    cluster.change("g", minimum=2)
    assert condition_writes(cluster.cycle()) == ["g"]
    assert scheduled(cluster)[:2] == ("False", 0)
    assert cluster.condition("g") != before


def test_row_158_from_false_to_true_the_transition_time_is_new() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), pods("g", 2))
    cluster.cycle()
    cluster.add(node("m", cpu=1))
    cluster.advance(2)
    cluster.cycle()
    assert scheduled(cluster)[:2] == ("True", 2 * 10**9)


def test_row_159_a_group_deleted_before_its_condition_is_written_is_no_error() -> None:
    cluster = Cluster(node("n"), inner("R", 1), [leaf("g", 1, "R"), leaf("h", 1, "R")], pods("g", 1), pods("h", 1))
    report = cluster.cycle(after_algorithm=lambda: cluster.delete("g"))
    assert sorted(condition_writes(report)) == ["R", "h"]
    assert set(binds(report)) == {"g-0", "h-0"}


def test_row_160_a_true_condition_stays_when_the_minimum_is_raised_above_what_runs() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 2), pods("g", 2))
    cluster.cycle()
    cluster.change("g", minimum=5)
    cluster.add(pods("g", 3, start=2))
    report = cluster.cycle()
    assert groups(report) == {"g": "Unschedulable"}
    assert cluster.condition("g") == ("True", "Scheduled", "")
    assert set(cluster.bound) == {"g-0", "g-1"}


def test_composite_groups_show_conditions_of_their_own_kind() -> None:
    cluster = two_leaves()
    report = cluster.cycle()
    kinds = {d.group.kind: d.condition.type for d in report.decisions if isinstance(d, SetGroupCondition)}
    assert kinds == {
        "compositepodgroup": "CompositePodGroupInitiallyScheduled",
        "podgroup": "PodGroupInitiallyScheduled",
    }
