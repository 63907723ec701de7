"""Engine.apply: what a manifest or an object does to what is known."""

from __future__ import annotations

from gangsched.api import Engine

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": {"cpu": "4", "pods": 9}}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
}


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
