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
from gangsched_queue.member_gates import Kind
from gangsched_queue.nominator import Nominator
from gangsched_queue.pending_pods import PendingPods
from gangsched_queue.registrations import Registrations
from gangsched_queue.requeue import IMMEDIATELY
from gangsched_queue.settings import QueueSettings
from gangsched_queue.waiting import ACTIVE, PARKED, Place, WaitingEntities


@define(eq=False, kw_only=True)
class Containers:
    """What the operations work on.

    ``last_popped``: the tree the scheduling loop holds (spec §2.5.3; of a plain pod, to which nobody belongs, None).
    """

    forest: Forest
    clock: Clock
    nominator: Nominator
    settings: QueueSettings
    registrations: Registrations
    waiting: WaitingEntities
    incomplete: IncompletePods
    pending: PendingPods
    in_flight: InFlight
    last_popped: EntityKey | None = None
    popped_alike: Kind | None = None
    """Of the members of the popped tree, if PreEnqueue need not be asked of each again while they do not change."""
    popped_at: int = 0
    """Position of their marks."""

    def place_member(self, leaf: EntityKey, info: QueuedPodInfo, arrives: bool = False) -> EntityKey | None:
        """Put a member that is nowhere to where its root is (spec §2.11 Add 3).

        ``arrives``: the event of its arrival follows; a gated tree that was never tried and hears it is woken here.
        Returns the tree that is still to be woken, None when there is none.
        """
        root = self.forest.roots.get(leaf)
        if root is None:
            self.incomplete.add(leaf, info)
            return None
        found = self.waiting.trees.get(root)
        if found is None:
            if root == self.last_popped:
                self.pending.add(leaf, info, False, False)
                return None
            found = self.waiting.find_tree(root)
        if found is None:
            group = self.forest.group(root)
            assert group is not None
            entity = QueuedPodGroupInfo(root, group, info.timestamp)
            if arrives:
                self.waiting.join(entity, None, leaf, info)
            else:
                entity.insert_alike(leaf, info)
                self.waiting.requeue(entity, IMMEDIATELY)
            return None
        entity, place = found
        if arrives:
            if place is ACTIVE:
                self.waiting.join(entity, place, leaf, info)
                return root
            heard = entity.gating_plugin in self.registrations.arrival_gates
            if place is PARKED and heard and not entity.attempts:
                self.waiting.join(entity, place, leaf, info)
                return None
        entity.insert(leaf, info)
        self.waiting.requeue(entity, place.way_back, place)
        return root

    def find_member(
        self, leaf: EntityKey, pod_key: str
    ) -> tuple[QueuedPodInfo, QueuedPodGroupInfo | None, Place | None] | None:
        """A member that waits, the tree that holds it and where that is (None, None: incomplete or pending)."""
        root = self.forest.roots.get(leaf)
        if root is None or root == self.last_popped:
            info = (self.incomplete if root is None else self.pending).get(leaf, pod_key)
            return (info, None, None) if info is not None else None
        found = self.waiting.trees.get(root) or self.waiting.find_tree(root)
        if found is None:
            return None
        entity, place = found
        members = entity.by_leaf.get(leaf)
        info = members.get(pod_key) if members is not None else None
        return (info, entity, place) if info is not None else None

    def readd(self, leaves: list[EntityKey]) -> None:
        """Place the incomplete pods of some leaves anew: oldest first, then by name (conformance README §2)."""
        pods = [(leaf, info) for leaf in leaves for info in self.incomplete.take(leaf)]
        pods.sort(key=lambda each: (each[1].timestamp, each[1].pod.key))
        for leaf, info in pods:
            self.place_member(leaf, info)

    def _check(self) -> None:
        """Assert the invariants of spec §8.7 rows 1-4 (tests only)."""
        self.waiting._check()
        self.incomplete._check(self.forest)
        self.pending._check()
        self.in_flight._check()
        self.nominator._check()
        for leaf, _ in self.pending.leaves():
            assert self.forest.root(leaf) == (self.last_popped or ""), f"{leaf}: not popped"
        assert self.last_popped not in self.waiting.trees
        seen: dict[str, str] = {}
        for place, key in self._pods():
            assert key not in seen, f"pod {key} is in {seen[key]} and in {place}"
            seen[key] = place

    def _pods(self) -> list[tuple[str, str]]:
        waiting = self.waiting
        entities = [*waiting.active, *(e for heap in waiting.backoff.heaps for e in heap), *waiting.parked]
        return [
            *((entity.key, info.pod.key) for entity in entities for info in entity.members()),
            *(("incomplete", key) for _, pods in self.incomplete.leaves() for key in pods),
            *(("pending", key) for _, pods in self.pending.leaves() for key in pods),
        ]
