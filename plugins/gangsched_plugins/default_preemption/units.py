"""Victim units: what is evicted together, and how important it is (spec podgroup-scheduling.md §5.3, §5.2.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from attrs import frozen

from gangsched_framework.hierarchy import MAX_PARENT_LINKS, Forest
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import COMPOSITE_POD_GROUP, POD, POD_GROUP, EntityKey, Group, Pod
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.status import Status, error

NOT_STARTED = 2**63 - 1
"""Start time of a pod without one: later than any other (conformance README §2)."""

_KIND_RANK = {COMPOSITE_POD_GROUP: 0, POD_GROUP: 1, POD: 2}


@frozen(eq=False)
class Unit:
    """Running pods that go together: one pod, or all scheduled pods below a group of disruption mode ``all``.

    ``pods`` are the objects the node table counts, each with its node.
    """

    key: EntityKey
    priority: int
    pods: tuple[tuple[Pod, NodeInfo], ...]

    @cached_property
    def rank(self) -> tuple[int, int, int, int, str]:
        """Sort key, most important first: priority, composite group before group before pod, size, age, name.

        A member that goes alone counts as a group of one (v1.37.2).
        """
        member = self.key.kind == POD and self.pods[0][0].group_key is not None
        kind = _KIND_RANK[POD_GROUP if member else self.key.kind]
        return (-self.priority, kind, -len(self.pods), self.started, self.key.full_name)

    @property
    def text(self) -> str:
        """For a trace."""
        size = "" if self.key.kind == POD else f", {len(self.pods)} pods"
        return f"{self.key} (priority {self.priority}{size})"

    @property
    def started(self) -> int:
        """When its oldest pod started, engine time."""
        return min((started(pod) for pod, _ in self.pods), default=NOT_STARTED)


def started(pod: Pod) -> int:
    return NOT_STARTED if pod.status.start_time is None else pod.status.start_time


def pods_of(units: Sequence[Unit]) -> tuple[Pod, ...]:
    """Every pod of the units, in their order."""
    return tuple(pod for unit in units for pod, _ in unit.pods)


def terminating_by_preemption(pod: Pod) -> bool:
    """Whether a preemption of ours is already taking the pod away (spec §5.8.2)."""
    condition = pod.condition("DisruptionTarget")
    return (
        pod.deleting
        and condition is not None
        and condition.status == "True"
        and condition.reason == "PreemptionByScheduler"
    )


class UnitFinder:
    """Finds the units of running pods. Lives for one preemption attempt and remembers the groups it has climbed."""

    def __init__(self, forest: Forest, snapshot: Snapshot) -> None:
        self._forest = forest
        self._snapshot = snapshot
        self._climbed: dict[EntityKey, tuple[Group | None, int | None]] = {}
        self._whole: dict[EntityKey, Unit] = {}

    def priority(self, pod: Pod) -> int:
        """Priority of the unit the pod belongs to: its group's, not its own."""
        _, priority = self._climb(pod)
        return pod.priority if priority is None else priority

    def on_node(self, node: NodeInfo, below: int) -> list[Unit]:
        """Units of priority less than ``below`` that have a pod on the node, most important first."""
        return sorted(self._units([node], below), key=lambda unit: unit.rank)

    def everywhere(self, below: int) -> list[Unit]:
        """Units of priority less than ``below`` in the whole cluster, most important first. O(running pods)."""
        return sorted(self._units(self._snapshot.all_nodes, below), key=lambda unit: unit.rank)

    def any_below(self, priority: int) -> bool:
        """Whether any unit can be of less priority: a unit has that of a running pod or of a group."""
        lowest = (self._snapshot.table.priorities.lowest, self._forest.priorities.lowest)
        return any(each is not None and each < priority for each in lowest)

    def _units(self, nodes: Sequence[NodeInfo], below: int) -> Iterator[Unit]:
        seen: dict[EntityKey, None] = {}
        for node in nodes:
            for pod in node.pods.values():
                group, priority = self._climb(pod)
                rank = pod.priority if priority is None else priority
                if rank >= below:
                    continue
                if group is None:
                    yield Unit(pod.entity_key, rank, ((pod, node),))
                elif group.key not in seen:
                    seen[group.key] = None
                    unit = self._unit_of(group, rank)
                    if unit.pods:  # else its pods have gone from the forest already, not from the held table
                        yield unit

    def _climb(self, pod: Pod) -> tuple[Group | None, int | None]:
        return (None, None) if pod.group_key is None else self.climb(pod.group_key)

    def climb(self, leaf: EntityKey) -> tuple[Group | None, int | None]:
        """The highest ancestor of mode ``all`` (None = pods go alone) and the priority that counts for a leaf's pods.

        That is the root's, or what the climb comes to when a link is missing (spec §5.3); None without an observed
        group. v1.37.2 looks at four groups of a chain only.
        """
        if leaf not in self._climbed:
            chain = self._forest.climb(leaf, MAX_PARENT_LINKS)
            whole = next((group for group in reversed(chain) if group.disruption_mode == "all"), None)
            self._climbed[leaf] = (whole, chain[-1].effective_priority if chain else None)
        return self._climbed[leaf]

    def any_lost(self) -> bool:
        """Whether pods stand on nodes that have gone."""
        return bool(self._snapshot.table.homeless.pods)

    def lost(self, nodes: Sequence[NodeInfo]) -> Status | None:
        """An Error when a unit with a pod on one of ``nodes`` has another on a node that has gone (v1.37.2)."""
        if not self.any_lost():
            return None
        homeless = self._snapshot.table.homeless  # not the forest: a pod that came since is in it already
        groups = dict.fromkeys(self._climb(pod)[0] for node in nodes for pod in node.pods.values())
        members = (pod for group in groups if group is not None for pod in self._members(group))
        name = next((pod.node_name for pod in members if pod.key in homeless.of(pod.node_name)), None)
        if name is None:
            return None
        problem = f'nodeinfo not found for node name "{name}"'
        return error(f'failed to get node info for node "{name}" from snapshot: {problem}')

    def _unit_of(self, group: Group, priority: int) -> Unit:
        unit = self._whole.get(group.key)
        if unit is None:
            unit = self._whole[group.key] = Unit(group.key, priority, tuple(self._pods_below(group)))
        return unit

    def _pods_below(self, group: Group) -> Iterator[tuple[Pod, NodeInfo]]:
        """Scheduled pods of the subtree that stand on a node, as the table holds them (spec §5.3: any node)."""
        for pod in self._members(group):
            node = self._snapshot.node(pod.node_name)
            counted = node.pods.get(pod.key) if node is not None else None
            if node is not None and counted is not None:
                yield counted, node

    def _members(self, group: Group) -> Iterator[Pod]:
        """Scheduled pods of the subtree, leaf by leaf. v1.37.2 looks at four levels downwards as upwards: in deeper
        trees a pod may be of two units, or of none but its own."""
        for leaf in self._forest.leaves_below(group.key, MAX_PARENT_LINKS):
            yield from sorted(self._forest.scheduled_pods(leaf).values(), key=lambda pod: pod.name)
