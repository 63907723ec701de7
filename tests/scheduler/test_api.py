"""Engine.apply: what a manifest or an object does to what is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gangsched.api import Engine
from gangsched_framework.errors import GangschedError
from gangsched_framework.objects import ClusterObject
from gangsched_framework.testing import make_node, make_pod, make_pod_group

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


NO_GROUPS = {"GenericWorkload": False, "CompositePodGroup": False, "TopologyAwareWorkloadScheduling": False}


@pytest.mark.parametrize(
    "obj, what",
    [
        (make_pod("p").in_group("g").obj(), "pod default/p of group g"),
        (make_pod_group("g").min_count(2).obj(), "podgroup/default/g"),
    ],
)
def test_groups_are_refused_where_their_gate_is_off(obj: ClusterObject, what: str) -> None:
    engine = Engine(feature_gates=NO_GROUPS)
    text = f"apply: found {what}, allowed no groups while the feature gate GenericWorkload is off"
    with pytest.raises(GangschedError, match=f"^{text}$"):
        engine.apply(obj)
    engine.apply(make_node("n1").obj(), make_pod("alone").obj())


def test_a_member_whose_gate_is_off_may_be_applied_again() -> None:
    engine = Engine(feature_gates=NO_GROUPS)
    member = {**POD, "spec": {**POD["spec"], "schedulingGroup": {"podGroupName": "g"}}}  # type: ignore[dict-item]
    for _ in range(2):
        engine.apply(NODE, member)
        engine.run()
        assert engine.bindings == {"default/p": "n1"}


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

make: Any = Engine
OF_WRONG_TYPES: dict[str, tuple[Callable[[Any], object], str]] = {
    "a clock that goes by fractions": (
        lambda engine: engine.advance(0.1),
        "advance: found 0.1, allowed a whole number",
    ),
    "a clock that goes nowhere": (lambda engine: engine.advance(float("nan")), "advance: found nan, allowed a whole"),
    "a clock that goes by text": (lambda engine: engine.advance("5"), "advance: found '5', allowed a whole number"),
    "a core's clock that goes back": (lambda engine: engine.core.advance(-3), "advance: found -3, .* of nanoseconds"),
    "a core's clock that goes by fractions": (lambda engine: engine.core.advance(1.5), "advance: found 1.5, allowed"),
    "cycles as text": (lambda engine: engine.run(max_cycles="x"), "max_cycles: found 'x', allowed a whole number"),
    "fewer cycles than none": (lambda engine: engine.run(max_cycles=-1), "max_cycles: found -1, allowed a whole"),
    "half a cycle": (lambda engine: engine.run_ready(max_cycles=1.5), "max_cycles: found 1.5, allowed"),
    "a number as a pod": (lambda engine: engine.explain(3), "explain: found a int, allowed a pod or its name"),
    "no pod to explain": (lambda engine: engine.explain(None), "explain: found a NoneType, allowed"),
    "nothing to delete": (lambda engine: engine.delete(None), "delete: found a NoneType, allowed file names"),
    "a file to delete that is not there": (lambda engine: engine.delete("no.yaml"), "no.yaml: cannot be read"),
    "text as an object of the core": (lambda engine: engine.core.add("x"), "found a str, allowed a framework object"),
    "text to delete from the core": (lambda engine: engine.core.delete("x"), "found a str, allowed a framework object"),
    "a number as configuration": (lambda _: make(3), "config: found a int, allowed a file name"),
    "gates as text": (lambda _: make(feature_gates="A=true"), "feature gates: found a str, allowed a mapping"),
    "choices as text": (lambda _: make(group_scheduling="x"), "groupScheduling"),
}


@pytest.mark.parametrize("use, want", OF_WRONG_TYPES.values(), ids=OF_WRONG_TYPES)
def test_what_no_type_checker_saw_is_explained(use: Callable[[Any], object], want: str) -> None:
    with pytest.raises(GangschedError, match=want):
        use(Engine())


@pytest.mark.parametrize("use, want", MISUSES.values(), ids=MISUSES)
def test_a_misuse_is_explained(use: Callable[[Engine], object], want: str) -> None:
    with pytest.raises(GangschedError, match=want):
        use(Engine())


def test_delete_takes_what_apply_takes(tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    file.write_text(yaml.safe_dump_all([NODE, POD]))
    engine = Engine()
    for source in (str(file), file, POD, make_pod("p").obj()):
        engine.apply(str(file))
        engine.run()
        assert engine.bindings == {"default/p": "n1"}
        engine.delete(source)
        assert (engine.bindings, engine.core.pod("default/p")) == ({}, None)
        engine.core._check()
    engine.delete(POD)  # what is not there is ignored


def test_nothing_is_applied_when_one_of_the_sources_cannot_be_read() -> None:
    engine = Engine()
    with pytest.raises(GangschedError, match=r"no\.yaml"):
        engine.apply(make_node("n1").obj(), POD, "no.yaml", make_node("n2").obj())
    assert (engine.core.world.nodes, engine.core.world.pods) == ({}, {})
