"""TopologyPlacementGenerator: one candidate placement per topology domain (spec podgroup-scheduling.md §6.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gangsched_framework.cycle_state import PodGroupCycleState
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Placement
from gangsched_framework.status import Status, error
from gangsched_plugins import names

_UNKNOWN = "cannot determine domain for already scheduled pods: "


class TopologyPlacementGenerator:
    """Splits the parent's nodes by the value of the group's topology key. Takes no arguments."""

    name = names.TOPOLOGY_PLACEMENT_GENERATOR

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle

    def generate_placements(
        self, state: PodGroupCycleState, group: PodGroupInfo, parent: Placement
    ) -> tuple[tuple[Placement, ...], Status | None]:
        """Placements named by label value, in byte order; the parent itself for a group without constraint.

        Pods of the subtree that already run pin their domain. Error when they stand in two or in none.
        O(nodes of the parent).
        """
        key = group.group.topology_key
        if not key:
            return (parent,), None
        domain = self._domain_of_running(group, key)
        if isinstance(domain, Status):
            return (), domain
        nodes = self._handle.snapshot.table.nodes
        rows_of: dict[str, list[int]] = {}
        for row in range(len(nodes)) if parent.rows is None else parent.rows:
            value = nodes[row].labels.get(key)
            if value is not None and (domain is None or value == domain):
                rows_of.setdefault(value, []).append(row)
        return tuple(Placement(value, tuple(rows_of[value])) for value in sorted(rows_of)), None

    def _domain_of_running(self, group: PodGroupInfo, key: str) -> str | Status | None:
        """The one domain of the subtree's scheduled pods, None when it has none."""
        first: str | None = None
        for pod in self._running(group):
            node = self._handle.snapshot.node(pod.node_name)
            if node is None:
                return error(f'{_UNKNOWN}nodeinfo not found for node name "{pod.node_name}"')
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
