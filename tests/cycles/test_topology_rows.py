"""Topology placements through whole cycles: spec §8.6 rows 180-194."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve

from gangsched.engine import placement_board
from gangsched_framework.cycle_state import CycleState, PlacementCycleState
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Group, Node, Pod
from gangsched_framework.placement import Assignment, Placement
from gangsched_framework.status import Status, error, unschedulable
from gangsched_framework.testing import ScriptedPlacementFeasible
from tests.cycles.harness import (
    Cluster,
    FilterByPod,
    ReserveByPod,
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
)

UNSCHEDULABLE = "pod group is unschedulable"


def rack(name: str, *nodes: str, cpu: int = 1, **labels: str) -> list[Node]:
    return [node(n, cpu, 110, rack=name, **labels) for n in nodes]


class ScoreByPlacement:
    """``answers``: placement name -> score; ``asked`` logs the calls."""

    name = "ScoreByPlacement"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.answers: dict[str, int | Status] = args["answers"]
        self.asked: list[str] = args["asked"]

    def score_placement(
        self, state: PlacementCycleState, group: PodGroupInfo, placement: Placement, assignments: Sequence[Assignment]
    ) -> int | Status:
        self.asked.append(placement.name)
        return self.answers.get(placement.name, 0)


def test_row_180_without_constraint_there_is_one_placement_and_a_failure_says_so() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), pods("g", 2))
    report = cluster.cycle()
    quorum = "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
    text = f"0/1 placements are available, first placement status: {quorum}"
    assert report.groups[report.entity].status.reasons[:2] == (UNSCHEDULABLE, text)


def test_without_a_generator_of_placements_a_group_is_evaluated_in_that_of_its_parent_and_a_failure_says_so() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), pods("g", 2), disabled=["placementGenerate"])
    report = cluster.cycle()
    quorum = "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
    text = f"0/1 placements are available, first placement status: {quorum}"
    assert report.groups[report.entity].status.reasons[:2] == (UNSCHEDULABLE, text)


def test_row_181_the_rack_with_room_for_all_is_taken() -> None:
    nodes = [*rack("r1", "a1", "a2", "a3"), *rack("r2", "b1", "b2", "b3", "b4", "b5")]
    cluster = Cluster(nodes, leaf("g", 5, topology="rack"), pods("g", 5))
    report = cluster.cycle()
    assert sorted(binds(report).values()) == ["b1", "b2", "b3", "b4", "b5"]


def test_row_182_a_node_without_the_label_is_left_out() -> None:
    cluster = Cluster(node("bare", cpu=9), rack("r1", "a1"), leaf("g", 2, topology="rack"), pods("g", 2))
    report = cluster.cycle()
    assert not binds(report)
    assert messages(report)["g-1"] == "0/1 nodes are available: 1 Insufficient cpu."


def test_row_183_a_group_with_a_running_pod_stays_in_its_rack() -> None:
    nodes = [*rack("r1", "a1", "a2"), *rack("r2", "b1", "b2", cpu=9)]
    cluster = Cluster(nodes, leaf("g", 2, topology="rack"), pods("g", 1, on="a1"), pods("g", 2, start=1))
    report = cluster.cycle()
    assert binds(report) == {"g-1": "a2"}
    assert messages(report)["g-2"] == "0/2 nodes are available: 2 Insufficient cpu."


PINNED = {
    "row 184: in two racks": (
        [pod("g-0", "g", on="a1"), pod("g-1", "g", on="b1")],
        "cannot determine domain for already scheduled pods: more than 1 domain found for pod group: r1, r2",
    ),
    "row 185: on a node without the label": (
        [pod("g-0", "g", on="bare")],
        "cannot determine domain for already scheduled pods: no topology domain found for pod default/g-0",
    ),
}


@pytest.mark.parametrize(("running", "text"), PINNED.values(), ids=PINNED)
def test_rows_184_and_185_running_pods_without_one_domain_are_an_error(running: list[Pod], text: str) -> None:
    nodes = [*rack("r1", "a1"), *rack("r2", "b1"), node("bare")]
    cluster = Cluster(nodes, leaf("g", 1, topology="rack"), running, pods("g", 1, start=2))
    report = cluster.cycle()
    assert groups(report) == {"g": "Error"}
    assert messages(report) == {"g-2": text}
    assert cluster.entity("g").heap == "error"


def test_row_185_a_running_pod_whose_node_has_vanished_is_an_error() -> None:
    cluster = Cluster(rack("r1", "a1", "a2"), leaf("g", 1, topology="rack"), pods("g", 1, on="a1"))
    cluster.add(pods("g", 1, start=1))
    cluster.delete("a1")
    report = cluster.cycle()
    assert groups(report) == {"g": "Error"}
    assert cluster.entity("g").heap == "error"


@pytest.mark.parametrize(("scores", "chosen"), [({"r1": 50, "r2": 90}, "b1"), ({"r1": 90, "r2": 50}, "a1"), ({}, "a1")])
def test_row_186_the_placement_of_the_higher_score_is_taken_of_equal_ones_the_first(
    scores: dict[str, int], chosen: str
) -> None:
    args: dict[str, Any] = {"answers": scores, "asked": []}
    scorer = [("placementScore", ScoreByPlacement, args)]
    cluster = Cluster(rack("r1", "a1"), rack("r2", "b1"), leaf("g", 1, topology="rack"), pods("g", 1), plugins=scorer)
    assert binds(cluster.cycle()) == {"g-0": chosen}
    assert args["asked"] == ["r1", "r2"]


def test_row_187_the_only_feasible_placement_is_not_scored() -> None:
    args: dict[str, Any] = {"answers": {"r1": 90}, "asked": []}
    scorer = [("placementScore", ScoreByPlacement, args)]
    nodes = [*rack("r1", "a1"), *rack("r2", "b1", "b2")]
    cluster = Cluster(nodes, leaf("g", 2, topology="rack"), pods("g", 2), plugins=scorer)
    assert set(binds(cluster.cycle()).values()) == {"b1", "b2"}
    assert args["asked"] == []


def test_row_188_blocks_and_racks() -> None:
    nodes = [
        *rack("a1", "a1-0", "a1-1", "a1-2", block="a"),
        *rack("a2", *(f"a2-{i}" for i in range(5)), block="a"),
        *rack("b1", *(f"b1-{i}" for i in range(5)), block="b"),
        *rack("b2", *(f"b2-{i}" for i in range(5)), block="b"),
    ]
    tree: list[Group] = [
        inner("R", 2, topology="block"),
        leaf("g", 5, "R", topology="rack"),
        leaf("h", 5, "R", topology="rack"),
    ]
    report = Cluster(nodes, tree, pods("g", 5), pods("h", 5)).cycle()
    where = {name: on.split("-")[0] for name, on in binds(report).items()}
    assert where == {**{f"g-{i}": "b1" for i in range(5)}, **{f"h-{i}": "b2" for i in range(5)}}


def test_row_189_a_node_a_sibling_took_in_thought_is_taken() -> None:
    tree: list[Group] = [inner("R", 2), leaf("a", 1, "R"), leaf("b", 1, "R")]
    cluster = Cluster(node("n", cpu=1), tree, pods("a", 1), pods("b", 1))
    report = cluster.cycle()
    assert messages(report)["b-0"] == "0/1 nodes are available: 1 Insufficient cpu."
    assert not binds(report)


@pytest.mark.parametrize("pinned", ["R", "a"])
def test_row_190_an_error_of_the_generator_is_an_error_of_the_cycle(pinned: str) -> None:
    tree: list[Group] = [inner("R", 1, topology="rack" if pinned == "R" else ""), leaf("b", 1, "R")]
    tree.append(leaf("a", 1, "R", topology="rack" if pinned == "a" else ""))
    cluster = Cluster(node("bare"), tree, pods("a", 1, on="bare"), pods("a", 1, start=1), pods("b", 1))
    report = cluster.cycle()
    assert set(groups(report).values()) == {"Error"}
    assert set(codes(report).values()) == {"Error"}
    assert not binds(report)


def test_row_191_an_error_in_the_second_placement_is_an_error_though_the_first_was_only_infeasible() -> None:
    script = {"answers": {"g": [None, error("lost")]}}
    plugins = [("placementFeasible", ScriptedPlacementFeasible, script)]
    # the first call is the pre-check in r1, where Fit refuses; the second is the pre-check in r2
    cluster = Cluster(rack("r1", "a1", cpu=0), rack("r2", "b1"), leaf("g", 1, topology="rack"), plugins=plugins)
    cluster.add(pods("g", 1))
    report = cluster.cycle()
    assert groups(report) == {"g": "Error"}
    assert report.groups[report.entity].status.message == "failed to evaluate placement feasibility: lost"


def test_row_191_after_an_infeasible_first_placement() -> None:
    plugins = [("filter", FilterByPod, {"answers": {"g-1": error("broken")}})]
    nodes = [*rack("r1", "a1", cpu=0), *rack("r2", "b1", "b2")]
    cluster = Cluster(nodes, leaf("g", 2, topology="rack"), pods("g", 2), plugins=plugins)
    report = cluster.cycle()
    assert groups(report) == {"g": "Error"}
    assert tried(report) == ["g-0", "g-0", "g-1"]


def nominated(name: str, to: str) -> Pod:
    waiting = pod(name, "g")
    return evolve(waiting, status=evolve(waiting.status, nominated_node_name=to))


def test_row_192_a_nomination_does_not_make_its_rack_win() -> None:
    # v1.37.2 has no fast path (head of §8): the packed rack wins
    nodes = [*rack("r1", "a1", cpu=2), *rack("r2", "b1", cpu=8)]
    cluster = Cluster(nodes, leaf("g", 1, topology="rack"), nominated("g-0", "b1"))
    assert binds(cluster.cycle()) == {"g-0": "a1"}


def test_row_193_nominations_in_two_racks_decide_nothing() -> None:
    nodes = [*rack("r1", "a1", "a2", cpu=1), *rack("r2", "b1", "b2", cpu=4)]
    cluster = Cluster(nodes, leaf("g", 2, topology="rack"), nominated("g-0", "a1"), nominated("g-1", "b1"))
    assert set(binds(cluster.cycle()).values()) == {"a1", "a2"}


def test_row_194_a_basic_group_goes_to_one_rack_and_the_rest_waits_for_that_rack_only() -> None:
    nodes = [*rack("r1", "a1", "a2", "a3"), *rack("r2", "b1")]
    cluster = Cluster(nodes, leaf("g", topology="rack"), pods("g", 4))
    report = cluster.cycle()
    assert set(binds(report).values()) == {"a1", "a2", "a3"}
    assert cluster.where == {"g-3": "active"}
    report = cluster.cycle()
    assert messages(report)["g-3"].startswith("0/3 nodes are available: 3 Insufficient cpu.")
    cluster.add(rack("r1", "a4"))
    cluster.advance(2)
    assert binds(cluster.cycle()) == {"g-3": "a4"}


class ReserveThrice(ReserveByPod):
    """Refuses a pod's third reservation: after both simulations, when the chosen placement is reserved again."""

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        self.log.append(("reserve", pod.name))
        return self.answers.get(pod.name) if self.log.count(("reserve", pod.name)) == 3 else None


