"""What upstream still debates about groups (docs/choices.md): each choice changes what it says, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve

from gangsched.engine.settings import ChildOrder, GroupScheduling
from gangsched_framework.objects import ClusterObject, CompositePodGroup, PodGroup
from gangsched_framework.status import error
from tests.cycles.harness import (
    Cluster,
    FilterByPod,
    asked,
    binds,
    codes,
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

DOUBLE = GroupScheduling(evaluation="doubleRun")
UNCHECKED = GroupScheduling(pre_check=False)
ANY_FAILED = GroupScheduling(extra_pod_preemption="anyFailed")

Objects = Sequence[ClusterObject | Sequence[ClusterObject]]


# --- evaluation ---------------------------------------------------------------------------------------------------


def stealing() -> Objects:
    """Row 134: room for four; a may take all of it, and b needs one for the root's minimum of two children."""
    tree: list[ClusterObject] = [inner("root", 2), leaf("a", 1, "root"), leaf("b", 1, "root")]
    return (node("n", cpu=4), tree, pods("a", 4), pods("b", 1))


def test_greedy_an_early_child_takes_the_room_a_sibling_needs_for_its_minimum() -> None:
    report = Cluster(*stealing()).cycle()
    assert tried(report) == ["a-0", "a-1", "a-2", "a-3", "b-0"]
    assert not binds(report)


def test_in_a_double_run_every_minimum_comes_before_the_first_extra_pod() -> None:
    report = Cluster(*stealing(), groups=DOUBLE).cycle()
    assert tried(report) == ["a-0", "b-0", "a-1", "a-2", "a-3"]
    assert binds(report).keys() == {"a-0", "b-0", "a-1", "a-2"}
    assert messages(report) == {"a-3": "0/1 nodes are available: 1 Insufficient cpu."}
    assert groups(report) == {"root": "Success", "a": "Success", "b": "Success"}


def test_the_second_pass_tries_the_children_beyond_the_minimum_each_as_a_whole() -> None:
    children = [leaf("a", 1, "root"), leaf("b", 1, "root"), leaf("c", 2, "root"), leaf("d", 1, "root")]
    waiting = [*pods("a", 2), *pods("b", 1), *pods("c", 2), *pods("d", 1)]
    report = Cluster(node("n", cpu=4), inner("root", 2), children, waiting, groups=DOUBLE).cycle()
    assert tried(report) == ["a-0", "b-0", "a-1", "c-0", "c-1", "d-0"]
    assert binds(report).keys() == {"a-0", "b-0", "a-1", "d-0"}
    assert groups(report) == {"root": "Success", "a": "Success", "b": "Success", "c": "Unschedulable", "d": "Success"}


def test_a_group_whose_minimum_runs_already_gets_nothing_in_the_first_pass() -> None:
    tree: list[ClusterObject] = [inner("root", 2), leaf("a", 1, "root"), leaf("b", 1, "root")]
    waiting = [*pods("a", 1, on="n"), *pods("a", 2, start=1), *pods("b", 1)]
    report = Cluster(node("n", cpu=3), tree, waiting, groups=DOUBLE).cycle()
    assert tried(report) == ["b-0", "a-1", "a-2"]
    assert binds(report).keys() == {"b-0", "a-1"}


@pytest.mark.parametrize(
    "choices, bound",
    [
        pytest.param(GroupScheduling(), {"r1a", "r1b"}, id="greedy: the rack that holds them all has more pods"),
        pytest.param(DOUBLE, {"r2a"}, id="in a double run the fuller rack wins, which has no room for the extra pods"),
    ],
)
def test_the_second_pass_stays_in_the_domain_the_minimum_chose(choices: GroupScheduling, bound: set[str]) -> None:
    racks = [node("r1a", cpu=2, rack="1"), node("r1b", cpu=2, rack="1"), node("r2a", cpu=2, rack="2")]
    cluster = Cluster(racks, leaf("g", 2, topology="rack"), pods("g", 4), groups=choices)
    cluster.cycle()
    assert set(cluster.bound.values()) == bound


