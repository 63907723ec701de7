"""Whole cycles of one PodGroup: spec §8.3 rows 113-124 and 145-154."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from gangsched import Engine
from gangsched.engine.decisions import Bind
from gangsched_framework.cycle_state import PlacementCycleState
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Progress
from gangsched_framework.status import Code, Status, error, unresolvable, unschedulable
from gangsched_framework.testing import ScriptedPlacementFeasible, make_pod
from gangsched_plugins.default_registry import default_registry
from tests.cycles.harness import (
    Cluster,
    FilterByPod,
    PermitByPod,
    ReserveByPod,
    asked,
    binds,
    codes,
    condition_writes,
    events,
    groups,
    leaf,
    messages,
    node,
    pod,
    pods,
    tried,
)

UNRESOLVABLE = "UnschedulableAndUnresolvable"
NOTHING_PLACED = "pod group is unschedulable"
NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"


def placements(text: str) -> str:
    return f"pod group is unschedulable, 0/1 placements are available, first placement status: {text}"


# --- partial success ------------------------------------------------------------------------------------------------


def test_row_113_of_a_gang_of_two_with_three_pods_and_room_for_two_two_are_bound_and_the_third_stays_active() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 2), pods("g", 3))
    report = cluster.cycle()
    assert set(cluster.bound) == {"g-0", "g-1"}
    assert messages(report) == {"g-2": "0/1 nodes are available: 1 Insufficient cpu."}
    assert cluster.condition("g") == ("True", "Scheduled", "")
    assert cluster.where == {"g-2": "active"}


def test_row_114_of_a_gang_of_three_with_room_for_two_nobody_is_bound_and_the_placed_carry_the_groups_message() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 3), pods("g", 3))
    report = cluster.cycle()
    text = placements("minCount (3) cannot be satisfied: 2 scheduled, 0 remaining")
    assert not cluster.bound
    assert messages(report) == {
        "g-0": f"{NOTHING_PLACED}, {text}, {NO_VICTIMS}",
        "g-1": f"{NOTHING_PLACED}, {text}, {NO_VICTIMS}",
        "g-2": "0/1 nodes are available: 1 Insufficient cpu.",
    }
    assert cluster.where == dict.fromkeys(("g-0", "g-1", "g-2"), "backoff")
    assert cluster.condition("g") == ("False", "Unschedulable", f"{text}, {NO_VICTIMS}")


def test_row_115_a_gang_that_cannot_reach_its_minimum_any_more_is_aborted_and_the_rest_is_not_tried() -> None:
    unfit = [pod(f"g-{i}", "g", cpu=9) for i in range(3)]
    cluster = Cluster(node("n"), leaf("g", 3), unfit, pods("g", 2, start=3))
    report = cluster.cycle()
    assert tried(report) == ["g-0", "g-1", "g-2"]
    assert asked(report, "g")[-1] == (2, 0, "Unschedulable")
    text = placements("minCount (3) cannot be satisfied: 0 scheduled, 2 remaining")
    assert messages(report)["g-3"] == messages(report)["g-4"] == text


def test_row_116_of_a_basic_group_as_many_are_bound_as_there_is_room_for() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g"), pods("g", 3))
    cluster.cycle()
    assert set(cluster.bound) == {"g-0"}
    assert cluster.condition("g") == ("True", "Scheduled", "")
    assert cluster.where == {"g-1": "active", "g-2": "active"}


def test_row_117_a_basic_group_without_any_room_is_unschedulable_and_backs_off() -> None:
    cluster = Cluster(node("n", cpu=0), leaf("g"), pods("g", 2))
    cluster.cycle()
    assert not cluster.bound
    condition = cluster.condition("g")
    assert condition is not None
    assert condition[:2] == ("False", "Unschedulable")
    assert cluster.where == {"g-0": "backoff", "g-1": "backoff"}


def test_row_118_a_new_pod_of_a_gang_that_runs_already_is_bound_when_it_fits() -> None:
    cluster = Cluster(node("n", cpu=3), leaf("g", 2), pods("g", 2, on="n"), pods("g", 1, start=2))
    report = cluster.cycle()
    assert asked(report, "g") == [(1, 2, "Success"), (0, 3, "Success")]
    assert binds(report) == {"g-2": "n"}


def test_row_119_when_nothing_new_is_placed_the_root_is_unschedulable_and_a_true_condition_stays() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 2), pods("g", 2))
    cluster.cycle()
    cluster.add(pods("g", 1, start=2))
    report = cluster.cycle()
    assert report.root is not None
    assert report.root.reasons == (NOTHING_PLACED,)
    assert report.raw == {report.entity: report.root.code}
    assert groups(report) == {"g": "Unschedulable"}
    assert NO_VICTIMS in report.groups[report.entity].status.message
    assert cluster.condition("g") == ("True", "Scheduled", "")
    assert cluster.where == {"g-2": "backoff"}


def test_row_120_running_and_fitting_pods_below_the_minimum_together_are_not_bound() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 3), pods("g", 1, on="n"), pods("g", 2, start=1))
    report = cluster.cycle()
    assert not binds(report)
    assert asked(report, "g")[-1] == (0, 2, "Unschedulable")


# --- errors and other answers -----------------------------------------------------------------------------------------


def test_row_121_an_error_of_one_pod_is_an_error_of_all_and_clears_their_nominations() -> None:
    broken = [("filter", FilterByPod, {"answers": {"g-1": error("broken")}})]
    cluster = Cluster(node("n"), leaf("g", 4), pods("g", 4), plugins=broken)
    cluster.change("g-0", status=evolve(cluster.pod("g-0").status, nominated_node_name="n"))
    report = cluster.cycle()
    own = 'running "FilterByPod" filter plugin: broken'
    text = f"failed to schedule other pod from a pod group: {own}"
    assert codes(report) == dict.fromkeys(("g-0", "g-1", "g-2", "g-3"), "Error")
    assert messages(report) == {"g-0": text, "g-1": own, "g-2": text, "g-3": text}
    assert tried(report) == ["g-0", "g-1"]
    assert not cluster.nominated()
    entity = cluster.entity("g")
    assert (entity.heap, entity.errors, entity.unschedulable) == ("error", 1, 0)


def feasible(*answers: Status | None) -> Cluster:
    script = {"answers": {"g": list(answers)}}
    plugins = [("placementFeasible", ScriptedPlacementFeasible, script)]
    return Cluster(node("n"), leaf("g"), pods("g", 2), plugins=plugins)


def test_row_122_an_error_of_placement_feasible_is_an_error_of_the_group() -> None:
    report = feasible(None, error("lost")).cycle()
    assert groups(report) == {"g": "Error"}
    assert report.groups[report.entity].status.message == "failed to evaluate placement feasibility: lost"
    assert codes(report) == {"g-0": "Error", "g-1": "Error"}


def test_row_123_unresolvable_from_placement_feasible_aborts_at_once() -> None:
    # DIV-5: the code went on; with placements on the group's own status is built anew, so preemption is asked after it
    report = feasible(None, unresolvable("hopeless")).cycle()
    assert tried(report) == ["g-0"]
    assert not binds(report)
    assert report.groups[report.entity].status.message.startswith(placements("hopeless"))


def test_row_123_without_placements_the_status_stays_unresolvable_and_no_post_filter_runs() -> None:
    script = {"answers": {"g": [None, unresolvable("hopeless")]}}
    plugins = [("placementFeasible", ScriptedPlacementFeasible, script)]
    gates = {"TopologyAwareWorkloadScheduling": False, "CompositePodGroup": False}
    cluster = Cluster(node("n"), leaf("g"), pods("g", 2), plugins=plugins, gates=gates)
    report = cluster.cycle()
    assert report.root is not None
    assert (report.root.code.value, report.root.reasons) == ("UnschedulableAndUnresolvable", ("hopeless",))
    assert not any(step.kind == "post-filter" for step in report.trace)
    assert cluster.where == {"g-0": "backoff", "g-1": "backoff"}


def test_row_124_wait_after_the_last_pod_is_unschedulable() -> None:
    report = feasible(None, None, Status(Code.WAIT, ("not yet",))).cycle()
    assert groups(report) == {"g": "Unschedulable"}
    assert report.groups[report.entity].status.message.startswith(placements("not yet"))


class FourStates:
    """PlacementFeasible by the table of KEP-6012 (spec §4.8): what was refused may come to fit by preemption."""

    name = "FourStates"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        pass

    def placement_feasible(self, state: PlacementCycleState, group: PodGroupInfo, progress: Progress) -> Status | None:
        total = state.read(self.name)
        if total is None:  # the check before the first pod
            total = progress.remaining + progress.scheduled
            state.write(self.name, total)
        minimum = group.group.required
        if progress.scheduled >= minimum:
            return None
        if progress.scheduled + progress.remaining >= minimum:
            return Status(Code.WAIT, ("not yet",))
        return unschedulable("refused") if total >= minimum else unresolvable("too few")


@pytest.mark.parametrize(("table", "too_few"), [("GangScheduling", "Unschedulable"), ("FourStates", UNRESOLVABLE)])
def test_a_profile_may_answer_by_another_table_than_that_of_gang_scheduling(
    table: str, too_few: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # DIV-6: the three states of the code by default; the point is disabled there and another plugin enabled
    registry = default_registry()
    registry.register(FourStates.name, FourStates)
    monkeypatch.setattr("gangsched.api.plugin_registry", lambda: registry)
    point = {"disabled": [{"name": "GangScheduling"}], "enabled": [{"name": table}]}
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"placementFeasible": point}}],
    }
    gates = {"TopologyAwareWorkloadScheduling": False, "CompositePodGroup": False}
    for leaving, code, evicted in ((False, "Unschedulable", ["default/low"]), (True, too_few, [])):
        members = [evolve(each, deletion_timestamp=0 if leaving else None) for each in pods("g", 1, priority=5)]
        members += pods("g", 2, priority=5, start=1)
        engine = Engine(config, feature_gates=gates, tracing=True)
        engine.apply(node("n", cpu=3), pod("low", on="n"), leaf("g", 3, priority=5), *members)
        report = engine.step()
        assert report is not None
        assert report.root is not None
        assert report.root.code.value == code
        assert any(step.kind == "post-filter" for step in report.trace) == (code == "Unschedulable")
        assert list(engine.evicted) == evicted  # of three pods two fit; of two all, but they are too few


# --- pods that change while their cycle runs --------------------------------------------------------------------------


def mark_deleting(cluster: Cluster, *names: str) -> None:
    for name in names:
        cluster.change(name, deletion_timestamp=cluster.core.now)


def test_row_145_when_every_popped_pod_is_being_deleted_the_cycle_ends_in_success_and_newcomers_are_queued() -> None:
    cluster = Cluster(node("n"), leaf("g", 2), pods("g", 2))
    mark_deleting(cluster, "g-0", "g-1")
    report = cluster.cycle(after_algorithm=lambda: cluster.add(pods("g", 1, start=2)))
    assert report.root is None
    assert not report.pods
    assert events(report) == [
        "FailedScheduling g-0: skip schedule deleting pod: default/g-0",
        "FailedScheduling g-1: skip schedule deleting pod: default/g-1",
    ]
    assert cluster.where == {"g-2": "active"}


def test_row_146_a_pod_being_deleted_is_left_out_and_the_rest_misses_the_minimum() -> None:
    cluster = Cluster(node("n"), leaf("g", 2), pods("g", 2))
    mark_deleting(cluster, "g-0")
    report = cluster.cycle()
    assert asked(report, "g") == [(1, 0, "Unschedulable")]
    assert not tried(report)
    assert set(report.pods) == {"default/g-1"}
    assert cluster.where == {"g-1": "backoff"}


@pytest.mark.parametrize(("point", "plugin"), [("reserve", ReserveByPod), ("permit", PermitByPod)])
def test_row_147_a_refusal_at_submit_fails_that_pod_alone(point: str, plugin: type) -> None:
    refusing = [(point, plugin, {"answers": {"g-0": unschedulable("not now")}})]
    cluster = Cluster(node("n"), leaf("g", 2), pods("g", 2), plugins=refusing)
    report = cluster.cycle()
    assert set(cluster.bound) == {"g-1"}
    assert messages(report) == {"g-0": "0/1 nodes are available: 1 not now."}
    assert groups(report) == {"g": "Success"}
    assert cluster.where == {"g-0": "active"}
    assert cluster.used_cpu() == {"n": 1000}


def test_row_148_a_pod_assigned_by_someone_else_meanwhile_gets_event_and_condition_but_is_not_requeued() -> None:
    cluster = Cluster(node("n", cpu=1), node("other", cpu=0), leaf("g"), pods("g", 2))
    report = cluster.cycle(after_algorithm=lambda: cluster.change("g-1", node_name="other"))
    assert any(event.startswith("FailedScheduling g-1: 0/2 nodes are available") for event in events(report))
    assert cluster.pod_condition("g-1")[:2] == ("False", "Unschedulable")
    assert cluster.where == {}
    assert cluster.bound == {"g-0": "n"}


def test_a_pod_assigned_by_someone_else_after_it_was_placed_keeps_that_node() -> None:
    cluster = Cluster(node("n", cpu=2), node("other", cpu=0), leaf("g", 2), pods("g", 2))
    report = cluster.cycle(after_algorithm=lambda: cluster.change("g-1", node_name="other"))
    assert binds(report) == {"g-0": "n"}
    assert messages(report) == {"g-1": "pod Pod|default/g-1#1(default/g-1) is in the cache, so can't be assumed"}
    assert cluster.pod("g-1").node_name == "other"
    assert cluster.used_cpu() == {"n": 1000, "other": 1000}
    assert cluster.where == {}


def test_a_pod_assigned_by_someone_else_between_pop_and_algorithm_leaves_the_cycle() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 2), pods("g", 2))
    report = cluster.cycle(after_pop=lambda: cluster.change("g-1", node_name="n"))
    assert binds(report) == {"g-0": "n"}
    assert asked(report, "g") == [(1, 1, "Wait"), (0, 2, "Success")]
    assert cluster.used_cpu() == {"n": 2000}


def test_row_149_a_failed_pod_that_was_deleted_meanwhile_is_dropped() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g"), pods("g", 2))
    report = cluster.cycle(after_algorithm=lambda: cluster.delete("g-1"))
    assert cluster.where == {}
    assert any(event.startswith("FailedScheduling g-1") for event in events(report))


def test_row_150_the_new_pod_of_a_replaced_one_takes_the_way_of_every_new_pod() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g"), pods("g", 2))

    def replace() -> None:
        cluster.delete("g-1")
        cluster.add(make_pod("g-1").requests(cpu=1).in_group("g").uid("another").obj())

    report = cluster.cycle(after_algorithm=replace)
    assert not any("g-1" in event for event in events(report))
    assert cluster.pod("g-1").condition("PodScheduled") is None
    assert cluster.where == {"g-1": "active"}
    assert cluster.entity("g").rejected_by == {}


def test_a_bound_pod_that_was_deleted_meanwhile_leaves_no_reservation_behind() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 2), pods("g", 2))
    report = cluster.cycle(after_algorithm=lambda: cluster.delete("g-1"))
    assert binds(report) == {"g-0": "n", "g-1": "n"}
    assert any('g-1: running Bind plugin "DefaultBinder": pods "g-1" not found' in event for event in events(report))
    assert cluster.used_cpu() == {"n": 1000}


def test_two_pods_of_one_name_may_be_bound_before_the_first_is_answered() -> None:
    cluster = Cluster(node("n", cpu=4))
    waiting: list[Bind] = []
    for uid in ("first", "second"):
        cluster.add(make_pod("p").requests(cpu=1).uid(uid).obj())
        cycle = cluster.core.pop()
        assert cycle is not None
        cycle.decide()
        waiting += [d for d in cycle.submit().decisions if isinstance(d, Bind)]
        if uid == "first":
            cluster.delete("p")
            cluster.core._check()
    assert [bind.uid for bind in waiting] == ["first", "second"]
    assert cluster.core.binding == ("default/p", "default/p")
    cluster.host.carry_out(waiting[:1])
    assert cluster.used_cpu() == {"n": 1000}
    cluster.host.carry_out(waiting[1:])
    assert cluster.pod("p").node_name == "n"
    assert not cluster.core.binding
    cluster.core._check()


# --- the snapshot -----------------------------------------------------------------------------------------------------


def apart(name: str) -> Pod:
    built = make_pod(name).requests(cpu=1).in_group("g").label("app", "x")
    return built.anti_affinity("kubernetes.io/hostname", {"app": "x"}).obj()


def test_row_151_members_that_repel_each_other_are_put_on_different_nodes_in_one_cycle() -> None:
    cluster = Cluster(node("n1"), node("n2"), leaf("g", 2), [apart("g-0"), apart("g-1")])
    report = cluster.cycle()
    assert set(binds(report).values()) == {"n1", "n2"}


def test_row_151_a_third_member_that_repels_them_finds_no_node() -> None:
    cluster = Cluster(node("n1"), node("n2"), leaf("g", 2), [apart(f"g-{i}") for i in range(3)])
    report = cluster.cycle()
    text = "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."
    assert messages(report) == {"g-2": text}


def test_row_152_a_cycle_leaves_the_snapshot_as_it_was() -> None:
    ports = [make_pod(f"g-{i}").requests(cpu=1).host_port(80).in_group("g").obj() for i in range(2)]
    cluster = Cluster(node("n"), leaf("g", 4), ports, [apart("g-2"), apart("g-3")])
    before = _picture(cluster)
    report = cluster.cycle()
    assert groups(report) == {"g": "Unschedulable"}
    assert _picture(cluster) == before
    cluster.core._check()


def _picture(cluster: Cluster) -> list[object]:
    table, snapshot = cluster.core.world.table, cluster.core.snapshot
    table.settle()
    key = leaf("g").key
    rows = [{resource: list(column) for resource, column in table.used.items()}, list(table.nonzero_cpu)]
    return [*rows, [dict(p) for p in table.pods], dict(table.affinity_pods), dict(table.ports), snapshot.scheduled(key)]


def test_row_153_without_nodes_a_pod_is_unresolvable_and_the_group_unschedulable_by_its_count() -> None:
    cluster = Cluster(leaf("g", 2), pods("g", 2))
    report = cluster.cycle()
    assert messages(report)["g-0"] == "no nodes available to schedule pods"
    assert codes(report)["g-0"] == "UnschedulableAndUnresolvable"
    assert groups(report) == {"g": "Unschedulable"}
    assert asked(report, "g")[1] == (1, 0, "Unschedulable")


def test_row_154_the_counted_reasons_are_sorted_as_text() -> None:
    small = make_pod("p").requests(cpu=8, memory="100Gi").obj()
    nodes = [node("n1"), evolve(node("n2"), allocatable=evolve(node("n2").allocatable, memory=2**40))]
    report = Cluster(nodes, small).cycle()
    text = "0/2 nodes are available: 1 Insufficient memory, 2 Insufficient cpu."
    assert messages(report)["p"].startswith(text)


def test_a_cycle_writes_the_condition_of_its_group_once() -> None:
    report = Cluster(node("n"), leaf("g", 1), pods("g", 1)).cycle()
    assert condition_writes(report) == ["g"]
