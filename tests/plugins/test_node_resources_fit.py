"""NodeResourcesFit, who fits: spec node-plugins.md §7.6.1 and §7.6.7, rows 70-100 and 116."""

from __future__ import annotations

from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.errors import ConfigurationError
from gangsched_framework.events import Hint
from gangsched_framework.testing import FakeHandle, NodeBuilder, PodBuilder, make_node, make_pod, make_snapshot
from gangsched_plugins.node_resources_fit import NodeResourcesFit
from gangsched_plugins.node_resources_fit.fitting import Demand, fits_empty, refusal
from tests.plugins.judge import Case, HintCase, check, check_hint, roomy, unheard_of

GPU, HUGE, KUBERNETES = "nvidia.com/gpu", "hugepages-2Mi", "x.kubernetes.io/foo"
POD = make_pod("p")
CPU_BUSY, CPU_NEVER = "U Insufficient cpu", "UU Insufficient cpu"
A, B = roomy("a"), make_node("b").capacity(cpu=2, memory="2Gi", pods=110)


def node(name: str, **more: int | str) -> NodeBuilder:
    """The roomy node with other or further amounts."""
    return make_node(name).capacity(**{"cpu": 4, "memory": "8Gi", "pods": 110, **more})


def running(**requests: int | str) -> PodBuilder:
    """A pod on node ``a``."""
    return make_pod("e").requests(**requests).node("a")