def test_a_chosen_placement_that_cannot_be_reserved_again_leaves_nothing_reserved() -> None:
    plugins = [("reserve", ReserveThrice, {"answers": {"g-1": unschedulable("not any more")}})]
    nodes = [*rack("r1", "a1", cpu=2), *rack("r2", "b1", cpu=2)]
    cluster = Cluster(nodes, leaf("g", 2, topology="rack"), pods("g", 2), plugins=plugins)
    report = cluster.cycle()
    assert groups(report) == {"g": "Unschedulable"}
    assert "not any more" in report.groups[report.entity].status.message
    assert not binds(report)
    assert cluster.used_cpu() == {"a1": 0, "b1": 0}
    cluster.advance(2)
    assert len(binds(cluster.cycle())) == 2


def test_a_group_whose_racks_are_all_unlabelled_has_no_feasible_placement() -> None:
    report = Cluster(node("bare"), leaf("g", 1, topology="rack"), pods("g", 1)).cycle()
    assert report.groups[report.entity].status.reasons[0] == "no feasible placements found"
    assert not tried(report)


# --- percentageOfPlacementsToScore (§6.8) ---------------------------------------------------------------------------


class ErrorOn:
    """Breaks on the nodes ``args["nodes"]``."""

    name = "ErrorOn"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._nodes: list[str] = args["nodes"]

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return error("broken") if node.name in self._nodes else None


