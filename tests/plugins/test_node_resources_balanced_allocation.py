"""NodeResourcesBalancedAllocation: spec node-plugins.md §7.7, rows 117-124."""

from __future__ import annotations

from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.testing import FakeHandle, NodeBuilder, PodBuilder, make_node, make_pod, make_snapshot
from gangsched_plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from tests.plugins.judge import Case, check, roomy

GPU = "nvidia.com/gpu"
POD = make_pod("p")


def node(name: str, **more: int | str) -> NodeBuilder:
    return make_node(name).capacity(**{"cpu": 4, "memory": "8Gi", "pods": 110, **more})


def running(on: str, name: str = "e", **requests: int | str) -> PodBuilder:
    return make_pod(name).requests(**requests).node(on)


def compared(*names: str) -> dict[str, object]:
    return {"resources": [{"name": name} for name in names]}


NODES = [roomy("a"), node("b", memory="16Gi")]
CASES = [
    Case(name="a pod without requests skips", pod=POD.container("img:1"), nodes=NODES, want_scores="Skip"),
    Case(name="an explicit 0 is no request", pod=POD.requests(cpu=0, memory=0), nodes=NODES, want_scores="Skip"),
    Case(
        name="a pod that asks only for what is not compared skips",
        pod=POD.requests(**{GPU: 1}),
        nodes=NODES,
        want_scores="Skip",
    ),
    Case(name="cpu alone worsens the balance", pod=POD.requests(cpu=2), nodes=NODES, want_scores={"a": 62, "b": 62}),
    Case(
        name="memory beside a pod of cpu improves it",
        pod=POD.requests(memory="4Gi"),
        nodes=NODES,
        pods=[running("a", cpu=2)],
        want_scores={"a": 87, "b": 68},
    ),
    Case(
        name="a used fraction is at most 1",
        pod=POD.requests(memory="1Gi"),
        nodes=[node("a", cpu=1), roomy("b")],
        pods=[running("a", cpu=3)],
        want_scores={"a": 78, "b": 71},
    ),
    Case(
        name="three resources are compared by standard deviation",
        pod=POD.requests(cpu=1, memory="1Gi", **{GPU: 1}),
        nodes=[node("a", **{GPU: 4}), node("b", **{GPU: 1})],
        args=compared("cpu", "memory", GPU),
        want_scores={"a": 72, "b": 55},
    ),
    Case(
        name="one resource is always balanced",
        pod=POD.requests(cpu=1),
        nodes=NODES,
        args=compared("cpu"),
        want_scores={"a": 75, "b": 75},
    ),
    Case(
        name="balances are truncated before they are compared",
        pod=POD.requests(cpu="333m", memory="777Mi"),
        nodes=[node("a", cpu="3100m", memory="9001Mi"), node("b", cpu=7, memory="5003Mi")],
        pods=[running("a", cpu="501m", memory="1201Mi"), running("b", "f", cpu="1234m", memory="99Mi")],
        want_scores={"a": 74, "b": 77},
    ),
    Case(
        name="the pod level counts, unlike in Fit's score",
        pod=POD.container("img:1").pod_level(cpu=2),
        nodes=NODES,
        want_scores={"a": 62, "b": 62},
    ),
    Case(
        name="a scalar that is not asked for is left out",
        pod=POD.requests(cpu=2),
        nodes=[node("a", **{GPU: 4})],
        args=compared("cpu", "memory", GPU),
        want_scores={"a": 62},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_scores(case: Case) -> None:
    check(NodeResourcesBalancedAllocation, case)


AMOUNTS = st.integers(0, 2**40)


@given(capacity=st.lists(AMOUNTS, min_size=3, max_size=3), used=st.lists(AMOUNTS, min_size=3, max_size=3), more=AMOUNTS)
def test_scores_stay_between_50_and_100(capacity: list[int], used: list[int], more: int) -> None:
    names = ("cpu", "memory", GPU)
    snapshot = make_snapshot(
        [make_node("n").capacity(pods=9, **dict(zip(names, capacity, strict=True))).obj()],
        [make_pod("e").requests(**dict(zip(names, used, strict=True))).node("n").obj()],
    )
    plugin = NodeResourcesBalancedAllocation(compared(*names), FakeHandle(snapshot))
    score = plugin.score(CycleState(), POD.requests(cpu=more, **{GPU: 1}).obj(), snapshot.nodes[0])
    assert isinstance(score, int)
    assert 50 <= score <= 100