FILTER = [
    Case(
        name="a request of exactly what is free fits",
        pod=POD.requests(cpu=2, memory="2Gi"),
        nodes=[A, B],
        want={"a": "Ok", "b": "Ok"},
    ),
    Case(
        name="one milli-CPU more than there is never fits",
        pod=POD.requests(cpu="2001m"),
        nodes=[A, B],
        want={"a": "Ok", "b": CPU_NEVER},
    ),
    Case(
        name="a busy node is unschedulable, a small one unresolvable",
        pod=POD.requests(cpu=3),
        nodes=[A, B],
        pods=[running(cpu=2)],
        want={"a": CPU_BUSY, "b": CPU_NEVER},
    ),
    Case(
        name="memory alone is short",
        pod=POD.requests(memory="3Gi"),
        nodes=[node("b", memory="2Gi")],
        want={"b": "UU Insufficient memory"},
    ),
    Case(
        name="one unresolvable resource makes the whole node unresolvable",
        pod=POD.requests(cpu=3, memory="9Gi"),
        nodes=[A],
        pods=[running(cpu=2)],
        want={"a": "UU Insufficient cpu, Insufficient memory"},
    ),
    Case(
        name="a resource that is not asked for is not checked",
        pod=POD.requests(memory="1Gi"),
        nodes=[node("a", cpu=1)],
        pods=[running(cpu=5)],
        want={"a": "Ok"},
    ),
    Case(
        name="a pod without requests fits an over-requested node",
        pod=POD.container("img:1"),
        nodes=[node("a", cpu=1)],
        pods=[running(cpu=5)],
        want={"a": "Ok"},
    ),
    Case(
        name="ephemeral storage is short",
        pod=POD.requests(ephemeral_storage="2Gi"),
        nodes=[node("a", ephemeral_storage="1Gi"), roomy("b")],
        want={"a": "UU Insufficient ephemeral-storage", "b": "UU Insufficient ephemeral-storage"},
    ),
    Case(
        name="an extended resource is busy",
        pod=POD.requests(**{GPU: 1}),
        nodes=[node("a", **{GPU: 1})],
        pods=[running(**{GPU: 1})],
        want={"a": f"U Insufficient {GPU}"},
    ),
    Case(
        name="a scalar named with 0 is not checked",
        pod=POD.requests(**{GPU: 0}),
        nodes=[roomy("a")],
        pods=[running(**{GPU: 1})],
        want={"a": "Ok"},
    ),
    Case(
        name="hugepages",
        pod=POD.requests(cpu=1, memory="1Gi", **{HUGE: "64Mi"}),
        nodes=[node("a", **{HUGE: "32Mi"}), node("b", **{HUGE: "64Mi"}), roomy("c")],
        want={"a": f"UU Insufficient {HUGE}", "b": "Ok", "c": f"UU Insufficient {HUGE}"},
    ),
    Case(
        name="attachable volumes are a scalar resource",
        pod=POD.requests(**{"attachable-volumes-x": 2}),
        nodes=[node("a", **{"attachable-volumes-x": 1}), roomy("b")],
        want=dict.fromkeys("ab", "UU Insufficient attachable-volumes-x"),
    ),
    Case(
        name="an unknown native resource is ignored",
        pod=unheard_of(storage="5Gi", foo="3"),
        nodes=[A],
        want={"a": "Ok"},
    ),
    Case(
        name="a kubernetes.io resource is native but counts",
        pod=POD.requests(**{KUBERNETES: 1}),
        nodes=[A, node("b", **{KUBERNETES: 1})],
        want={"a": f"UU Insufficient {KUBERNETES}", "b": "Ok"},
    ),
    Case(
        name="an extended resource of illegal name is ignored",
        pod=POD.requests(**{"foo.com/bad name": 1}),
        nodes=[A],
        want={"a": "Ok"},
    ),
    Case(
        name="containers are summed",
        pod=POD.requests(cpu="1500m").container("img:1", cpu="600m"),
        nodes=[A, B],
        want={"a": "Ok", "b": CPU_NEVER},
    ),
    Case(
        name="an init container may be the maximum",
        pod=POD.requests(cpu=1).container("img:1", cpu=1).init_container(cpu=3),
        nodes=[A, B],
        want={"a": "Ok", "b": CPU_NEVER},
    ),
    Case(
        name="sidecars run beside everything after them",
        pod=POD.requests(cpu="100m")
        .init_container(sidecar=True, cpu=1)
        .init_container(cpu=1)
        .init_container(sidecar=True, cpu=2),
        nodes=[A, B],
        want={"a": "Ok", "b": CPU_NEVER},
    ),
    Case(
        name="overhead counts without any request",
        pod=POD.container("img:1").overhead(cpu=3),
        nodes=[A, B],
        want={"a": "Ok", "b": CPU_NEVER},
    ),
    Case(
        name="the pod level wins over containers",
        pod=POD.requests(cpu=1).pod_level(cpu=3),
        nodes=[A, B],
        want={"a": "Ok", "b": CPU_NEVER},
    ),
    Case(
        name="overhead comes on top of the pod level",
        pod=POD.container("img:1").pod_level(cpu="1900m").overhead(cpu="200m"),
        nodes=[A, B],
        want={"a": "Ok", "b": CPU_NEVER},
    ),
    Case(
        name="the pod level may ask for hugepages",
        pod=POD.container("img:1").pod_level(cpu=1, **{HUGE: "64Mi"}),
        nodes=[node("a", **{HUGE: "32Mi"}), node("b", **{HUGE: "64Mi"})],
        want={"a": f"UU Insufficient {HUGE}", "b": "Ok"},
    ),
    Case(
        name="a running pod counts with its pod level",
        pod=POD.requests(cpu=2),
        nodes=[A, B],
        pods=[running(cpu=1).pod_level(cpu=3)],
        want={"a": CPU_BUSY, "b": "Ok"},
    ),
    Case(
        name="a fraction of a byte needs a whole one",
        pod=POD.requests(memory="1500m"),
        nodes=[node("a", memory=1), node("b", memory=2)],
        want={"a": "UU Insufficient memory", "b": "Ok"},
    ),
    Case(
        name="quantities are summed before they are rounded",
        pod=POD.requests(cpu="500u").container("img:1", cpu="500u"),
        nodes=[node("a", cpu="1m"), node("b", cpu="2m")],
        want={"a": "Ok", "b": "Ok"},
    ),
    Case(
        name="a fraction of a milli-CPU of a node rounds up",
        pod=POD.requests(cpu="1001m"),
        nodes=[node("a", cpu="1.0005")],
        want={"a": "Ok"},
    ),
    Case(
        name="hugepages cannot be ignored",
        pod=POD.requests(**{HUGE: "2Mi"}),
        nodes=[A],
        args={"ignoredResources": [HUGE]},
        want={"a": f"UU Insufficient {HUGE}"},
    ),
    Case(
        name="an extended resource can",
        pod=POD.requests(cpu=1, **{GPU: 2}),
        nodes=[A],
        args={"ignoredResources": [GPU]},
        want={"a": "Ok"},
    ),
    Case(
        name="a group of extended resources can, a kubernetes.io one cannot",
        pod=POD.requests(**{GPU: 2, KUBERNETES: 1}),
        nodes=[A],
        args={"ignoredResourceGroups": ["nvidia.com", "x.kubernetes.io"]},
        want={"a": f"UU Insufficient {KUBERNETES}"},
    ),
    Case(
        name="what a resize has not given back yet counts",
        pod=POD.requests(cpu=2),
        nodes=[A],
        pods=[running(cpu=1).allocated(cpu=3)],
        want={"a": CPU_BUSY},
    ),
    Case(
        name="an infeasible resize counts what is allocated",
        pod=POD.requests(cpu=3),
        nodes=[A],
        pods=[running(cpu=4).allocated(cpu=1).condition("PodResizePending", "True", "Infeasible")],
        want={"a": "Ok"},
    ),
    Case(
        name="a full node has too many pods, whatever they ask",
        pod=POD,
        nodes=[node("a", pods=1)],
        pods=[running()],
        want={"a": "U Too many pods"},
    ),
    Case(
        name="a node without a number of pods takes none",
        pod=POD,
        nodes=[make_node("a").capacity(cpu=4)],
        want={"a": "U Too many pods"},
    ),
    Case(
        name="every reason is told",
        pod=POD.requests(cpu=1, memory="1Gi", ephemeral_storage="1Gi", **{GPU: 1}),
        nodes=[make_node("a")],
        want={
            "a": "UU Too many pods, Insufficient cpu, Insufficient memory, Insufficient ephemeral-storage, "
            f"Insufficient {GPU}"
        },
    ),
]
SMALL, BIG = node("a", cpu=1, **{GPU: 1}), node("a", **{GPU: 1})
WANTS = POD.requests(cpu=2, **{GPU: 1})
GROWS = "Node/UpdateNodeAllocatable"
SHRINKS = "AssignedPod/UpdatePodScaleDown"
HINTS = [
    HintCase(name="the node grows enough", event=GROWS, pod=WANTS, old=SMALL, new=BIG, want=Hint.QUEUE),
    HintCase(
        name="the node grows too little",
        event=GROWS,
        pod=WANTS,
        old=SMALL,
        new=node("a", cpu="1500m", **{GPU: 1}),
        want=Hint.SKIP,
    ),
    HintCase(
        name="an unrelated resource grows",
        event=GROWS,
        pod=WANTS,
        old=BIG,
        new=node("a", **{GPU: 1, "x.io/y": 2}),
        want=Hint.SKIP,
    ),
    HintCase(name="it shrinks", event=GROWS, pod=WANTS, old=BIG, new=node("a", cpu=3, **{GPU: 1}), want=Hint.SKIP),
    HintCase(
        name="the scalar grows",
        event=GROWS,
        pod=WANTS,
        old=BIG,
        new=node("a", **{GPU: 2}),
        want=Hint.QUEUE,
    ),
    HintCase(
        name="room for more pods",
        event=GROWS,
        pod=WANTS,
        old=BIG,
        new=node("a", pods=200, **{GPU: 1}),
        want=Hint.QUEUE,
    ),
    HintCase(name="a node that fits", event="Node/Add", pod=WANTS, new=BIG, want=Hint.QUEUE),
    HintCase(name="a node too small", event="Node/Add", pod=WANTS, new=SMALL, want=Hint.SKIP),
    HintCase(
        name="a node without pods", event="Node/Add", pod=WANTS, new=node("a", pods=0, **{GPU: 1}), want=Hint.SKIP
    ),
    HintCase(name="a pod goes", event="AssignedPod/Delete", pod=WANTS, old=running(cpu=1), want=Hint.QUEUE),
    HintCase(
        name="a nominated pod goes", event="AssignedPod/Delete", pod=WANTS, old=POD.nominated("a"), want=Hint.QUEUE
    ),
    HintCase(name="a pod that was nowhere goes", event="AssignedPod/Delete", pod=WANTS, old=POD, want=Hint.SKIP),
    HintCase(
        name="a pod gives back what is asked for",
        event=SHRINKS,
        pod=WANTS,
        old=running(cpu=2),
        new=running(cpu=1),
        want=Hint.QUEUE,
    ),
    HintCase(
        name="a pod gives back something else",
        event=SHRINKS,
        pod=WANTS,
        old=running(memory="2Gi"),
        new=running(memory="1Gi"),
        want=Hint.SKIP,
    ),
    HintCase(
        name="one that has a nomination and no node frees nothing",
        event=SHRINKS,
        pod=WANTS,
        old=POD.requests(cpu=2).nominated("a"),
        new=POD.requests(cpu=1).nominated("a"),
        want=Hint.SKIP,
    ),
    HintCase(
        name="the pod itself asks less",
        event="TargetPod/UpdatePodScaleDown",
        pod=WANTS,
        old=WANTS,
        new=POD.requests(cpu=1),
        want=Hint.QUEUE,
    ),
]


