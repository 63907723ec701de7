"""What holds of every plugin that judges nodes: its scores' range, and how far away a change may matter to it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.objects import Node, Pod
from gangsched_framework.status import Code, Status
from gangsched_framework.testing import FakeHandle, make_snapshot
from gangsched_plugins.default_registry import default_registry
from tests.properties.objects import FEATURES, NODES, Variety, draw_node, draw_pod, draw_spec, some

REGISTRY = default_registry()
FILTERS = [name for name in REGISTRY if REGISTRY.implements(name, "filter")]
SCORERS = [name for name in REGISTRY if REGISTRY.implements(name, "score")]
LOCAL = [name for name in REGISTRY if getattr(REGISTRY.build(name, {}, FakeHandle()), "locality", "") == "node"]
EVERYTHING = Variety(frozenset(FEATURES))

seeds = st.integers(0, 2**32)


class Judge:
    """One plugin before one cluster."""

    def __init__(self, name: str, nodes: Sequence[Node], pods: Sequence[Pod]) -> None:
        self.handle = FakeHandle(make_snapshot(nodes, pods))
        self.plugin: Any = REGISTRY.build(name, {}, self.handle)
        self.nodes = list(self.handle.snapshot.nodes)

    def verdicts(self, pod: Pod) -> dict[str, tuple[Code, str] | str]:
        """What Filter says of each node, PreFilter's narrowing and refusal included."""
        state = CycleState()
        names, status = self.plugin.pre_filter(state, pod, self.nodes)
        if status is not None:
            return dict.fromkeys((node.name for node in self.nodes), _told(status))
        allowed = [node for node in self.nodes if names is None or node.name in names]
        told = dict.fromkeys((node.name for node in self.nodes), "excluded")
        return told | {node.name: _told(self.plugin.filter(state, pod, node)) for node in allowed}

    def scores(self, pod: Pod, normalized: bool) -> dict[str, int]:
        """Scores of all nodes; none when PreScore skips the pod."""
        state = CycleState()
        status = self.plugin.pre_score(state, pod, self.nodes) if hasattr(self.plugin, "pre_score") else None
        if status is not None:
            assert status.code is Code.SKIP
            return {}
        scores = [self.plugin.score(state, pod, node) for node in self.nodes]
        if normalized and hasattr(self.plugin, "normalize_score"):
            assert self.plugin.normalize_score(state, pod, self.nodes, scores) is None
        return {node.name: score for node, score in zip(self.nodes, scores, strict=True)}


def _told(status: Status | None) -> tuple[Code, str] | str:
    return "Ok" if status is None or status.ok else (status.code, status.message)


def _pod(rng: Random, name: str) -> Pod:
    return draw_pod(rng, EVERYTHING, ("default", name), name, draw_spec(rng, EVERYTHING), "", None)


def _world(rng: Random) -> tuple[list[Node], list[Pod], Pod]:
    """Nodes, pods on them, and one that looks for a place."""
    nodes = [draw_node(rng, EVERYTHING, name, 0) for name in NODES]
    running = [_pod(rng, f"r{n}").bound_to(some(rng, NODES)) for n in range(rng.randrange(12))]
    return nodes, running, _pod(rng, "incoming")


def test_what_the_properties_are_about() -> None:
    assert {"NodeResourcesFit", "TaintToleration", "NodeAffinity", "NodePorts", "NodeName"} < set(LOCAL)
    assert not {"PodTopologySpread", "InterPodAffinity"} & set(LOCAL)
    assert {"PodTopologySpread", "InterPodAffinity", "ImageLocality"} < set(SCORERS)


@pytest.mark.parametrize("name", SCORERS)
@given(seeds)
def test_scores_lie_between_0_and_100_once_they_are_normalised(name: str, seed: int) -> None:
    nodes, running, incoming = _world(Random(seed))
    assert all(0 <= score <= 100 for score in Judge(name, nodes, running).scores(incoming, normalized=True).values())


@pytest.mark.parametrize("name", [name for name in FILTERS if name in LOCAL])
@given(seeds)
def test_a_verdict_of_a_plugin_of_locality_node_is_the_same_whatever_becomes_of_another_node(
    name: str, seed: int
) -> None:
    rng = Random(seed)
    nodes, running, incoming = _world(rng)
    before = Judge(name, nodes, running).verdicts(incoming)
    other = some(rng, NODES)
    fate = [] if rng.randrange(4) == 0 else [draw_node(rng, EVERYTHING, other, 0)]
    moved = [_pod(rng, f"m{n}").bound_to(other) for n in range(rng.randrange(4))]
    kept = [node for node in nodes if node.name != other]
    after = Judge(name, kept + fate, [*(pod for pod in running if pod.node_name != other), *moved]).verdicts(incoming)
    del before[other]
    assert {node: told for node, told in after.items() if node != other} == before


@pytest.mark.parametrize("name", [name for name in SCORERS if name in LOCAL])
@given(seeds)
def test_a_raw_score_of_a_plugin_of_locality_node_is_the_same_whatever_pods_another_node_has(
    name: str, seed: int
) -> None:
    rng = Random(seed)
    nodes, running, incoming = _world(rng)
    before = Judge(name, nodes, running).scores(incoming, normalized=False)
    other = some(rng, NODES)
    moved = [_pod(rng, f"m{n}").bound_to(other) for n in range(rng.randrange(4))]
    after = Judge(name, nodes, [*(pod for pod in running if pod.node_name != other), *moved])
    scores = after.scores(incoming, normalized=False)
    assert {node: score for node, score in scores.items() if node != other} == {
        node: score for node, score in before.items() if node != other
    }
