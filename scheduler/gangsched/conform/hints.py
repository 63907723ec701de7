"""The hints of a node-plugin case: each change becomes its events, each event a question to all who registered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gangsched.conform.bench import Bench
from gangsched.conform.records import Record
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.objects import Node, Pod
from gangsched_queue.node_events import node_update_events
from gangsched_queue.pod_events import pod_update_events

_RESOURCES = {
    "Node": Resource.NODE,
    "AssignedPod": Resource.ASSIGNED_POD,
    "UnscheduledPod": Resource.UNSCHEDULED_POD,
    "TargetPod": Resource.TARGET_POD,
}


def hint_records(bench: Bench, changes: Iterable[Mapping[str, Any]]) -> list[list[Record]]:
    """Per change, per event derived from it: the answer of every plugin registered for the event."""
    return [_hint_record(bench, change) for change in changes]


def _hint_record(bench: Bench, change: Mapping[str, Any]) -> list[Record]:
    resource = _RESOURCES[change["object"]]
    decode = bench.node if resource is Resource.NODE else bench.pod_of
    old = decode(change["old"]) if "old" in change else None
    new = decode(change["new"]) if "new" in change else None
    asked = new if resource is Resource.TARGET_POD else bench.pod
    assert isinstance(asked, Pod)
    return [
        {"event": event.label, "plugins": _answers(bench, event, asked, old, new)}
        for event in _events(resource, old, new)
    ]


def _events(resource: Resource, old: Pod | Node | None, new: Pod | Node | None) -> Iterable[ClusterEvent]:
    if old is None:
        return (ClusterEvent(resource, Action.ADD),)
    if new is None:
        return (ClusterEvent(resource, Action.DELETE),)
    if isinstance(old, Node) and isinstance(new, Node):
        return node_update_events(old, new)
    assert isinstance(old, Pod)
    assert isinstance(new, Pod)
    return [ClusterEvent(resource, event.action) for event in pod_update_events(old, new)]


def _answers(
    bench: Bench, event: ClusterEvent, asked: Pod, old: Pod | Node | None, new: Pod | Node | None
) -> dict[str, str]:
    answers: dict[str, str] = {}
    for plugin, registrations in bench.framework.registrations.items():
        for registration in registrations:
            if registration.event.matches(event):
                answers[plugin] = _answer(registration, asked, old, new).value
    return answers


def _answer(registration: ClusterEventWithHint, asked: Pod, old: Pod | Node | None, new: Pod | Node | None) -> Hint:
    return Hint.QUEUE if registration.hint is None else registration.hint(asked, old, new)
