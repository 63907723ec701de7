"""The stand-in for the API server: defaults, patches, deletions, and when writes become visible (README §3)."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest
from attrs import Factory, define, frozen

from gangsched.conform.api_server import SECOND, ApiServer, Event, Identity, NotFound, rfc3339
from gangsched.conform.errors import ConformError
from gangsched_framework.objects import Condition

HIGH = {"priorityClassName": "high"}
OTHER = {"priorityClassName": "?"}
POD = {"schedulerName": "default-scheduler"}
START = "2026-01-01T00:00:00Z"


@define
class World:
    """An API server, the clock it reads, and what became visible."""

    now: int = 0
    seen: list[Event] = Factory(list)
    api: ApiServer = Factory(lambda self: ApiServer(lambda: self.now, self.seen.append), takes_self=True)

    def create(self, kind: str, name: str, **fields: Any) -> dict[str, Any]:
        self.api.create({"kind": kind, "metadata": {"name": name}, **fields})
        return self.seen[-1].manifest

    @property
    def last(self) -> dict[str, Any]:
        return self.seen[-1].manifest


@frozen
class Default:
    name: str
    kind: str
    fields: dict[str, Any]
    want: dict[str, Any]


DEFAULTS = [
    Default(
        "a pod gets namespace, uid, times, scheduler, priority and phase",
        "Pod",
        {},
        {
            "metadata": {
                "name": "x",
                "namespace": "default",
                "uid": "Pod|default/x#1",
                "creationTimestamp": "2026-01-01T00:00:02Z",
                "generation": 1,
            },
            "spec": {"schedulerName": "default-scheduler", "priority": 0},
            "status": {"phase": "Pending"},
        },
    ),
    Default(
        "a pod on a node has started",
        "Pod",
        {"spec": {"nodeName": "n"}},
        {"status": {"phase": "Pending", "startTime": "2026-01-01T00:00:02.5Z"}},
    ),
    Default("what a pod says stays", "Pod", {"status": {"phase": "Running"}}, {"status": {"phase": "Running"}}),
    Default("the class gives a pod its priority", "Pod", {"spec": HIGH}, {"spec": {**POD, **HIGH, "priority": 100}}),
    Default("an unknown class gives 0", "Pod", {"spec": OTHER}, {"spec": {**POD, **OTHER, "priority": 0}}),
    Default("the class gives a group its priority", "PodGroup", {"spec": HIGH}, {"spec": {**HIGH, "priority": 100}}),
    Default(
        "a group's own priority wins",
        "PodGroup",
        {"spec": {**HIGH, "priority": 5}},
        {"spec": {**HIGH, "priority": 5}},
    ),
    Default("a group without class has none", "CompositePodGroup", {}, {"spec": {}}),
    Default(
        "a node has no namespace",
        "Node",
        {},
        {"metadata": {"name": "x", "uid": "Node|x#1", "creationTimestamp": "2026-01-01T00:00:02Z", "generation": 1}},
    ),
]


@pytest.mark.parametrize("case", DEFAULTS, ids=attrgetter("name"))
def test_created_objects_are_completed(case: Default) -> None:
    world = World(now=2 * SECOND + SECOND // 2)
    world.create("PriorityClass", "high", value=100)
    created = world.create(case.kind, "x", **case.fields)
    assert {key: created[key] for key in case.want} == case.want


def test_uids_count_the_creations_of_a_name() -> None:
    world = World()
    uids = []
    for _ in range(2):
        uids.append(world.create("Pod", "x")["metadata"]["uid"])
        world.api.delete("Pod", "default", "x", graceful=False)
    uids.append(world.create("PodGroup", "x")["metadata"]["uid"])
    assert uids == ["Pod|default/x#1", "Pod|default/x#2", "PodGroup|default/x#1"]


def test_a_patch_merges_and_only_a_changed_spec_raises_the_generation() -> None:
    world = World()
    world.create("PodGroup", "g", spec={"a": {"b": 1, "c": [1, 2]}})
    world.api.patch("PodGroup", None, "g", {"spec": {"a": {"b": None, "c": [3]}}})
    assert world.last["spec"] == {"a": {"c": [3]}}
    world.api.patch("PodGroup", "default", "g", {"metadata": {"labels": {"l": "1"}}})
    assert world.last["metadata"]["generation"] == 2
    world.api.patch("PodGroup", "default", "g", {})
    assert [event.verb for event in world.seen] == ["add", "update", "update", "update"]


def test_a_graceful_deletion_marks_and_a_plain_one_removes() -> None:
    world = World()
    world.create("Pod", "p")
    world.api.delete("Pod", "default", "p", graceful=True)
    assert (world.seen[-1].verb, world.last["metadata"]["deletionTimestamp"]) == ("update", START)
    world.api.delete("Pod", "default", "p", graceful=False)
    assert world.seen[-1].verb == "delete"
    assert list(world.api.objects("Pod")) == []


def test_writes_become_visible_pods_first_each_by_name_and_in_their_order() -> None:
    world = World()
    for kind, name in (("PodGroup", "a"), ("Pod", "z"), ("Pod", "b")):
        world.create(kind, name)
    del world.seen[:]
    group, late = Identity("PodGroup", "default", "a"), Identity("Pod", "default", "z")
    world.api.write_status(group, Condition("C", "True", "R", "", 0, 3), None)
    world.api.write_status(late, Condition("C", "False", "R", "one"), "node-1")
    world.api.bind("default/z", "Pod|default/z#1", "node-2")
    world.api.evict("default/b", "Pod|default/b#1", at_once=False)
    assert world.seen == []
    world.api.publish()
    assert [(e.identity.name, e.manifest.get("spec", {}).get("nodeName")) for e in world.seen] == [
        ("b", None),
        ("z", None),
        ("z", "node-2"),
        ("a", None),
    ]
    assert world.seen[1].manifest["status"]["nominatedNodeName"] == "node-1"
    assert [c["type"] for c in world.seen[2].manifest["status"]["conditions"]] == ["C", "PodScheduled"]
    world.api.publish()
    assert len(world.seen) == 4


def test_a_condition_is_replaced_by_the_next_of_its_type() -> None:
    world = World()
    world.create("Pod", "p")
    for message in ("one", "two"):
        world.api.write_status(Identity("Pod", "default", "p"), Condition("C", "False", "R", message), None)
    world.api.publish()
    assert [c["message"] for c in world.last["status"]["conditions"]] == ["two"]


def test_an_eviction_at_once_is_a_deletion() -> None:
    world = World()
    world.create("Pod", "p")
    world.api.evict("default/p", "Pod|default/p#1", at_once=True)
    world.api.publish()
    assert world.seen[-1].verb == "delete"


def test_writes_to_what_is_gone_change_nothing_but_a_binding_fails() -> None:
    world = World()
    world.create("Pod", "p")
    world.api.delete("Pod", "default", "p", graceful=False)
    world.create("Pod", "p")
    world.api.evict("default/p", "Pod|default/p#1", at_once=True)
    world.api.write_status(Identity("Pod", "default", "gone"), None, "n")
    with pytest.raises(NotFound, match='pods "p" not found'):
        world.api.bind("default/p", "Pod|default/p#1", "n")
    with pytest.raises(NotFound, match='pods "gone" not found'):
        world.api.bind("default/gone", "Pod|default/gone#1", "n")
    count = len(world.seen)
    world.api.publish()
    assert len(world.seen) == count


def test_steps_on_what_does_not_exist_are_refused() -> None:
    world = World()
    world.create("Node", "n")
    with pytest.raises(ConformError, match="Node n is created twice"):
        world.create("Node", "n")
    with pytest.raises(ConformError, match="Pod default/p does not exist"):
        world.api.patch("Pod", None, "p", {})
    with pytest.raises(ConformError, match="Pod default/p does not exist"):
        world.api.delete("Pod", None, "p", graceful=True)


@pytest.mark.parametrize(
    "nanoseconds, text",
    [
        (0, START),
        (90 * SECOND, "2026-01-01T00:01:30Z"),
        (1_250_000_000, "2026-01-01T00:00:01.25Z"),
        (1, "2026-01-01T00:00:00.000000001Z"),
    ],
)
def test_times_are_written_exactly(nanoseconds: int, text: str) -> None:
    assert rfc3339(nanoseconds) == text
