"""Plugins that concern no pod without claims: spec node-plugins.md §1.1, §7.13, §8.1, §8.2, §8.4."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest
from attrs import evolve

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import Hint
from gangsched_framework.objects import Pod
from gangsched_framework.testing import FakeHandle, make_node, make_pod, make_snapshot
from gangsched_plugins.pass_throughs import (
    DynamicResources,
    NodeDeclaredFeatures,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
)
from tests.plugins.judge import HintCase, check_hint, verdict

ALL: list[type[Any]] = [
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    DynamicResources,
    NodeDeclaredFeatures,
]
POD = make_pod("p")


def with_volume_claim() -> Pod:
    pod = POD.obj()
    return evolve(pod, spec=evolve(pod.spec, claims=("data",)))


def with_resource_claim() -> Pod:
    pod = POD.obj()
    return evolve(pod, spec=evolve(pod.spec, resource_claims=("gpu",)))


@pytest.mark.parametrize("plugin_class", ALL, ids=attrgetter("name"))
def test_an_ordinary_pod_skips_and_every_node_will_do(plugin_class: type[Any]) -> None:
    plugin = plugin_class({}, FakeHandle())
    names, status = plugin.pre_filter(CycleState(), POD.obj(), [])
    assert (names, verdict(status)) == (None, "Skip")
    node = make_snapshot([make_node("n").obj()]).nodes[0]
    assert plugin.filter(CycleState(), POD.obj(), node) is None


@pytest.mark.parametrize("plugin_class", [VolumeBinding, DynamicResources], ids=attrgetter("name"))
def test_scores_are_0_and_nothing_is_reserved(plugin_class: type[Any]) -> None:
    plugin, state, pod = plugin_class({}, FakeHandle()), CycleState(), POD.obj()
    node = make_snapshot([make_node("n").obj()]).nodes[0]
    assert plugin.score(state, pod, node) == 0
    assert plugin.reserve(state, pod, "n") is None
    assert plugin.pre_bind(state, pod, "n") is None
    plugin.unreserve(state, pod, "n")


def test_zero_scores_of_dynamic_resources_stay_zero_when_normalised() -> None:
    scores = [0, 0]
    assert DynamicResources({}, FakeHandle()).normalize_score(CycleState(), POD.obj(), [], scores) is None
    assert scores == [0, 0]


def test_a_volume_claim_is_refused_by_volume_binding() -> None:
    pod = with_volume_claim()
    answers = {p.name: verdict(p({}, FakeHandle()).pre_filter(CycleState(), pod, [])[1]) for p in ALL}
    assert answers == {
        "VolumeRestrictions": "Skip",
        "NodeVolumeLimits": "Ok",
        "VolumeBinding": "UU pod has unbound immediate PersistentVolumeClaims",
        "VolumeZone": "Ok",
        "DynamicResources": "Skip",
        "NodeDeclaredFeatures": "Skip",
    }


def test_a_resource_claim_is_refused_by_name() -> None:
    plugin, pod = DynamicResources({}, FakeHandle()), with_resource_claim()
    want = 'UU could not find ResourceClaim "default/gpu"'
    assert verdict(plugin.pre_enqueue(pod)) == want
    assert verdict(plugin.pre_filter(CycleState(), pod, [])[1]) == want
    assert verdict(plugin.pre_enqueue(POD.obj())) == "Ok"


def test_post_filter_helps_no_pod() -> None:
    plugin, state = DynamicResources({}, FakeHandle()), CycleState()
    plugin.pre_filter(state, POD.obj(), [])
    result, status = plugin.post_filter(state.clone(), POD.obj(), {})
    assert (result, verdict(status)) == (None, "U")


def test_post_filter_is_an_error_when_prefilter_ended_before_this_plugin() -> None:
    result, status = DynamicResources({}, FakeHandle()).post_filter(CycleState(), POD.obj(), {})
    assert (result, verdict(status)) == (None, "E not found")


NODE = make_node("n")
HINTS: list[tuple[type[Any], str, Any, Hint | None]] = [
    (VolumeBinding, "Node/Add", NODE, Hint.QUEUE),
    (VolumeBinding, "Node/UpdateNodeTaint", NODE, None),
    (VolumeRestrictions, "Node/Add", NODE, Hint.QUEUE),
    (VolumeRestrictions, "AssignedPod/Delete", POD, Hint.SKIP),
    (NodeVolumeLimits, "AssignedPod/Delete", POD, Hint.SKIP),
    (VolumeZone, "Node/UpdateNodeLabel", NODE, Hint.QUEUE),
    (DynamicResources, "Node/UpdateNodeAllocatable", NODE, Hint.QUEUE),
    (NodeDeclaredFeatures, "Node/Add", NODE, Hint.QUEUE),
    (NodeDeclaredFeatures, "TargetPod/Update", POD, Hint.SKIP),
]


@pytest.mark.parametrize("plugin_class, event, subject, want", HINTS, ids=[f"{p.name} {e}" for p, e, *_ in HINTS])
def test_hints(plugin_class: type[Any], event: str, subject: Any, want: Hint | None) -> None:
    gone = event.endswith("Delete")
    old, new = (subject, None) if gone else (None, subject)
    check_hint(plugin_class, HintCase(name=event, event=event, pod=POD, old=old, new=new, want=want))


def test_declared_features_hint_only_when_they_change() -> None:
    plugin = NodeDeclaredFeatures({}, FakeHandle())
    hint = next(r.hint for r in plugin.events_to_register() if r.event.label.startswith("Node/"))
    assert hint is not None
    old, pod = NODE.obj(), POD.obj()
    assert hint(pod, old, evolve(old, labels={"x": "1"})) is Hint.SKIP
    assert hint(pod, old, evolve(old, declared_features=("GuaranteedQoS",))) is Hint.QUEUE