@pytest.mark.parametrize("case", FILTER, ids=attrgetter("name"))
def test_verdicts(case: Case) -> None:
    check(NodeResourcesFit, case)


@pytest.mark.parametrize("case", HINTS, ids=attrgetter("name"))
def test_hints(case: HintCase) -> None:
    check_hint(NodeResourcesFit, case)


AMOUNTS = st.integers(0, 5)


@given(asked=st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS), has=st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS))
def test_fitting_an_empty_node_is_the_filter_on_an_empty_node(
    asked: tuple[int, int, int, int], has: tuple[int, int, int, int]
) -> None:
    names = ("cpu", "memory", "ephemeral_storage", GPU)
    pod = POD.requests(**dict(zip(names, asked, strict=True))).obj()
    empty = make_node("n").capacity(pods=1, **dict(zip(names, has, strict=True))).obj()
    info = make_snapshot([empty]).nodes[0]
    demand = Demand.of(pod.incoming.requested)
    assert fits_empty(demand, empty) is (refusal(demand, info) is None)


REFUSED_ARGUMENTS = [
    (
        {"ignoredResources": ["bad name"], "ignoredResourceGroups": ["a/b"]},
        "[ignoredResources[0]: Invalid value: \"bad name\": name part must consist of alphanumeric characters, '-', "
        "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
        "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), "
        "ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/']",
    ),
    (
        {"scoringStrategy": {"resources": [{"name": "cpu", "weight": 101}]}},
        "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range [1, 100]",
    ),
    ({"scoringStrategy": {"type": "Best"}}, "scoring strategy Best is not supported"),
    (
        {"scoringStrategy": {"type": "RequestedToCapacityRatio"}},
        "scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be specified",
    ),
    (
        {"scoringStrategy": {"type": "MostAllocated", "requestedToCapacityRatio": {"shape": []}}},
        "scoringStrategy.requestedToCapacityRatio: Forbidden: only for type RequestedToCapacityRatio",
    ),
    (
        {
            "scoringStrategy": {
                "type": "RequestedToCapacityRatio",
                "requestedToCapacityRatio": {
                    "shape": [{"utilization": 5, "score": 11}, {"utilization": 5, "score": 1}, {"utilization": 101}]
                },
            }
        },
        "[scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: 11: not in valid range [0, 10], "
        "scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 5: utilization values must be "
        "sorted in increasing order, "
        "scoringStrategy.requestedToCapacityRatio.shape[2].utilization: Invalid value: 101: not in valid range "
        "[0, 100]]",
    ),
]


@pytest.mark.parametrize("args, want", REFUSED_ARGUMENTS, ids=[want[:60] for _, want in REFUSED_ARGUMENTS])
def test_bad_arguments_are_refused_when_the_plugin_is_built(args: dict[str, object], want: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        NodeResourcesFit(args, FakeHandle())
    assert str(refused.value) == want
