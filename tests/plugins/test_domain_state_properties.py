"""Counts kept in step with pods added and removed in thought equal a fresh count (node-plugins.md §7.9.7, §7.10.2)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.objects import Node, Pod
from gangsched_framework.status import Status
from gangsched_framework.testing import FakeHandle, PodBuilder, make_node, make_pod, make_snapshot
from gangsched_plugins.inter_pod_affinity import InterPodAffinity
from gangsched_plugins.pod_topology_spread import PodTopologySpread

HOST, ZONE = "kubernetes.io/hostname", "zone"
KEYS, APPS, NAMESPACES = (HOST, ZONE), ("red", "blue"), ("default", "other")
NODES: list[Node] = [
    make_node("a").label(HOST, "a").label(ZONE, "1").obj(),
    make_node("b").label(HOST, "b").label(ZONE, "1").obj(),
    make_node("c").label(HOST, "c").label(ZONE, "2").obj(),
    make_node("d").label(ZONE, "2").obj(),
    make_node("e").label(HOST, "e").obj(),
]

Term = tuple[str, str, str]
terms = st.lists(st.tuples(st.sampled_from(["near", "far"]), st.sampled_from(KEYS), st.sampled_from(APPS)), max_size=2)
spreads = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(APPS), st.integers(1, 2)), min_size=1, max_size=2)
others = st.tuples(st.sampled_from(NAMESPACES), st.sampled_from(APPS), terms, st.integers(0, len(NODES) - 1))
steps = st.lists(st.integers(0, 9), max_size=12)


def _with_terms(builder: PodBuilder, wanted: Sequence[Term]) -> PodBuilder:
    for kind, key, app in wanted:
        builder = builder.affinity(key, {"app": app}) if kind == "near" else builder.anti_affinity(key, {"app": app})
    return builder


def _others(drawn: Sequence[tuple[str, str, Sequence[Term], int]]) -> list[tuple[Pod, str]]:
    return [
        (_with_terms(make_pod(f"p{i}", namespace).label("app", app), wanted).obj(), NODES[row].name)
        for i, (namespace, app, wanted, row) in enumerate(drawn)
    ]


Plugin = PodTopologySpread | InterPodAffinity


def _check(
    plugin: Plugin, handle: FakeHandle, pod: Pod, pods: Sequence[tuple[Pod, str]], toggled: Sequence[int]
) -> None:
    """Toggle pods on and off their nodes; the state in step must refuse the same nodes as one made anew."""
    snapshot, state = handle.snapshot, CycleState()
    _, status = plugin.pre_filter(state, pod, snapshot.nodes)
    if status is not None:
        return  # skipped: the framework calls neither Filter nor the extensions
    original = state.clone()
    before = _verdicts(plugin, handle, state, pod)
    placed: dict[str, None] = {}
    for number in toggled:
        other, name = pods[number % len(pods)]
        node = snapshot.node(name)
        assert node is not None
        if other.key in placed:
            snapshot.remove(other, name)
            assert plugin.remove_pod(state, pod, other, node) is None
            del placed[other.key]
        else:
            snapshot.assume(other, name)
            assert plugin.add_pod(state, pod, other, node) is None
            placed[other.key] = None
        fresh = CycleState()
        _, status = plugin.pre_filter(fresh, pod, snapshot.nodes)
        want = {} if status is not None else _verdicts(plugin, handle, fresh, pod)
        assert {name: v for name, v in _verdicts(plugin, handle, state, pod).items() if v} == {
            name: v for name, v in want.items() if v
        }
    snapshot.rollback(0)
    assert _verdicts(plugin, handle, original, pod) == before


def _verdicts(plugin: Plugin, handle: FakeHandle, state: CycleState, pod: Pod) -> dict[str, Status | None]:
    return {node.name: plugin.filter(state, pod, node) for node in handle.snapshot.nodes}


@settings(deadline=None)
@given(st.sampled_from(APPS), spreads, st.lists(others, min_size=1, max_size=6), st.lists(others, max_size=4), steps)
def test_spread(app, wanted, drawn, running, toggled) -> None:  # type: ignore[no-untyped-def]
    builder = make_pod("incoming").label("app", app)
    for key, counted, skew in wanted:
        builder = builder.spread(key, {"app": counted}, max_skew=skew)
    here = [evolve(pod.bound_to(name), name=f"running-{pod.name}") for pod, name in _others(running)]
    handle = FakeHandle(make_snapshot(NODES, here))
    _check(PodTopologySpread({}, handle), handle, builder.obj(), _others(drawn), toggled)


@settings(deadline=None)
@given(st.sampled_from(APPS), terms, st.lists(others, min_size=1, max_size=6), st.booleans(), steps)
def test_affinity(app, wanted, drawn, fast_path, toggled) -> None:  # type: ignore[no-untyped-def]
    pod = _with_terms(make_pod("incoming").label("app", app), wanted).obj()
    handle = FakeHandle(make_snapshot(NODES), feature_gates={"InterPodAffinityHostnameFastPath": fast_path})
    _check(InterPodAffinity({}, handle), handle, pod, _others(drawn), toggled)


def test_the_minimum_rises_when_the_emptiest_domain_fills() -> None:
    pod = make_pod("incoming").label("app", "red").spread(ZONE, {"app": "red"}).obj()
    handle = FakeHandle(make_snapshot(NODES, [make_pod("r").label("app", "red").node("a").obj()]))
    plugin, state = PodTopologySpread({}, handle), CycleState()
    plugin.pre_filter(state, pod, handle.snapshot.nodes)
    a, c = handle.snapshot.node("a"), handle.snapshot.node("c")
    assert a is not None
    assert c is not None
    assert plugin.filter(state, pod, a) is not None
    plugin.add_pod(state, pod, make_pod("x").label("app", "red").obj(), c)
    assert plugin.filter(state, pod, a) is None


def test_a_pod_that_leaves_makes_the_next_one_the_first_of_its_group_again() -> None:
    pod = make_pod("incoming").label("app", "red").affinity(ZONE, {"app": "red"}).obj()
    handle = FakeHandle(make_snapshot(NODES))
    plugin, state = InterPodAffinity({}, handle), CycleState()
    plugin.pre_filter(state, pod, handle.snapshot.nodes)
    a, c = handle.snapshot.node("a"), handle.snapshot.node("c")
    assert a is not None
    assert c is not None
    plugin.add_pod(state, pod, make_pod("x").label("app", "red").obj(), a)
    assert plugin.filter(state, pod, c) is not None
    plugin.remove_pod(state, pod, make_pod("x").label("app", "red").obj(), a)
    assert plugin.filter(state, pod, c) is None
