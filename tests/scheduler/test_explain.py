"""``Engine.explain``: every node's verdict and scores for one pod, and nothing changed by asking."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched.api import Engine
from gangsched.conform.bench import Bench
from gangsched.engine.explain import Explanation, explain
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.errors import GangschedError
from gangsched_framework.objects import ClusterObject, Node, Pod
from gangsched_framework.pod_spec import NodeAffinity, NodeSelectorTerm, Requirement
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group, make_pods

SHARED = Path(__file__).parents[3] / "shared" / "conformance" / "node-plugins" / "cases"


def small(name: str, cpu: int = 4) -> Node:
    return make_node(name).capacity(cpu=cpu, memory="8Gi", pods=110).label("kubernetes.io/hostname", name).obj()


def engine_of(*objects: ClusterObject, config: Mapping[str, Any] | None = None) -> Engine:
    engine = Engine(config)
    engine.apply(*objects)
    return engine


def config(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **more}


# --- verdicts and scores ----------------------------------------------------------------------------------------------


def test_feasible_nodes_come_first_by_falling_total_then_by_name() -> None:
    nodes = (small("a", 2), small("b", 8), small("c", 8), small("d", 1), small("e", 1))
    explanation = engine_of(*nodes, make_pod("p").requests(cpu=2).obj()).explain("default/p")
    assert [node.node for node in explanation.nodes] == ["b", "c", "a", "d", "e"]
    totals = [node.total for node in explanation.nodes]
    assert totals[0] == totals[1] != totals[2]
    assert totals[3:] == [None, None]
    assert explanation.chosen == "b"


def test_the_total_is_the_sum_of_the_weighted_scores() -> None:
    tainted = make_node("b").capacity(cpu=4, memory="8Gi", pods=110).taint("k", effect="PreferNoSchedule").obj()
    explanation = engine_of(small("a"), tainted, make_pod("p").requests(cpu=1).obj()).explain("p")
    first, second = explanation.nodes
    for node in explanation.nodes:
        assert node.total == sum(score.weighted for score in node.scores)
    taints = [{s.plugin: (s.raw, s.normalized, s.weight) for s in n.scores}["TaintToleration"] for n in (first, second)]
    assert (first.node, second.node) == ("a", "b")
    assert taints == [(0, 100, 3), (1, 0, 3)]


def test_a_refused_node_names_the_first_refusing_plugin_only() -> None:
    node = make_node("n").capacity(cpu=1, pods=110).unschedulable().taint("k").obj()
    (refused,) = engine_of(node, make_pod("p").requests(cpu=2).obj()).explain("p").nodes
    assert (refused.plugin, refused.message) == ("NodeUnschedulable", "node(s) were unschedulable")
    assert (refused.code.value, refused.total, refused.scores) == ("UnschedulableAndUnresolvable", None, ())


def test_what_prefilter_excludes_is_refused_by_the_plugin_that_narrowed() -> None:
    term = NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", ("b",)),))
    pod = make_pod("p").obj()
    pod = evolve(pod, spec=evolve(pod.spec, node_affinity=NodeAffinity(required=(term,))))
    explanation = engine_of(small("a"), small("b"), pod).explain("p")
    assert explanation.chosen == "b"
    assert [(n.node, n.plugin) for n in explanation.nodes] == [("b", ""), ("a", "NodeAffinity")]
    assert explanation.nodes[1].message == "node(s) didn't satisfy plugin(s) [NodeAffinity]"


def test_a_pod_that_fits_nowhere_shows_the_message_of_an_attempt() -> None:
    explanation = engine_of(small("a"), small("b"), make_pod("p").requests(cpu=9).obj()).explain("p")
    assert explanation.chosen == ""
    assert explanation.message == "0/2 nodes are available: 2 Insufficient cpu."


def test_without_nodes_and_without_a_profile_the_message_says_so() -> None:
    engine = engine_of(make_pod("p").obj())
    assert engine.explain("p").message == "no nodes available to schedule pods"
    engine.apply(small("a"), make_pod("q").scheduler("other").obj())
    explanation = engine.explain("q")
    assert (explanation.message, explanation.nodes) == ("no profile for scheduler other", ())


def test_with_sampling_the_nodes_an_attempt_would_not_come_to_are_feasible_without_a_score() -> None:
    engine = engine_of(
        *(small(f"n{i:03}") for i in range(150)), make_pod("p").obj(), config=config(percentageOfNodesToScore=5)
    )
    nodes = engine.explain("p").nodes
    assert all(node.feasible for node in nodes)
    assert [node.total is not None for node in nodes] == [True] * 100 + [False] * 50
    assert [node.node for node in nodes[100:]] == [f"n{i:03}" for i in range(100, 150)]


def test_a_pod_with_a_node_is_looked_at_as_if_it_were_not_there() -> None:
    engine = engine_of(small("a", 2), make_pod("p").requests(cpu=2).obj())
    engine.run()
    explanation = engine.explain("p")
    assert (explanation.node, explanation.chosen, explanation.waiting) == ("a", "a", None)
    assert engine.bindings == {"default/p": "a"}


def test_an_unknown_pod_is_a_users_error_with_a_suggestion() -> None:
    engine = engine_of(make_pod("train-0").obj())
    with pytest.raises(GangschedError, match='pod default/tran-0 is not known; did you mean "default/train-0"'):
        engine.explain("tran-0")


# --- why it waits -----------------------------------------------------------------------------------------------------


@frozen
class Wait:
    name: str
    objects: tuple[ClusterObject, ...]
    pod: str
    entity: str
    container: str
    gated_by: str = ""
    rejected_by: tuple[str, ...] = ()
    message: str = ""
    cycles: int | None = None
    reason: str = ""


FIT = "0/1 nodes are available: 1 Insufficient cpu."
WAITS = [
    Wait("one that was never tried is active", (make_pod("p").obj(),), "p", "pod/default/p", "active", cycles=0),
    Wait(
        "one with a gate is parked",
        (make_pod("p").gate("x").obj(),),
        "p",
        "pod/default/p",
        "parked",
        "SchedulingGates",
        ("SchedulingGates",),
    ),
    Wait(
        "one that fits nowhere is parked, with its rejectors and the last message",
        (make_pod("p").requests(cpu=9).obj(),),
        "p",
        "pod/default/p",
        "parked",
        rejected_by=("NodeResourcesFit",),
        message=f"{FIT} preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    ),
    Wait(
        "a member without quorum is gated with its group",
        (make_pod_group("g").min_count(2).obj(), make_pod("p").in_group("g").obj()),
        "p",
        "podgroup/default/g",
        "parked",
        "GangScheduling",
        ("GangScheduling",),
    ),
    Wait(
        "a member whose parent group is not there is incomplete",
        (make_pod_group("g").min_count(1).parent("root").obj(), make_pod("p").in_group("g").obj()),
        "p",
        "podgroup/default/g",
        "incomplete",
        reason="compositepodgroup/default/root is not there",
    ),
    Wait(
        "a member of a group that is not there is incomplete",
        (make_pod("p").in_group("tran").obj(),),
        "p",
        "podgroup/default/tran",
        "incomplete",
        reason="podgroup/default/tran is not there",
    ),
    Wait(
        "a misspelt group is told from the one that was meant",
        (make_pod_group("train").min_count(1).obj(), make_pod("p").in_group("trian").obj()),
        "p",
        "podgroup/default/trian",
        "incomplete",
        reason='podgroup/default/trian is not there; did you mean "train"?',
    ),
    Wait(
        "a group that stands in another namespace is named",
        (make_pod_group("train", "ml").min_count(1).obj(), make_pod("p").in_group("train").obj()),
        "p",
        "podgroup/default/train",
        "incomplete",
        reason="podgroup/default/train is not there; there is podgroup/ml/train",
    ),
    Wait(
        "a composite group that a pod names is told",
        (make_composite_pod_group("root").min_group_count(1).obj(), make_pod("p").in_group("root").obj()),
        "p",
        "podgroup/default/root",
        "incomplete",
        reason="podgroup/default/root is not there; there is compositepodgroup/default/root",
    ),
    Wait(
        "what is nearly called so, but of another kind or namespace, was not meant",
        (
            make_composite_pod_group("train").min_group_count(1).obj(),
            make_pod_group("train", "ml").min_count(1).obj(),
            make_pod("p").in_group("trian").obj(),
        ),
        "p",
        "podgroup/default/trian",
        "incomplete",
        reason="podgroup/default/trian is not there",
    ),
    Wait(
        "a misspelt parent is told from the one that was meant",
        (
            make_composite_pod_group("root").min_group_count(1).obj(),
            make_pod_group("g").min_count(1).parent("rooot").obj(),
            make_pod("p").in_group("g").obj(),
        ),
        "p",
        "podgroup/default/g",
        "incomplete",
        reason='compositepodgroup/default/rooot is not there; did you mean "root"?',
    ),
    Wait(
        "a member of a circle of groups is incomplete",
        (
            make_composite_pod_group("a").min_group_count(1).parent("b").obj(),
            make_composite_pod_group("b").min_group_count(1).parent("a").obj(),
            make_pod_group("g").min_count(1).parent("b").obj(),
            make_pod("p").in_group("g").obj(),
        ),
        "p",
        "podgroup/default/g",
        "incomplete",
        reason="compositepodgroup/default/b is its own ancestor",
    ),
    Wait(
        "one that is going stands in no queue",
        (evolve(make_pod("p").obj(), deletion_timestamp=1),),
        "p",
        "pod/default/p",
        "",
        reason="is being deleted",
    ),
    Wait(
        "one that is going stands in no queue, though its group does",
        (
            make_pod_group("g").min_count(2).obj(),
            evolve(make_pod("p").in_group("g").obj(), deletion_timestamp=1),
            make_pod("q").in_group("g").obj(),
        ),
        "p",
        "podgroup/default/g",
        "",
        message="pod group is unschedulable",
        reason="is being deleted",
    ),
    Wait(
        "one of another scheduler stands in no queue",
        (make_pod("p").scheduler("other").obj(),),
        "p",
        "pod/default/p",
        "",
        reason="no profile for scheduler other; a configuration (-c) may bring one",
    ),
    Wait(
        "a member of a refused tree waits in backoff as part of the root",
        (
            make_composite_pod_group("root").min_group_count(1).obj(),
            make_pod_group("g").min_count(1).parent("root").obj(),
            make_pod("p").in_group("g").requests(cpu=9).obj(),
        ),
        "p",
        "compositepodgroup/default/root",
        "backoff",
        rejected_by=("NodeResourcesFit",),
        message=FIT,
        cycles=1,
    ),
]


@pytest.mark.parametrize("case", WAITS, ids=attrgetter("name"))
def test_why_it_waits(case: Wait) -> None:
    engine = engine_of(small("n"), *case.objects)
    engine.run(case.cycles)
    explanation = engine.explain(case.pod)
    waiting = explanation.waiting
    assert waiting is not None
    assert (explanation.entity, waiting.container) == (case.entity, case.container)
    assert waiting.gated_by or waiting.reason == case.reason
    assert (waiting.gated_by, waiting.rejected_by) == (case.gated_by, case.rejected_by)
    assert waiting.message.startswith(case.message)
    assert bool(waiting.message) == bool(case.message)
    assert (waiting.backoff_left is not None) == (case.container == "backoff")


def test_the_backoff_left_ends_when_the_entity_leaves_backoff() -> None:
    pods = make_pods(2, "p").in_group("g").requests(cpu=9).obj()
    engine = engine_of(small("n"), make_pod_group("g").min_count(2).obj(), *pods)
    engine.run(1)
    engine.core.advance(300_000_000)
    waiting = engine.explain("p-0").waiting
    assert waiting is not None
    assert waiting.backoff_left is not None
    engine.core.advance(waiting.backoff_left - 1)
    assert engine.queue_state().backoff
    engine.core.advance(1)
    assert engine.queue_state().active


# --- columns ----------------------------------------------------------------------------------------------------------


def nominated(engine: Engine) -> None:
    engine.apply(make_pod("other").nominated("n").obj())


PLAIN = make_pod("p").requests(cpu=1).label("app", "x").obj()
BY_NODES: dict[str, tuple[Pod, Mapping[str, Any] | None, Any, str]] = {
    "a plain pod is placed by columns": (PLAIN, None, None, ""),
    "not all nodes are scored": (PLAIN, config(percentageOfNodesToScore=50), None, "percentageOfNodesToScore"),
    "some pod is nominated": (PLAIN, None, nominated, ""),
    "the pod itself is nominated": (make_pod("p").nominated("n").obj(), None, None, ""),
}


@pytest.mark.parametrize("pod, configuration, arrange, want", BY_NODES.values(), ids=BY_NODES)
def test_it_says_why_a_pod_is_not_placed_by_columns(
    pod: Pod, configuration: Mapping[str, Any] | None, arrange: Any, want: str
) -> None:
    engine = engine_of(small("n"), pod, config=configuration)
    if arrange is not None:
        arrange(engine)
    answer = engine.explain("p").by_nodes
    assert answer.startswith(want)
    assert bool(answer) == bool(want)
    assert bool(answer) == _needs_nodes(engine, pod)


def test_with_upstreams_node_order_no_pod_is_placed_by_columns() -> None:
    engine = Engine(node_order="upstream")
    engine.apply(small("n"), PLAIN)
    assert engine.explain("p").by_nodes == "the scheduler works without columns"


def _needs_nodes(engine: Engine, pod: Pod) -> bool:
    """What the algorithm itself does with the pod."""
    core = engine.core
    core.snapshot.refresh()
    framework, search = core.frameworks[pod.scheduler_name], core.algorithm.columns
    if search is None or not framework.all_nodes:
        return True
    if not core.snapshot.all_nodes:  # nothing to look at in either way
        return False
    return search.find(framework, CycleState(), pod, prepare=False) is None


# --- asking changes nothing -------------------------------------------------------------------------------------------

SHAPES = (
    make_pod("x").requests(cpu=1),
    make_pod("x").requests(cpu=3).label("app", "a"),
    make_pod("x").requests(cpu=1).host_port(80),
    make_pod("x").requests(cpu=1).label("app", "a").anti_affinity("kubernetes.io/hostname", {"app": "a"}),
    make_pod("x").requests(cpu=2).label("app", "b").spread("zone", {"app": "b"}),
    make_pod("x").requests(cpu=2).priority(5),
)


@st.composite
def worlds(draw: st.DrawFn) -> list[ClusterObject]:
    nodes = [
        make_node(f"n{i}")
        .capacity(cpu=draw(st.integers(1, 4)), memory="8Gi", pods=4)
        .label("zone", draw(st.sampled_from("ab")))
        .label("kubernetes.io/hostname", f"n{i}")
        .obj()
        for i in range(draw(st.integers(0, 4)))
    ]
    objects: list[ClusterObject] = [*nodes]
    priority = draw(st.sampled_from([0, 5]))
    for i, shape in enumerate(draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=6))):
        pod = shape.obj()
        group = draw(st.sampled_from(["", "g"]))
        named = _named(evolve(pod, priority=priority) if group else pod, f"p{i}", group)
        objects.append(evolve(named, deletion_timestamp=1) if draw(st.integers(0, 9)) == 9 else named)
    for i, on in enumerate(draw(st.lists(st.sampled_from(nodes), max_size=4)) if nodes else ()):
        objects.append(make_pod(f"r{i}").requests(cpu=1).node(on.name).obj())
    gang = make_pod_group("g").min_count(2).priority(priority)
    return [*objects, (gang.topology("zone") if draw(st.booleans()) else gang).obj()]


def _named(pod: Pod, name: str, group: str) -> Pod:
    return Pod(
        "default", name, f"Pod|default/{name}#1", pod.spec, labels=pod.labels, priority=pod.priority, group_name=group
    )


def _state(engine: Engine) -> object:
    """Everything a cycle could read, in its order."""
    table = engine.core.snapshot.table
    return (
        {r: list(column) for r, column in table.used.items()},
        list(table.nonzero_cpu),
        [list(pods) for pods in table.pods],
        {row: list(pods) for row, pods in table.affinity_pods.items()},
        {row: list(ports) for row, ports in table.ports.items()},
        engine.queue_state(),
        engine.core.algorithm.next_start,
        engine.core.nominator.any(),
    )


@given(worlds(), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_an_engine_that_is_asked_between_cycles_does_the_same_as_one_that_is_not(
    objects: list[ClusterObject], sampling: bool, asynchronous: bool
) -> None:
    configuration = config(percentageOfNodesToScore=40) if sampling else None
    gates = {"SchedulerAsyncPreemption": asynchronous}
    asked, silent = (Engine(configuration, feature_gates=gates) for _ in range(2))
    for engine in (asked, silent):
        engine.apply(*objects)
    for _ in range(12):
        asked.core.snapshot.refresh()
        before = _state(asked)
        explanations = [asked.explain(pod) for pod in list(asked.core.world.pods.values())]
        assert _state(asked) == before
        asked.core._check()
        for explanation in explanations:
            _sound(asked, explanation)
        mine, other = asked.step(), silent.step()
        assert (mine and mine.decisions) == (other and other.decisions)
        if mine is None:
            break
    assert asked.queue_state() == silent.queue_state()


def _sound(engine: Engine, explanation: Explanation) -> None:
    """The nodes are all nodes, refusals are signed, and the explanation agrees with an attempt of the algorithm."""
    assert sorted(node.node for node in explanation.nodes) == [node.name for node in engine.core.snapshot.all_nodes]
    for node in explanation.nodes:
        assert node.feasible == (not node.plugin)
        assert node.total is None or node.total == sum(score.weighted for score in node.scores)
    pod = engine.core.pod(explanation.pod)
    assert pod is not None
    if not explanation.node:
        assert bool(explanation.by_nodes) == _needs_nodes(engine, pod)
    best = explanation.nodes[0] if explanation.nodes else None
    assert explanation.chosen == (best.node if best is not None and best.feasible else "")


# --- the real scheduler's recordings ----------------------------------------------------------------------------------


def recorded() -> Iterator[Any]:
    for file in sorted(SHARED.glob("*.json")) if SHARED.is_dir() else ():
        for case in json.loads(file.read_text())["cases"]:
            if "filter" in case.get("want", {}) and "repeat" not in case:
                yield pytest.param(case, id=case["name"])


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recordings are not here")
@pytest.mark.parametrize("case", list(recorded()))
def test_verdicts_and_scores_are_those_of_the_real_scheduler(case: Mapping[str, Any]) -> None:
    bench = Bench(case)
    explained = {node.node: node for node in explain(bench.core, bench.pod).nodes}
    want = case["want"]
    for verdict in want["filter"]:
        node = explained[verdict["node"]]
        if verdict["code"] == "Excluded":
            assert not node.feasible
        else:
            assert (node.code.value, node.plugin) == (verdict["code"], verdict.get("plugin", ""))
            assert sorted(node.message.split(", ")) == sorted(verdict.get("reasons", [""]))
    for scored in want.get("scores", ()):
        node = explained[scored["node"]]
        assert {s.plugin: s.raw for s in node.scores} == scored.get("raw", {})
        assert {s.plugin: s.normalized for s in node.scores} == scored.get("normalized", {})
        if scored.get("raw"):  # a profile without score plugins takes the first feasible node
            assert node.total == scored["total"]
