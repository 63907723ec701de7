"""Engine.apply: what a manifest or an object does to what is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gangsched.api import Engine
from gangsched_framework.errors import GangschedError
from gangsched_framework.testing import make_node

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": {"cpu": "4", "pods": 9}}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
}


def test_the_gate_of_topology_constraints_counts_as_on_where_a_profile_names_their_plugin() -> None:
    off = {"CompositePodGroup": False, "TopologyAwareWorkloadScheduling": False}
    plugins = {"multiPoint": {"enabled": [{"name": "TopologyPlacementGenerator"}]}}
    document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    named = {**document, "profiles": [{"plugins": plugins}]}
    assert not Engine(feature_gates=off).gates["TopologyAwareWorkloadScheduling"]
    assert Engine(named, feature_gates=off).gates["TopologyAwareWorkloadScheduling"]


def test_a_manifest_applied_twice_updates_the_object_and_leaves_it_bound() -> None:
    engine = Engine()
    engine.apply(NODE, POD)
    engine.run()

    engine.apply({**POD, "metadata": {"name": "p", "labels": {"a": "b"}}})

    pod = engine.core.pod("default/p")
    assert pod is not None
    assert (pod.node_name, dict(pod.labels), engine.bindings) == ("n1", {"a": "b"}, {"default/p": "n1"})
    engine.core._check()


def test_a_waiting_pod_whose_manifest_asks_less_is_tried_again() -> None:
    engine = Engine()
    big = {**POD, "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "8"}}}]}}
    engine.apply(NODE, big)
    engine.run()
    assert engine.bindings == {}

    engine.apply(POD)
    engine.run()

    assert engine.bindings == {"default/p": "n1"}


MISUSES: dict[str, tuple[Callable[[Engine], object], str]] = {
    "a builder without .obj()": (lambda engine: engine.apply(make_node("n")), r"found a NodeBuilder, .*its \.obj\(\)"),  # type: ignore[arg-type]
    "a list of manifests": (lambda engine: engine.apply([NODE]), "apply: found a list, allowed file names"),  # type: ignore[arg-type]
    "a clock that goes back": (lambda engine: engine.advance(-1), "advance: found -1"),
    "an unknown pod": (lambda engine: engine.explain("p"), "pod default/p is not known"),
    "an answer to a binding nobody asked for": (lambda engine: engine.core.bound("default/p"), "p is not being bound"),
    "a failure of a binding nobody asked for": (
        lambda engine: engine.core.bind_failed("default/p", "no", uid="u"),
        "p is not being bound",
    ),
    "an unknown order of nodes": (lambda _: Engine(node_order="random"), "node_order: found 'random', allowed name"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("use, want", MISUSES.values(), ids=MISUSES)
def test_a_misuse_is_explained(use: Callable[[Engine], object], want: str) -> None:
    with pytest.raises(GangschedError, match=want):
        use(Engine())
