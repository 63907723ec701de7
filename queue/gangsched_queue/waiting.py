"""The three containers of entities, and the moves between them (spec §2.1, §2.7.6d, §2.8.1)."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import Protocol

from gangsched_framework.handle import Clock
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey, Pod
from gangsched_queue.active_queue import ActiveQueue, ReadyEntities
from gangsched_queue.backoff import backoff_duration, expiration, release_time
from gangsched_queue.backoff_queue import BackoffQueue
from gangsched_queue.dormant import DormantTrees
from gangsched_queue.entities import Entity, QueuedPodGroupInfo
from gangsched_queue.fair_backoff import FairBackoffQueue
from gangsched_queue.fair_tenants import FairTenants, Shares
from gangsched_queue.pre_enqueue import PreEnqueue
from gangsched_queue.registrations import Frameworks
from gangsched_queue.requeue import AFTER_BACKOFF, IMMEDIATELY, SKIP, Strategy
from gangsched_queue.settings import SECOND, QueueSettings
from gangsched_queue.unschedulable_entities import UnschedulableEntities


class Place(Enum):
    """A container, and the strategy that leads back to it (spec §2.11 Add 3c)."""

    ACTIVE = IMMEDIATELY
    BACKOFF = AFTER_BACKOFF
    PARKED = SKIP

    __hash__ = object.__hash__  # that of Enum is a function of Python

    def __init__(self, way_back: Strategy) -> None:
        self.way_back = way_back


ACTIVE, BACKOFF, PARKED = Place.ACTIVE, Place.BACKOFF, Place.PARKED
"""By names of their own, which are found faster than on the class (before Python 3.12)."""


class _Container(Protocol):
    def get(self, key: EntityKey) -> Entity | None: ...
    def remove(self, key: EntityKey) -> Entity | None: ...


class WaitingEntities:
    """Every entity is in at most one of ``active``, ``backoff`` and ``parked``."""

    def __init__(self, forest: Forest, frameworks: Frameworks, clock: Clock, settings: QueueSettings) -> None:
        sort = next(iter(frameworks.values()))  # one QueueSort serves all profiles
        self._clock = clock
        self._forest = forest
        self._settings = settings
        self._pre_enqueue = PreEnqueue(frameworks, forest)
        order = getattr(sort, "fair_order", None)
        if order is None:
            self.active: ReadyEntities = ActiveQueue(sort.sort_key)
            self.backoff = BackoffQueue(settings, sort.sort_key)
        else:
            shares = Shares(order)
            self.active = FairTenants(shares, forest)
            self.backoff = FairBackoffQueue(settings, sort.sort_key, shares, forest)
        self.parked = UnschedulableEntities()
        self.dormant = DormantTrees()
        self._containers: dict[Place, _Container] = {
            ACTIVE: self.active,
            BACKOFF: self.backoff,
            PARKED: self.parked,
        }
        self.trees: dict[EntityKey, tuple[QueuedPodGroupInfo, Place]] = {}
        """Where each tree is."""

    def find_pod(self, key: EntityKey) -> tuple[QueuedPodInfo, Place] | None:
        """A plain pod and where it is; None when it is not waiting."""
        for place, container in self._containers.items():
            entity = container.get(key)
            if isinstance(entity, QueuedPodInfo):
                return entity, place
        return None

    def find_tree(self, root: EntityKey) -> tuple[QueuedPodGroupInfo, Place] | None:
        """The waiting tree of a root and where it is; a dormant one is roused."""
        found = self.trees.get(root)
        if found is None and root in self.dormant.bucket_of:
            self.rouse(root)
            return self.trees[root]
        return found

    def rouse(self, key: EntityKey) -> None:
        """Bring a dormant tree back to the backoff queue, its retries made up."""
        entity = self.dormant.rouse(key, self._forest)
        if entity is not None:
            self._put(entity, BACKOFF)

    def lay_down(self, key: EntityKey, kind: Hashable, outcome: object, version: int) -> None:
        """Let a tree sleep if only time can bring it back: refused, not broken, every pod of it waiting here."""
        entity = self.backoff.error_heap.get(key)
        if not isinstance(entity, QueuedPodGroupInfo) or entity.consecutive_errors or entity.timestamp % SECOND:
            return
        if not self._settings.pop_from_backoff:
            return
        known = sum(len(self._forest.pods(leaf)) for leaf in self._forest.leaves_below(key))
        if known == entity.size:
            self.take(key)
            self.dormant.add(entity, kind, self._periods(entity), outcome, version)

    def _periods(self, entity: QueuedPodGroupInfo) -> tuple[int, ...]:
        """Times from one refusal to the next attempt, from now on until they grow no more; attempts fall on seconds."""
        count, periods, longest = entity.unschedulable_count, [], -1
        while (duration := backoff_duration(count, entity.size, self._settings)) > longest:
            periods.append(release_time(expiration(0, duration, self._settings)))
            count, longest = count + 1, duration
        return tuple(periods)

    def take(self, key: EntityKey) -> None:
        """Remove an entity from where it is, if it is waiting at all."""
        self.trees.pop(key, None)
        _ = self.active.remove(key) or self.parked.remove(key) or self.backoff.remove(key)

    def popped(self, root: EntityKey) -> None:
        """A tree was taken out of the active queue, or served early."""
        del self.trees[root]

    def pop_overdue(self, before: int) -> Entity | None:
        """Take out some entity parked earlier than ``before``."""
        entity = self.parked.pop_overdue(before)
        if entity is not None:
            self.trees.pop(entity.key, None)
        return entity

    def enter(self, info: QueuedPodInfo) -> None:
        """Take in a plain pod that is new: active, or parked when PreEnqueue holds it back (spec §2.11 Add 2)."""
        if self._pre_enqueue.passes(info):
            info.initial_attempt_timestamp = info.timestamp
            self.active.enter(info)
        else:
            self.parked.add(info)

    def join(self, entity: QueuedPodGroupInfo, place: Place | None, leaf: EntityKey, info: QueuedPodInfo) -> None:
        """A newcomer joins an active tree, or a parked one that serves no penalty and that its arrival wakes.

        Or he is the first of one that is nowhere yet.

        The long way is ``insert``, ``requeue`` to where it is (spec §2.11 Add 3c), and for a parked one ``requeue``
        anew, as the event is worth ``AFTER_BACKOFF`` at least: nobody has rejected the newcomer (§2.7.3a).
        """
        gate = entity.gating_plugin
        if self._pre_enqueue.passes_with(entity, leaf, info):
            self._move(entity, place, ACTIVE)
        elif entity.alike is None or entity.gating_plugin != gate:  # else all is as it was
            self._move(entity, place, PARKED)

    def requeue(self, entity: Entity, strategy: Strategy, origin: Place | None = None) -> Place:
        """Move an entity from ``origin`` (None = it is nowhere) to where the strategy leads (spec §2.7.6d, §2.8.3).

        PreEnqueue runs unless the entity is skipped, a gated one is parked.
        """
        if strategy is SKIP:
            place = PARKED
        elif strategy is AFTER_BACKOFF and self.backoff.is_backing_off(entity, self._clock.time):
            passes = not self._settings.pop_from_backoff or self._pre_enqueue.passes(entity)
            place = BACKOFF if passes else PARKED
        else:
            place = ACTIVE if self._pre_enqueue.passes(entity) else PARKED
        self._move(entity, origin, place)
        return place

    def _move(self, entity: Entity, origin: Place | None, place: Place) -> None:
        if place is origin:
            if place is PARKED:
                self.parked.refresh(entity)
            elif place is ACTIVE:
                self.active.refresh(entity)
                self._note_first_attempt(entity)
            # the order of the backoff queue is fixed by the expiration, which is not computed anew (spec §2.4.6)
            return
        if origin is not None:
            self._containers[origin].remove(entity.key)
        self._put(entity, place)

    def _put(self, entity: Entity, place: Place) -> None:
        if not isinstance(entity, QueuedPodInfo):
            self.trees[entity.key] = entity, place
        if place is ACTIVE:
            self._note_first_attempt(entity)
            self.active.enter(entity)
        elif place is PARKED:
            self.parked.add(entity)
        else:
            self.backoff.add(entity)

    def reorder(self, info: QueuedPodInfo, place: Place, pod: Pod) -> None:
        """Replace the object of a plain pod, whose sort key may change by it; it stays where it is."""
        info.renew(pod)
        if place is ACTIVE:
            self.active.refresh(info)
        else:
            self.backoff.remove(info.key)
            self.backoff.add(info)

    def flush_backoff(self) -> None:
        """Release everybody whose penalty is over (spec §2.4.10)."""
        now = self._clock.time
        while (entity := self.backoff.pop_served(now)) is not None:
            if self._settings.pop_from_backoff:
                self._put(entity, ACTIVE)  # PreEnqueue ran on the way into the backoff queue
            else:
                self.requeue(entity, IMMEDIATELY)

    def _note_first_attempt(self, entity: Entity) -> None:
        """The entity, and each of its members, are ready for the first time (spec §2.2.2)."""
        if entity.initial_attempt_timestamp is None:
            now = entity.initial_attempt_timestamp = self._clock.time
            if not isinstance(entity, QueuedPodInfo):
                for members in entity.by_leaf.values():
                    for info in members.values():
                        if info.initial_attempt_timestamp is None:
                            info.initial_attempt_timestamp = now
        elif not isinstance(entity, QueuedPodInfo) and entity.fresh:
            now = self._clock.time
            for info in entity.fresh.values():
                info.initial_attempt_timestamp = now
            entity.fresh = {}

    def _check(self) -> None:
        self.active._check()
        self.backoff._check()
        self.parked._check()
        self.dormant._check()
        found = [(entity, ACTIVE) for entity in self.active]
        found += [(entity, BACKOFF) for heap in self.backoff.heaps for entity in heap]
        found += [(entity, PARKED) for entity in self.parked]
        assert len({entity.key for entity, _ in found}) == len(found), "an entity is in two containers"
        trees = [(entity, place) for entity, place in found if not isinstance(entity, QueuedPodInfo)]
        assert self.trees == {entity.key: (entity, place) for entity, place in trees}
        for entity, _ in trees:
            entity._check(self._forest)
        assert all(e.priority == e.pod.priority for e, _ in found if isinstance(e, QueuedPodInfo))
        assert not any(entity.gating_plugin for entity in self.active), "a gated entity is active"
