"""Every container of the queue side by side, and where a member belongs (spec §2.1)."""

from __future__ import annotations

from attrs import define

from gangsched_framework.handle import Clock
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_queue.entities import QueuedPodGroupInfo
from gangsched_queue.in_flight import InFlight
from gangsched_queue.incomplete_pods import IncompletePods
from gangsched_queue.nominator import Nominator
from gangsched_queue.pending_pods import PendingPods
from gangsched_queue.registrations import Registrations
from gangsched_queue.waiting import Place, WaitingEntities


@define(eq=False, kw_only=True)
class Containers:
    """What the operations work on. ``last_popped``: the one entity the scheduling loop holds (spec §2.5.3)."""

    forest: Forest
    clock: Clock
    nominator: Nominator
    registrations: Registrations
    waiting: WaitingEntities
    incomplete: IncompletePods
    pending: PendingPods
    in_flight: InFlight
    last_popped: EntityKey | None = None

    def find_tree(self, root: EntityKey) -> tuple[QueuedPodGroupInfo, Place] | None:
        """The waiting tree of a root, and where it is."""
        found = self.waiting.find(root)
        if found is None:
            return None
        entity, place = found
        assert isinstance(entity, QueuedPodGroupInfo)
        return entity, place

    def place_member(self, leaf: EntityKey, info: QueuedPodInfo, *, attempted: bool = False) -> None:
        """Put a member that is nowhere to where its root is (spec §2.11 Add 3). ``attempted``: it has just failed."""
        root = self.forest.root(leaf)
        if root is None:
            self.incomplete.add(leaf, info)
        elif root == self.last_popped:
            self.pending.add(leaf, info, attempted=attempted)
        else:
            self.join_tree(root, leaf, info)

    def join_tree(self, root: EntityKey, leaf: EntityKey, info: QueuedPodInfo) -> None:
        """Add a member to the entity of its root, a new one if need be."""
        found = self.find_tree(root)
        if found is not None:
            entity, place = found
            entity.insert(leaf, info)
            self.waiting.requeue(entity, place.way_back, place)
            return
        group = self.forest.group(root)
        assert group is not None
        entity = QueuedPodGroupInfo(key=root, group=group, timestamp=info.timestamp)
        entity.insert(leaf, info)
        self.waiting.enter(entity)

    def readd(self, leaves: list[EntityKey]) -> None:
        """Place the incomplete pods of some leaves anew: oldest first, then by name (conformance README §2)."""
        pods = [(leaf, info) for leaf in leaves for info in self.incomplete.take(leaf)]
        pods.sort(key=lambda each: (each[1].timestamp, each[1].pod.key))
        for leaf, info in pods:
            self.place_member(leaf, info)

    def _check(self) -> None:
        self.waiting._check()
        self.incomplete._check(self.forest)
        self.pending._check()
        self.in_flight._check()
        self.nominator._check()
        for leaf, _ in self.pending.leaves():
            assert self.forest.root(leaf) == (self.last_popped or ""), f"{leaf}: not popped"
        seen: dict[str, str] = {}
        for place, key in self._pods():
            assert key not in seen, f"pod {key} is in {seen[key]} and in {place}"
            seen[key] = place

    def _pods(self) -> list[tuple[str, str]]:
        waiting = self.waiting
        entities = [*waiting.active, *waiting.backoff.entity_heap, *waiting.backoff.error_heap, *waiting.parked]
        return [
            *((entity.key, info.pod.key) for entity in entities for info in entity.members()),
            *(("incomplete", key) for _, pods in self.incomplete.leaves() for key in pods),
            *(("pending", key) for _, pods in self.pending.leaves() for key in pods),
        ]