def test_the_second_pass_goes_down_to_the_domains_of_the_children() -> None:
    """Zone on the root, rack on its children: the extra pods of each child go to that child's rack."""
    nodes = [node(f"n{zone}{rack}", cpu=2, zone=zone, rack=f"{zone}{rack}") for zone in "xy" for rack in "12"]
    tree: list[ClusterObject] = [inner("root", 2, topology="zone"), leaf("a", 1, "root", topology="rack")]
    tree.append(leaf("b", 1, "root", topology="rack"))
    cluster = Cluster(nodes, tree, pods("a", 3), pods("b", 2), groups=DOUBLE)
    report = cluster.cycle()
    racks = {child: {where for name, where in cluster.bound.items() if name.startswith(child)} for child in "ab"}
    assert all(len(found) == 1 for found in racks.values())
    assert tried(report).index("b-0") < tried(report).index("a-1")


def test_an_error_of_an_extra_pod_is_the_error_of_its_whole_tree_as_ever() -> None:
    broken = [("filter", FilterByPod, {"answers": {"a-1": error("broken")}})]
    cluster = Cluster(*stealing(), plugins=broken, groups=DOUBLE)
    report = cluster.cycle()
    assert set(codes(report).values()) == {"Error"}
    assert cluster.used_cpu() == {"n": 0}


# --- childOrder ---------------------------------------------------------------------------------------------------


def created(group: PodGroup | CompositePodGroup, second: int) -> PodGroup | CompositePodGroup:
    return evolve(group, creation_timestamp=second * 10**9)


def family() -> Objects:
    """Four children: a (three pods), b (one big pod, oldest), c (two pods, bound to a rack), d (one small pod)."""
    nodes = [node("n1", cpu=8, rack="1"), node("n2", cpu=8, rack="2")]
    children = [
        created(leaf("a", 3, "root"), 4),
        created(leaf("b", 1, "root"), 1),
        created(leaf("c", 2, "root", topology="rack"), 3),
        created(leaf("d", 1, "root"), 2),
    ]
    return (nodes, inner("root", 1), children, pods("a", 3), pods("b", 1, cpu=4), pods("c", 2), pods("d", 1))


@pytest.mark.parametrize(
    "order, expected",
    [
        ("name", ["a", "b", "c", "d"]),
        ("creation", ["b", "d", "c", "a"]),
        ("smallest", ["b", "d", "c", "a"]),
        ("hardest", ["c", "b", "a", "d"]),
    ],
)
def test_children_are_tried_by(order: ChildOrder, expected: list[str]) -> None:
    report = Cluster(*family(), groups=GroupScheduling(child_order=order)).cycle()
    assert list(dict.fromkeys(name[0] for name in tried(report))) == expected
    assert [key.name for key in report.groups] == ["root", *expected]


def crowded() -> Objects:
    """Room for four: either the small children, or the big one that comes between them by name."""
    nodes = [node("n1", cpu=2), node("n2", cpu=2)]
    tree: list[ClusterObject] = [inner("root", 1), leaf("a", 1, "root"), leaf("b", 2, "root"), leaf("c", 1, "root")]
    return (nodes, tree, pods("a", 1), pods("b", 2, cpu=2), pods("c", 1))


@pytest.mark.parametrize(
    "order, bound",
    [
        pytest.param("name", {"a-0", "c-0"}, id="by name a stands in the way of b"),
        pytest.param("smallest", {"a-0", "c-0"}, id="the smallest first leaves nothing for b"),
        pytest.param("hardest", {"b-0", "b-1"}, id="the hardest first gives b the room"),
    ],
)
def test_the_order_decides_who_is_placed(order: ChildOrder, bound: set[str]) -> None:
    assert binds(Cluster(*crowded(), groups=GroupScheduling(child_order=order)).cycle()).keys() == bound


def test_at_every_level_the_waiting_pods_below_count() -> None:
    tree: list[ClusterObject] = [inner("root", 1), inner("x", 1, "root"), inner("y", 1, "root")]
    leaves = [leaf("xa", 1, "x"), leaf("xb", 1, "x"), leaf("ya", 1, "y")]
    waiting = [*pods("xa", 2), *pods("xb", 1), *pods("ya", 2)]
    report = Cluster(node("n", cpu=8), tree, leaves, waiting, groups=GroupScheduling(child_order="smallest")).cycle()
    assert tried(report) == ["ya-0", "ya-1", "xb-0", "xa-0", "xa-1"]


# --- preCheck -----------------------------------------------------------------------------------------------------


def inadmissible() -> Objects:
    """Row 135: c1 needs two children and has one, whose pods would fit."""
    tree: list[ClusterObject] = [
        inner("root", 2),
        inner("c1", 2, "root"),
        leaf("pg11", 2, "c1"),
        leaf("pg2", 1, "root"),
    ]
    return (node("n", cpu=4), [*tree, leaf("pg3", 1, "root")], pods("pg11", 2), pods("pg2", 1), pods("pg3", 1))


