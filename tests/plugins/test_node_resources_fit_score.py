"""NodeResourcesFit, whose fit is best: spec node-plugins.md §7.6.2-7.6.5, rows 70-115 (their scores)."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest

from gangsched_framework.cycle_state import PlacementCycleState, PodGroupCycleState
from gangsched_framework.placement import Assignment, Placement
from gangsched_framework.testing import (
    FakeHandle,
    NodeBuilder,
    PodBuilder,
    make_node,
    make_pod,
    make_pod_group,
    make_snapshot,
)
from gangsched_plugins.node_resources_fit import NodeResourcesFit
from gangsched_plugins.node_resources_fit.strategies import requested_to_capacity_ratio
from tests.plugins.judge import Case, check, roomy, unheard_of

GPU, HUGE = "nvidia.com/gpu", "hugepages-2Mi"
POD = make_pod("p")
BARE = POD.container("img:1")
A, B = roomy("a"), make_node("b").capacity(cpu=2, memory="2Gi", pods=110)
NARROW = make_node("b").capacity(cpu=1, memory="1Gi", pods=110)


def node(name: str, **more: int | str) -> NodeBuilder:
    return make_node(name).capacity(**{"cpu": 4, "memory": "8Gi", "pods": 110, **more})


def running(on: str = "a", **requests: int | str) -> PodBuilder:
    return make_pod("e").requests(**requests).node(on)


def strategy(kind: str, *resources: tuple[str, int], **more: Any) -> dict[str, Any]:
    weights = {"resources": [{"name": name, "weight": weight} for name, weight in resources]} if resources else {}
    return {"scoringStrategy": {"type": kind, **weights, **more}}


def rising(*resources: tuple[str, int]) -> dict[str, Any]:
    """RequestedToCapacityRatio that favours full nodes."""
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    return strategy("RequestedToCapacityRatio", *resources, requestedToCapacityRatio={"shape": shape})


LEAST, MOST = "LeastAllocated", "MostAllocated"
FILLED = [A, node("b", cpu=8, memory="16Gi"), node("c", cpu=3, memory="7Gi")]
FILLED_POD = running("b", cpu=1, memory="1Gi")
WITH_GPU = [node("a", **{GPU: 4}), roomy("b")]
GPU_HEAVY = (("cpu", 1), (GPU, 5))
TIGHT = [node("a", cpu="150m", memory="250Mi"), roomy("b")]
WITH_STORAGE = [node("a", ephemeral_storage="10Gi"), roomy("b")]
STORAGE = (("ephemeral-storage", 1), ("cpu", 1))

CASES = [
    Case(
        name="an exact fit scores 0", pod=POD.requests(cpu=2, memory="2Gi"), nodes=[A, B], want_scores={"a": 62, "b": 0}
    ),
    Case(name="missing memory counts as 200 MiB", pod=POD.requests(cpu="2001m"), nodes=[A], want_scores={"a": 73}),
    Case(
        name="an over-requested resource scores 0",
        pod=POD.requests(memory="1Gi"),
        nodes=[node("a", cpu=1)],
        pods=[running(cpu=5)],
        want_scores={"a": 42},
    ),
    Case(
        name="hugepages do not score by default",
        pod=POD.requests(cpu=1, memory="1Gi", **{HUGE: "64Mi"}),
        nodes=[node("b", **{HUGE: "64Mi"})],
        want_scores={"b": 81},
    ),
    Case(
        name="unknown resources do not score", pod=unheard_of(storage="5Gi", foo="3"), nodes=[A], want_scores={"a": 97}
    ),
    Case(
        name="containers are summed with their defaults",
        pod=POD.requests(cpu="1500m").container("img:1", cpu="600m"),
        nodes=[A],
        want_scores={"a": 71},
    ),
    Case(
        name="an init container may be the maximum",
        pod=POD.requests(cpu=1).container("img:1", cpu=1).init_container(cpu=3),
        nodes=[A],
        want_scores={"a": 60},
    ),
    Case(
        name="sidecars count with their defaults",
        pod=POD.requests(cpu="100m")
        .init_container(sidecar=True, cpu=1)
        .init_container(cpu=1)
        .init_container(sidecar=True, cpu=2),
        nodes=[A],
        want_scores={"a": 57},
    ),
    Case(name="overhead comes on top of the defaults", pod=BARE.overhead(cpu=3), nodes=[A], want_scores={"a": 59}),
    Case(
        name="the incoming pod is scored without its pod level",
        pod=POD.requests(cpu=1).pod_level(cpu=3),
        nodes=[A],
        want_scores={"a": 86},
    ),
    Case(
        name="the incoming pod's overhead counts, its pod level not",
        pod=BARE.pod_level(cpu="1900m").overhead(cpu="200m"),
        nodes=[A],
        want_scores={"a": 94},
    ),
    Case(
        name="pod-level cpu and memory alone leave the defaults in the score",
        pod=BARE.pod_level(cpu=1, memory="1Gi"),
        nodes=[A, node("b", cpu=8, memory="16Gi")],
        want_scores={"a": 97, "b": 98},
    ),
    Case(
        name="a running pod counts with its pod level, and the default of the rest once per container",
        pod=BARE,
        nodes=[A, roomy("b")],
        pods=[make_pod("e").container("img:1").container("img:1").pod_level(cpu=1).node("a")],
        want_scores={"a": 82, "b": 97},
    ),
    Case(
        name="a pod on a small node leaves little",
        pod=POD.requests(cpu=2),
        nodes=[B],
        want_scores={"b": 45},
    ),
    Case(
        name="memory of two bytes is all used",
        pod=POD.requests(memory="1500m"),
        nodes=[node("b", memory=2)],
        want_scores={"b": 48},
    ),
    Case(
        name="quantities are summed before they are rounded",
        pod=POD.requests(cpu="500u").container("img:1", cpu="500u"),
        nodes=[node("a", cpu="1m"), node("b", cpu="2m")],
        want_scores={"a": 47, "b": 72},
    ),
    Case(
        name="an infeasible resize counts what is allocated",
        pod=POD.requests(cpu=3),
        nodes=[A],
        pods=[running(cpu=4).allocated(cpu=1).condition("PodResizePending", "True", "Infeasible")],
        want_scores={"a": 47},
    ),
    Case(
        name="LeastAllocated on differently filled nodes",
        pod=POD.requests(cpu=1, memory="2Gi"),
        nodes=FILLED,
        pods=[FILLED_POD],
        args=strategy(LEAST),
        want_scores={"a": 75, "b": 78, "c": 68},
    ),
    Case(
        name="LeastAllocated leaves out a scalar that is not asked for",
        pod=POD.requests(cpu=1, memory="1Gi"),
        nodes=WITH_GPU,
        args=strategy(LEAST, *GPU_HEAVY),
        want_scores={"a": 75, "b": 75},
    ),
    Case(
        name="LeastAllocated weighs a scalar that is asked for",
        pod=POD.requests(cpu=1, **{GPU: 3}),
        nodes=WITH_GPU[:1],
        args=strategy(LEAST, *GPU_HEAVY),
        want_scores={"a": (75 + 5 * 25) // 6},
    ),
    Case(
        name="LeastAllocated counts defaults of every container",
        pod=BARE.container("img:1"),
        nodes=[A, NARROW],
        args=strategy(LEAST),
        want_scores={"a": 95, "b": 70},
    ),
    Case(
        name="LeastAllocated takes an explicit 0 as it is",
        pod=POD.requests(cpu=0, memory=0),
        nodes=[A, NARROW],
        args=strategy(LEAST),
        want_scores={"a": 100, "b": 100},
    ),
    Case(
        name="LeastAllocated gives 0 when the defaults exceed the node",
        pod=BARE,
        nodes=TIGHT,
        pods=[make_pod("e").container("img:1").node("a")],
        args=strategy(LEAST),
        want_scores={"a": 0, "b": 97},
    ),
    Case(
        name="LeastAllocated leaves out a resource the node has not",
        pod=POD.requests(cpu=1),
        nodes=[node("a", memory=0), make_node("b").capacity(cpu=4, pods=110)],
        args=strategy(LEAST),
        want_scores={"a": 75, "b": 75},
    ),
    Case(
        name="LeastAllocated counts ephemeral storage that is not asked for",
        pod=POD.requests(cpu=1),
        nodes=WITH_STORAGE,
        pods=[running(ephemeral_storage="4Gi")],
        args=strategy(LEAST, *STORAGE),
        want_scores={"a": 66, "b": 75},
    ),
    Case(
        name="MostAllocated on differently filled nodes",
        pod=POD.requests(cpu=1, memory="2Gi"),
        nodes=FILLED,
        pods=[FILLED_POD],
        args=strategy(MOST),
        want_scores={"a": 25, "b": 21, "c": 30},
    ),
    Case(
        name="MostAllocated leaves out a scalar that is not asked for",
        pod=POD.requests(cpu=1, memory="1Gi"),
        nodes=WITH_GPU,
        args=strategy(MOST, *GPU_HEAVY),
        want_scores={"a": 25, "b": 25},
    ),
    Case(
        name="MostAllocated counts defaults of every container",
        pod=BARE.container("img:1"),
        nodes=[A, NARROW],
        args=strategy(MOST),
        want_scores={"a": 4, "b": 29},
    ),
    Case(
        name="MostAllocated takes an explicit 0 as it is",
        pod=POD.requests(cpu=0, memory=0),
        nodes=[A, NARROW],
        args=strategy(MOST),
        want_scores={"a": 0, "b": 0},
    ),
    Case(
        name="MostAllocated gives 100 when the defaults exceed the node",
        pod=BARE,
        nodes=TIGHT,
        pods=[make_pod("e").container("img:1").node("a")],
        args=strategy(MOST),
        want_scores={"a": 100, "b": 2},
    ),
    Case(
        name="MostAllocated counts ephemeral storage that is not asked for",
        pod=POD.requests(cpu=1),
        nodes=WITH_STORAGE,
        pods=[running(ephemeral_storage="4Gi")],
        args=strategy(MOST, *STORAGE),
        want_scores={"a": 33, "b": 25},
    ),
    Case(
        name="RequestedToCapacityRatio follows its shape",
        pod=POD.requests(cpu=1, memory="2Gi"),
        nodes=[
            A,
            node("b", cpu=10, memory="3Gi"),
            node("c", cpu=3, memory="20Gi"),
            node("d", cpu=2, memory="4Gi"),
        ],
        args=rising(("cpu", 3), ("memory", 1)),
        want_scores={"a": 25, "b": 24, "c": 27, "d": 50},
    ),
    Case(
        name="RequestedToCapacityRatio rounds the mean",
        pod=POD.requests(cpu=1, memory="4Gi"),
        nodes=[A],
        args=rising(),
        want_scores={"a": 38},
    ),
    Case(
        name="RequestedToCapacityRatio leaves a resource of score 0 out of the weights",
        pod=POD.requests(cpu=1, memory="1Mi"),
        nodes=[node("a", cpu=8, memory="100Gi"), node("b", cpu=3, memory="90Mi")],
        args=rising(("cpu", 2), ("memory", 1)),
        want_scores={"a": 12, "b": 22},
    ),
    Case(
        name="no resource that counts scores 0",
        pod=POD.requests(cpu=1),
        nodes=[A],
        args=strategy(LEAST, (GPU, 1)),
        want_scores={"a": 0},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_scores(case: Case) -> None:
    check(NodeResourcesFit, case)


@pytest.mark.parametrize(
    "utilization, want",
    [(0, 70), (10, 70), (15, 55), (17, 49), (20, 40), (30, 40), (100, 0)],
)
def test_a_shape_is_linear_between_its_points_and_slopes_truncate_toward_zero(utilization: int, want: int) -> None:
    score = requested_to_capacity_ratio([(10, 7), (20, 4), (30, 4), (100, 0)])
    assert score(utilization, 100) == want


def test_a_falling_slope_truncates_toward_zero() -> None:
    # 100 - 100 * 1 / 3 of a slope: -33.3 becomes -33, rounding down would give -34
    assert requested_to_capacity_ratio([(0, 10), (3, 0)])(1, 100) == 67


def test_beyond_the_last_point_its_score_stays() -> None:
    assert requested_to_capacity_ratio([(0, 0), (50, 6)])(99, 100) == 60


def test_above_capacity_counts_as_full() -> None:
    assert requested_to_capacity_ratio([(0, 0), (100, 10)])(101, 100) == 100


def _score_placement(args: dict[str, Any], rows: tuple[int, ...] | None, *placed: PodBuilder) -> object:
    nodes = [node(name) for name in ("a", "b", "c")]
    handle = FakeHandle(make_snapshot([n.obj() for n in nodes], [running("a", cpu=2, memory="4Gi").obj()]))
    group = handle.forest
    group.add_group(make_pod_group("g").obj())
    info = group.tree(make_pod_group("g").obj().key)
    state = PlacementCycleState(PodGroupCycleState())
    assignments = [Assignment(pod.obj(), "a") for pod in placed]
    return NodeResourcesFit(args, handle).score_placement(state, info, Placement("x", rows), assignments)


PLACED = (make_pod("g-0").requests(cpu=1, memory="1Gi"), make_pod("g-1").container("img:1"))
PLACEMENTS = [
    # cpu (2000 + 1100) of 8000 = 38, memory (4096 + 1224) Mi of 16384 = 32
    ("sums over the placement's nodes, defaults counted", {}, (0, 1), 35),
    ("whatever the node strategy is", strategy(LEAST), (0, 1), 35),
    ("a placement of every node", {}, None, (3100 * 100 // 12000 + 5320 * 100 // 24576) // 2),
    ("the resources of the strategy count", strategy(MOST, ("cpu", 1)), (0, 1), 38),
    ("a placement without nodes scores 0", {}, (), 0),
]


@pytest.mark.parametrize("name, args, rows, want", PLACEMENTS, ids=[name for name, *_ in PLACEMENTS])
def test_placements(name: str, args: dict[str, Any], rows: tuple[int, ...] | None, want: int) -> None:
    assert _score_placement(args, rows, *PLACED) == want


def test_a_placement_asked_for_more_than_it_has_is_full() -> None:
    assert _score_placement({}, (1,), make_pod("g-0").requests(cpu=9, memory="9Gi")) == 100


def test_what_is_used_on_a_node_without_capacity_does_not_count_in_a_placement() -> None:
    nodes = [make_node("a").capacity(cpu=4).obj(), make_node("b").capacity(cpu=0).obj()]
    handle = FakeHandle(make_snapshot(nodes, [running("b", cpu=3, memory="0").obj()]))
    handle.forest.add_group(make_pod_group("g").obj())
    group, placed = handle.forest.tree(make_pod_group("g").obj().key), make_pod("g-0").requests(cpu=1).obj()
    plugin, placement = NodeResourcesFit(strategy(MOST, ("cpu", 1)), handle), Placement("x", (0, 1))
    state = PlacementCycleState(PodGroupCycleState())
    assert plugin.score_placement(state, group, placement, [Assignment(placed, "a")]) == 25
    assert [plugin.score_pods(group, placement, [placed]) for _ in range(2)] == [25, 25]