def four_racks() -> list[Node]:
    """Of one, two, two and four CPU: the second is the fullest with two pods, then the third."""
    sizes = (1, 4, 2, 2)
    return [node(f"n{number}", cpu, 110, rack=str(number)) for number, cpu in enumerate(sizes, start=1)]


@pytest.mark.parametrize(
    "percentage, expected, scored",
    [
        pytest.param(100, "n3", ["2", "3", "4"], id="all: the first of the fullest"),
        pytest.param(50, "n3", ["2", "3"], id="half: two feasible ones, the infeasible first does not count"),
        pytest.param(25, "n2", [], id="a quarter: the first feasible one, without a score"),
        pytest.param(1, "n2", [], id="never less than one"),
        pytest.param(0, "n3", ["2", "3", "4"], id="adaptive: all in a small cluster"),
    ],
)
def test_the_first_feasible_placements_are_scored(percentage: int, expected: str, scored: list[str]) -> None:
    cluster = Cluster(four_racks(), leaf("g", 2, topology="rack"), pods("g", 2), placements=percentage)
    report = cluster.cycle()
    assert set(binds(report).values()) == {expected}
    assert [step.text.split(":")[0] for step in report.trace if step.kind == "scores"] == scored


def test_without_enough_feasible_ones_every_placement_is_tried() -> None:
    cluster = Cluster(four_racks(), leaf("g", 3, topology="rack"), pods("g", 3), placements=50)
    report = cluster.cycle()
    assert [step.text for step in report.trace if step.kind == "placement"] == ["1", "2", "3", "4"]
    assert set(binds(report).values()) == {"n2"}


def test_an_error_beyond_the_limit_is_not_met() -> None:
    broken = [("filter", ErrorOn, {"nodes": ["n4"]})]
    objects = (four_racks(), leaf("g", 2, topology="rack"), pods("g", 2))
    assert binds(Cluster(*objects, plugins=broken, placements=50).cycle())
    assert set(codes(Cluster(*objects, plugins=broken).cycle()).values()) == {"Error"}


def test_the_adaptive_limit_is_a_tenth_at_5000_nodes_and_never_below_a_twentieth() -> None:
    framework = next(iter(Cluster(placements=0).core.frameworks.values()))
    for nodes, wanted in ((100, 49), (500, 45), (1000, 41), (5000, 5), (9000, 2)):
        racks = [Placement(str(rack), tuple(range(rack, nodes, 50))) for rack in range(50)]
        assert placement_board.wanted_placements(framework, racks) == wanted
