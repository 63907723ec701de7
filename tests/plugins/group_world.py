"""Short forms for tests of group plugins: a handle over groups, pods and nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangsched_framework.hierarchy import Forest
from gangsched_framework.objects import CompositePodGroup, Group, Node, Pod, PodGroup
from gangsched_framework.resources import Resources
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.testing import FakeHandle, make_snapshot

GROUP_GATES = ("GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup")


def handle_over(
    groups: Iterable[Group] = (),
    pods: Iterable[Pod] = (),
    nodes: Iterable[Node] = (),
    gates: Iterable[str] = GROUP_GATES,
) -> FakeHandle:
    """The gates named are on; without CompositePodGroup every PodGroup is a root."""
    enabled = dict.fromkeys(gates, True)
    snapshot = make_snapshot(nodes, pods, groups)
    if "CompositePodGroup" not in enabled:
        forest = Forest(composite=False)
        for group in snapshot.forest.groups():
            forest.add_group(group)
        for pod in pods:
            forest.add_pod(pod)
        snapshot = Snapshot(snapshot.table, forest)
    return FakeHandle(snapshot, feature_gates=enabled)


def pod(name: str, group: str = "", node: str = "", **fields: Any) -> Pod:
    return Pod("default", name, name, group_name=group, node_name=node, **fields)


def leaf(name: str, minimum: int | None = None, parent: str = "", **fields: Any) -> PodGroup:
    return PodGroup("default", name, name, minimum=minimum, parent_name=parent, **fields)


def inner(name: str, minimum: int | None = None, parent: str = "", **fields: Any) -> CompositePodGroup:
    return CompositePodGroup("default", name, name, minimum=minimum, parent_name=parent, **fields)


def node(name: str, **labels: str) -> Node:
    return Node(name, labels=labels, allocatable=Resources(4000, 1 << 34, 0, 110))
