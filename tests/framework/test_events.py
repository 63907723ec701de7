"""Cluster events and registrations (spec podgroup-scheduling.md §2.7, node-plugins.md §7)."""

from __future__ import annotations

import json
from operator import attrgetter
from pathlib import Path

import pytest
from attrs import frozen

from gangsched_framework.events import WILDCARD_EVENT, Action, ClusterEvent, Resource

FACTS = Path(__file__).parents[2].parent / "shared/conformance/node-plugins/facts.json"


@frozen
class Label:
    action: Action
    want: str
    resource: Resource = Resource.NODE


LABELS = [
    Label(Action.ADD, "Node/Add"),
    Label(Action.ADD | Action.DELETE, "Node/Add|Delete"),
    Label(Action.UPDATE_NODE_TAINT | Action.ADD, "Node/Add|UpdateNodeTaint"),
    Label(Action.UPDATE, "Node/Update"),
    Label(Action.UPDATE_OTHER, "TargetPod/Update", Resource.TARGET_POD),
    Label(Action.ADD | Action.UPDATE, "resource.k8s.io/DeviceClass/Add|Update", Resource.DEVICE_CLASS),
    Label(Action.ALL, "resource.k8s.io/ResourceClaim/All", Resource.RESOURCE_CLAIM),
    Label(
        Action.UPDATE_POD_TOLERATION | Action.UPDATE_POD_LABEL,
        "TargetPod/UpdatePodLabel|UpdatePodToleration",
        Resource.TARGET_POD,
    ),
    Label(Action.ADD, "scheduling.k8s.io/CompositePodGroup/Add", Resource.COMPOSITE_POD_GROUP),
]


@pytest.mark.parametrize("label", LABELS, ids=attrgetter("want"))
def test_an_event_prints_as_in_the_real_scheduler(label: Label) -> None:
    assert ClusterEvent(label.resource, label.action).label == label.want


def test_every_single_action_has_a_label_of_its_own() -> None:
    labels = [ClusterEvent(Resource.NODE, action).label for action in Action if action.bit_count() == 1]
    assert len(set(labels)) == len(labels) == 15
    assert Action.ALL == Action.ADD | Action.DELETE | Action.UPDATE


def parse(label: str) -> ClusterEvent:
    """An event from the text of the recordings."""
    resource, _, actions = label.removesuffix(" (always Queue)").rpartition("/")
    bits = {ClusterEvent(Resource.NODE, a).label.removeprefix("Node/"): a for a in Action if a.bit_count() == 1}
    bits |= {"Update": Action.UPDATE, "All": Action.ALL}
    total = Action(0)
    for action in actions.split("|"):
        total |= bits[action]
    return ClusterEvent(Resource(resource), total)


@pytest.mark.conformance
@pytest.mark.skipif(not FACTS.exists(), reason="the recordings are not here")
def test_every_recorded_registration_can_be_said_and_prints_back() -> None:
    facts = json.loads(FACTS.read_text())
    labels = [label for gates in facts.values() for events in gates["events"].values() for label in events]
    assert len(labels) > 50
    for label in labels:
        assert parse(label).label == label.removesuffix(" (always Queue)")


@frozen
class Match:
    name: str
    registered: ClusterEvent
    happened: ClusterEvent
    want: bool


def event(resource: Resource, action: Action) -> ClusterEvent:
    return ClusterEvent(resource, action)


MATCHES = [
    Match("the same action", event(Resource.NODE, Action.ADD), event(Resource.NODE, Action.ADD), True),
    Match(
        "one of several actions",
        event(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
        event(Resource.NODE, Action.UPDATE_NODE_LABEL),
        True,
    ),
    Match(
        "another action",
        event(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
        event(Resource.NODE, Action.UPDATE_NODE_TAINT),
        False,
    ),
    Match("another resource", event(Resource.NODE, Action.ADD), event(Resource.POD_GROUP, Action.ADD), False),
    Match(
        "the three names of a pod are three resources",
        event(Resource.ASSIGNED_POD, Action.ALL),
        event(Resource.TARGET_POD, Action.UPDATE_POD_LABEL),
        False,
    ),
    Match(
        "all updates cover a specific one",
        event(Resource.TARGET_POD, Action.UPDATE),
        event(Resource.TARGET_POD, Action.UPDATE_POD_LABEL),
        True,
    ),
    Match(
        "all updates cover an update of nothing relevant",
        event(Resource.TARGET_POD, Action.UPDATE),
        event(Resource.TARGET_POD, Action.UPDATE_OTHER),
        True,
    ),
    Match(
        "a specific update does not cover an update of nothing relevant",
        event(Resource.TARGET_POD, Action.UPDATE_POD_LABEL),
        event(Resource.TARGET_POD, Action.UPDATE_OTHER),
        False,
    ),
    Match(
        "all updates cover neither addition nor deletion",
        event(Resource.NODE, Action.UPDATE),
        event(Resource.NODE, Action.DELETE),
        False,
    ),
]


@pytest.mark.parametrize("match", MATCHES, ids=attrgetter("name"))
def test_a_registration_covers_an_event(match: Match) -> None:
    assert match.registered.matches(match.happened) is match.want


def test_the_wildcard_is_marked_as_such() -> None:
    assert WILDCARD_EVENT.wildcard
    assert not event(Resource.NODE, Action.ALL).wildcard