def test_with_the_check_a_subtree_that_lacks_a_child_costs_no_attempt() -> None:
    report = Cluster(*inadmissible()).cycle()
    assert tried(report) == ["pg2-0", "pg3-0"]
    assert asked(report, "c1") == [(1, 0, "Unschedulable")]


def test_without_it_the_pods_below_are_tried_and_taken_back() -> None:
    report = Cluster(*inadmissible(), groups=UNCHECKED).cycle()
    assert tried(report) == ["pg11-0", "pg11-1", "pg2-0", "pg3-0"]
    assert asked(report, "c1") == [(0, 1, "Unschedulable")]
    assert binds(report).keys() == {"pg2-0", "pg3-0"}
    assert "1 scheduled, 0 remaining" in messages(report)["pg11-0"]


def test_without_it_a_gang_that_lost_a_pod_is_refused_after_its_first_one() -> None:
    cluster = Cluster(node("n", cpu=4), leaf("g", 2), pods("g", 2), groups=UNCHECKED)
    cluster.change("g-1", deletion_timestamp=1)
    report = cluster.cycle()
    assert tried(report) == ["g-0"]
    assert asked(report, "g")[0] == (0, 1, "Unschedulable")


def test_a_group_with_nothing_to_try_is_asked_all_the_same() -> None:
    tree: list[ClusterObject] = [inner("root", 2), leaf("a", 1, "root"), leaf("b", 1, "root")]
    cluster = Cluster(node("n", cpu=4), tree, pods("a", 1, on="n"), pods("b", 1), groups=UNCHECKED)
    report = cluster.cycle()
    assert asked(report, "a") == [(0, 1, "Success")]
    assert binds(report).keys() == {"b-0"}


# --- extraPodPreemption -------------------------------------------------------------------------------------------


def grown(minimum: int | None = 2, running: int = 2, cpu: float = 2) -> Objects:
    """A group of priority 10 that runs on ``old`` and has two more pods: one fits beside, one only if ``low`` goes."""
    nodes = [node("old", cpu=4), node("n1", cpu=2), node("n2", cpu=2)]
    more = [pod(f"g-{running}", "g", 2, 10), pod("g-last", "g", cpu, 10)]
    others = [pod("low", cpu=2, on="n2"), *pods("other", 2 - running, 2, 10, on="old")]
    return (nodes, leaf("g", minimum, priority=10), pods("g", running, 2, 10, on="old"), others, more)


def test_by_default_what_fits_is_bound_and_nobody_goes_in_that_cycle() -> None:
    report = Cluster(*grown()).cycle()
    assert binds(report) == {"g-2": "n1"}
    assert not victims(report)


def test_if_any_failed_a_satisfied_gang_preempts_at_once_and_binds_nobody_until_there_is_room() -> None:
    cluster = Cluster(*grown(), groups=ANY_FAILED)
    report = cluster.cycle()
    assert victims(report) == ["low"]
    assert not binds(report)
    assert cluster.nominated() == {"g-2": "n1", "g-last": "n2"}
    assert cluster.where == {"g-2": "backoff", "g-last": "backoff"}
    cluster.advance(3)
    assert binds(cluster.cycle()) == {"g-2": "n1", "g-last": "n2"}


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param(grown(minimum=None, running=1), id="a basic group binds what it can first"),
        pytest.param(grown(minimum=1, running=0), id="a gang whose minimum did not run before is no satisfied one"),
        pytest.param(grown(cpu=8), id="the pod that failed would find no node with all lesser pods gone"),
    ],
)
def test_if_any_failed_yet_nobody_goes_when(objects: Objects) -> None:
    cluster = Cluster(*objects, groups=ANY_FAILED)
    report = cluster.cycle()
    assert not victims(report)
    assert binds(report)
    assert report.root is not None
    assert report.root.ok


def test_children_of_a_satisfied_tree_are_extra_too() -> None:
    nodes = [node("old", cpu=4), node("n1", cpu=2), node("n2", cpu=2)]
    tree: list[ClusterObject] = [inner("root", 1, priority=10), leaf("a", 1, "root", 10), leaf("b", 1, "root", 10)]
    running, waiting = pods("a", 2, 2, 10, on="old"), pods("b", 2, 2, 10)
    cluster = Cluster(nodes, tree, running, pod("low", cpu=2, on="n2"), waiting, groups=ANY_FAILED)
    assert victims(cluster.cycle()) == ["low"]
