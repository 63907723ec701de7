"""TopologyPlacementGenerator: one candidate placement per topology domain (spec podgroup-scheduling.md §6.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gangsched_framework.cycle_state import PodGroupCycleState
from gangsched_framework.handle import Handle
from gangsched_framework.hierarchy import MAX_PARENT_LINKS
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.placement import Placement
from gangsched_framework.status import Status, error
from gangsched_plugins import names

_UNKNOWN = "cannot determine domain for already scheduled pods: "
_MAX_KEPT = 1024

Placements = tuple[Placement, ...]


class TopologyPlacementGenerator:
    """Splits the parent's nodes by the value of the group's topology key. Takes no arguments.

    The same parent and key give the same placements, the objects too, until a node changes.
    """

    name = names.TOPOLOGY_PLACEMENT_GENERATOR
    keeps_to_placement = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle
        self._kept: dict[tuple[Placement, str], Placements] = {}
        self._classes: NodeClasses | None = None

    def generate_placements(
        self, state: PodGroupCycleState, group: PodGroupInfo, parent: Placement
    ) -> tuple[Placements, Status | None]:
        """Placements named by label value, in byte order; the parent itself for a group without constraint.

        Pods of the subtree that already run pin their domain. Error when they stand in two or in none.
        """
        key = group.group.topology_key
        if not key:
            return (parent,), None
        domain = self._domain_of_running(group, key)
        if isinstance(domain, Status):
            return (), domain
        placements = self._split(parent, key)
        if not placements and self._handle.tracing:
            within = f" in placement {parent.name}" if parent.rows is not None else ""
            self._handle.trace(group.key, f"no node{within} carries the label {key}")
        if domain is not None:
            placements = tuple(placement for placement in placements if placement.name == domain)
        return placements, None

    def _split(self, parent: Placement, key: str) -> Placements:
        """One placement for each value of the label among the parent's nodes. O(nodes) once, then O(1)."""
        classes = self._handle.snapshot.table.classes
        if self._classes is not classes or len(self._kept) >= _MAX_KEPT:
            self._classes = classes
            self._kept.clear()
        placements = self._kept.get((parent, key))
        if placements is None:
            known = classes.by_labels((key,))
            rows = np.arange(len(known.ids)) if parent.rows is None else parent.array
            ids = known.ids[rows]
            found = []
            for number in np.unique(ids).tolist():
                value = known.nodes[number].labels.get(key)
                if value is not None:
                    found.append(Placement(value, tuple(rows[ids == number].tolist())))
            placements = self._kept[parent, key] = tuple(sorted(found, key=lambda placement: placement.name))
        return placements

    def _domain_of_running(self, group: PodGroupInfo, key: str) -> str | Status | None:
        """The one domain of the subtree's scheduled pods, None when it has none."""
        deep = _too_deep(group, MAX_PARENT_LINKS)
        if deep is not None:
            return error(f"exceeded maximum hierarchy depth at {deep}")
        first: str | None = None
        for pod in self._running(group):
            node = self._handle.snapshot.node(pod.node_name)
            if node is None:
                return error(
                    f'{_UNKNOWN}getting node for pod {pod.key}: nodeinfo not found for node name "{pod.node_name}"'
                )
            value = node.labels.get(key)
            if value is None:
                return error(f"{_UNKNOWN}no topology domain found for pod {pod.key}")
            if first is not None and value != first:
                return error(f"{_UNKNOWN}more than 1 domain found for pod group: {first}, {value}")
            first = value
        return first

    def _running(self, group: PodGroupInfo) -> Iterator[Pod]:
        """Scheduled pods in tree order, then by name: the error names the first two domains of this order."""
        for leaf in group.leaves():
            yield from sorted(self._handle.forest.scheduled_pods(leaf.key).values(), key=lambda pod: pod.name)


def _too_deep(group: PodGroupInfo, levels: int) -> EntityKey | None:
    """The first group that stands ``levels`` below: v1.37.2 looks for running pods no further down (spec §6.1)."""
    if not levels:
        return group.key
    below = (_too_deep(child, levels - 1) for child in group.children)
    return next((key for key in below if key is not None), None)
