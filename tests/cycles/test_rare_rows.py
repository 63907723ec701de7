"""Corners of whole cycles, as v1.37.2 was seen to turn them: spec §2.12, §4.1-§4.3, §4.9-§4.10, §5, §6.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from attrs import evolve

from gangsched.conform.kube import KubePlayer
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod, PodStatus
from gangsched_framework.status import Status, unschedulable
from gangsched_framework.testing import make_pod
from tests.cycles.harness import Cluster, groups, inner, leaf, messages, node, pod, pods, victims


def nominated(to: str, one: Pod) -> Pod:
    return evolve(one, status=PodStatus(nominated_node_name=to))


def test_a_waiting_pod_of_another_scheduler_counts_for_its_group_only_once_it_is_bound() -> None:
    cluster = Cluster(node("n"), leaf("g", 3), pods("g", 2))
    cluster.add(evolve(pod("x", "g"), scheduler_name="other"))
    assert cluster.where == {"g-0": "gated", "g-1": "gated"}
    cluster.change("x", node_name="n")
    assert cluster.where == {"g-0": "active", "g-1": "active"}


def test_a_groups_condition_tells_the_generation_that_the_cycle_saw() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), pods("g", 2))
    cluster.cycle(after_algorithm=lambda: cluster.change("g", minimum=1, generation=2))
    group = cluster.core.world.forest.groups().__next__()
    condition = group.condition("PodGroupInitiallyScheduled")
    assert condition is not None
    assert (group.generation, condition.observed_generation) == (2, 1)


def test_no_pod_is_preempted_for_one_that_has_gone_meanwhile() -> None:
    cluster = Cluster(node("n", cpu=1), pod("low", on="n"), pod("high", priority=5))
    report = cluster.cycle(after_pop=lambda: cluster.delete("high"))
    assert messages(report) == {"high": '0/1 nodes are available: 1 Insufficient cpu. preemption: pod "high" not found'}


def test_a_preemption_is_for_the_pod_as_it_is_by_then() -> None:
    cluster = Cluster(node("n", cpu=1), pod("low", on="n"), pod("high", priority=5))
    report = cluster.cycle(after_pop=lambda: cluster.change("high", preemption_policy="Never"))
    assert messages(report)["high"].endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_a_refused_pod_loses_its_nomination_where_no_plugin_preempts() -> None:
    off = {"multiPoint": {"disabled": [{"name": "DefaultPreemption"}, {"name": "DynamicResources"}]}}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", "plugins": off}],
    }
    player = KubePlayer({"kubeSchedulerConfiguration": document})
    size = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    machine: dict[str, Any] = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}
    asks = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "2"}}}]}
    waiting = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": asks}
    player.play({"op": "create", "object": machine | {"status": {"allocatable": size, "capacity": size}}})
    player.play({"op": "create", "object": waiting | {"status": {"nominatedNodeName": "n"}}})
    assert "nominated" not in player.play({"op": "cycle"})


def test_pods_of_a_leaf_that_falls_with_its_parent_keep_their_nominations() -> None:
    leaves = [leaf(name, 1, "R") for name in "ab"]
    cluster = Cluster(node("n"), inner("R", 2), leaves, nominated("n", pod("a-0", "a")), pod("b-0", "b", 9))
    assert groups(cluster.cycle()) == {"R": "Unschedulable", "a": "Unschedulable", "b": "Unschedulable"}
    assert cluster.nominated() == {"a-0": "n"}


def test_a_placed_pod_of_a_leaf_that_fails_itself_loses_its_nomination() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), nominated("n", pod("g-0", "g")), pod("g-1", "g"))
    cluster.cycle()
    assert cluster.nominated() == {}


def test_without_any_node_a_member_loses_its_nomination() -> None:
    cluster = Cluster(leaf("g", 1), nominated("gone", pod("g-0", "g")))
    assert messages(cluster.cycle()) == {"g-0": "no nodes available to schedule pods"}
    assert cluster.nominated() == {}


def test_a_composite_group_removed_after_the_pop_is_named_as_one() -> None:
    cluster = Cluster(node("n"), inner("R", 1), leaf("a", 1, "R"), pods("a", 1))
    report = cluster.cycle(after_pop=lambda: cluster.delete("R"))
    text = 'composite pod group object not found for pod group "compositepodgroup/default/R"'
    assert messages(report) == {"a-0": text}


def test_a_group_without_preemption_policy_agrees_with_a_root_that_has_the_default() -> None:
    root = evolve(inner("R", 1), preemption_policy="PreemptLowerPriority")
    cluster = Cluster(node("n"), root, leaf("a", 1, "R"), pods("a", 1), gates={"PodGroupPreemptionPolicy": True})
    cluster.cycle()
    assert cluster.bound == {"a-0": "n"}


def test_a_topology_constraint_four_levels_above_a_group_is_an_error() -> None:
    chain = [inner("R", 1, topology="rack"), inner("A", 1, "R"), inner("B", 1, "A"), inner("C", 1, "B")]
    cluster = Cluster(node("n", rack="r"), chain, leaf("g", 1, "C"), pods("g", 1))
    text = "exceeded maximum hierarchy depth at podgroup/default/g"
    assert messages(cluster.cycle()) == {"g-0": text}
    assert cluster.entity("R").heap == "error"


def test_the_same_constraint_one_level_lower_holds() -> None:
    chain = [inner("R", 1), inner("A", 1, "R", topology="rack"), inner("B", 1, "A"), inner("C", 1, "B")]
    cluster = Cluster(node("n", rack="r"), chain, leaf("g", 1, "C"), pods("g", 1))
    cluster.cycle()
    assert cluster.bound == {"g-0": "n"}


def test_a_run_of_like_pods_ends_when_a_node_goes() -> None:
    cluster = Cluster(node("a", cpu=1), node("b", cpu=1), node("c", cpu=9), pod("p-0", cpu=5))
    cluster.cycle()
    cluster.add(leaf("g", 1), pods("g", 1))
    cluster.change("g", minimum=2)
    cluster.delete("c")
    cluster.cycle()  # the gang is stopped by its pre-check, no pod is looked at
    cluster.add(pod("x", on="a"), pod("p-1", cpu=5))
    assert messages(cluster.cycle())["p-1"].startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_a_spread_counts_beyond_the_placement() -> None:
    built = make_pod("g-1").requests(cpu=1).in_group("g").label("app", "x")
    second = built.spread("zone", {"app": "x"}).obj()
    first = evolve(pod("g-0", "g"), labels={"app": "x"})
    nodes = (node("in", rack="r", zone="a"), node("out", zone="b"))
    cluster = Cluster(nodes, leaf("g", 1, topology="rack"), first, second)
    report = cluster.cycle()
    assert cluster.bound == {"g-0": "in"}  # zone b has no such pod, though it is no place for the group
    text = "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints."
    assert messages(report) == {"g-1": text}


@pytest.mark.parametrize(("kind", "first", "second"), [("affinity", "b", "a"), ("anti_affinity", "a", "b")])
@pytest.mark.parametrize("weight", [None, 5], ids=["required", "preferred"])
def test_affinity_looks_beyond_the_placement(kind: str, first: str, second: str, weight: int | None) -> None:
    nodes = (node("in-1", rack="r", zone=first), node("in-2", rack="r", zone=second), node("out", zone="a"))
    neighbour = evolve(pod("x", on="out"), labels={"app": "x"})
    member = getattr(make_pod("g-0").requests(cpu=1).in_group("g"), kind)("zone", {"app": "x"}, weight).obj()
    cluster = Cluster(nodes, neighbour, leaf("g", 1, topology="rack"), member)
    cluster.cycle()
    assert cluster.bound == {"g-0": "in-2"}  # else the first


@dataclass
class ByValue:
    """As a data class is: equal to its like, and not to be hashed."""

    args: Mapping[str, Any]
    handle: Handle
    name: ClassVar[str] = "ByValue"

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        return unschedulable("not here") if info.name == "a" else None


def test_a_plugin_may_be_a_class_whose_objects_compare_by_value() -> None:
    cluster = Cluster(node("a"), node("b"), pod("p"), plugins=[("filter", ByValue, {})])
    cluster.cycle()
    assert cluster.bound == {"p": "b"}


# --- preemption (spec §5) ---------------------------------------------------------------------------------------------


def test_a_member_that_goes_alone_is_more_important_than_a_plain_pod() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("z", 1), pods("z", 1, on="n"), pod("a", on="n"), pod("high", priority=5))
    assert victims(cluster.cycle()) == ["a"]


def test_the_roots_priority_protects_the_pods_of_a_lesser_leaf() -> None:
    tree = (inner("R", 1, priority=9), leaf("g", 1, "R", priority=0))
    cluster = Cluster(node("n", cpu=1), tree, pods("g", 1, on="n"), pod("high", priority=5))
    assert victims(cluster.cycle()) == []


def test_below_a_missing_root_the_highest_group_that_is_there_goes_as_a_whole() -> None:
    tree = (inner("M", 1, "gone", whole=True), leaf("g", 1, "M"), leaf("h", 1, "M"))
    cluster = Cluster(node("n", cpu=1), node("m", cpu=1), tree, pods("g", 1, on="n"), pods("h", 1, on="m"))
    cluster.add(pod("high", priority=5))
    assert victims(cluster.cycle()) == ["g-0", "h-0"]


def test_beside_pods_that_were_promised_the_same_room_nobody_may_stay() -> None:
    tree = (inner("R", None, priority=5), leaf("a", 2, "R", priority=5), leaf("b", 1, "R", priority=5))
    cluster = Cluster(node("n", cpu=2), node("m", cpu=1), pod("big", cpu=2, on="n"), pod("low", on="m"), tree)
    cluster.add(pod("a-0", "a", 2, 5), pod("a-1", "a", 9, 5), pod("b-0", "b", 2, 5))
    assert victims(cluster.cycle()) == ["big", "low"]
