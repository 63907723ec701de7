"""The three containers of entities, and the moves between them (spec §2.1, §2.7.6d, §2.8.1)."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum

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
from gangsched_queue.requeue import Strategy
from gangsched_queue.settings import SECOND, QueueSettings
from gangsched_queue.unschedulable_entities import UnschedulableEntities


class Place(Enum):
    """A container, and the strategy that leads back to it (spec §2.11 Add 3c)."""

    ACTIVE = Strategy.IMMEDIATELY
    BACKOFF = Strategy.AFTER_BACKOFF
    PARKED = Strategy.SKIP

    def __init__(self, way_back: Strategy) -> None:
        self.way_back = way_back


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
            self.backoff = FairBackoffQueue(settings, shares, forest)
        self.parked = UnschedulableEntities()
        self.dormant = DormantTrees()

    def find(self, key: EntityKey) -> tuple[Entity, Place] | None:
        """The entity and where it is; None when it is not waiting."""
        entity = self.active.get(key)
        if entity is not None:
            return entity, Place.ACTIVE
        entity = self.parked.get(key)
        if entity is not None:
            return entity, Place.PARKED
        if key in self.dormant:
            self.rouse(key)
        entity = self.backoff.get(key)
        return (entity, Place.BACKOFF) if entity is not None else None

    def rouse(self, key: EntityKey) -> None:
        """Bring a dormant tree back to the backoff queue, its retries made up."""
        entity = self.dormant.rouse(key, self._forest)
        if entity is not None:
            self.backoff.add(entity)

    def lay_down(self, key: EntityKey, kind: Hashable, outcome: object, version: int) -> None:
        """Let a tree sleep if only time can bring it back: refused, not broken, every pod of it waiting here."""
        entity = self.backoff.error_heap.get(key)
        if not isinstance(entity, QueuedPodGroupInfo) or entity.consecutive_errors or entity.timestamp % SECOND:
            return
        if not self._settings.pop_from_backoff:
            return
        known = sum(len(self._forest.pods(leaf)) for leaf in self._forest.leaves_below(key))
        if known == entity.size:
            self.backoff.remove(key)
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
        _ = self.active.remove(key) or self.parked.remove(key) or self.backoff.remove(key)

    def enter(self, entity: Entity) -> None:
        """Take in an entity that is nowhere: active, or parked when PreEnqueue holds it back (spec §2.11 Add 2, 3d)."""
        if self._pre_enqueue.passes(entity):
            self._enter_active(entity)
        else:
            self.parked.add(entity)

    def requeue(self, entity: Entity, strategy: Strategy, origin: Place | None = None) -> Place:
        """Move an entity from ``origin`` (None = it is nowhere) to where the strategy leads (spec §2.7.6d, §2.8.3)."""
        place = self._lead(entity, strategy)
        if place is origin:
            self._stay(entity, place)
            return place
        if origin is not None:
            self.take(entity.key)
        if place is Place.PARKED:
            self.parked.add(entity)
        elif place is Place.BACKOFF:
            self.backoff.add(entity)
        else:
            self._enter_active(entity)
        return place

    def _lead(self, entity: Entity, strategy: Strategy) -> Place:
        """Where a strategy leads; PreEnqueue runs unless the entity is skipped, a gated one is parked."""
        if strategy is Strategy.SKIP:
            return Place.PARKED
        if strategy is Strategy.AFTER_BACKOFF and self.backoff.is_backing_off(entity, self._clock.now()):
            passes = not self._settings.pop_from_backoff or self._pre_enqueue.passes(entity)
            return Place.BACKOFF if passes else Place.PARKED
        return Place.ACTIVE if self._pre_enqueue.passes(entity) else Place.PARKED

    def _stay(self, entity: Entity, place: Place) -> None:
        if place is Place.PARKED:
            self.parked.refresh(entity)
        elif place is Place.ACTIVE:
            self.active.refresh(entity)
            self._note_first_attempt(entity)
        # the order of the backoff queue is fixed by the expiration, which is not computed anew (spec §2.4.6)

    def reorder(self, info: QueuedPodInfo, place: Place, pod: Pod) -> None:
        """Replace the object of a plain pod, whose sort key may change by it; it stays where it is."""
        info.pod = pod
        if place is Place.ACTIVE:
            self.active.refresh(info)
        else:
            self.backoff.remove(info.key)
            self.backoff.add(info)

    def flush_backoff(self) -> None:
        """Release everybody whose penalty is over (spec §2.4.10)."""
        now = self._clock.now()
        while (entity := self.backoff.pop_served(now)) is not None:
            if self._settings.pop_from_backoff:
                self._enter_active(entity)  # PreEnqueue ran on the way into the backoff queue
            else:
                self.requeue(entity, Strategy.IMMEDIATELY)

    def _enter_active(self, entity: Entity) -> None:
        self._note_first_attempt(entity)
        self.active.enter(entity)

    def _note_first_attempt(self, entity: Entity) -> None:
        """The entity, and each of its members, are ready for the first time (spec §2.2.2)."""
        now = self._clock.now()
        if entity.initial_attempt_timestamp is None:
            entity.initial_attempt_timestamp = now
        if not isinstance(entity, QueuedPodInfo):
            for info in entity.fresh.values():
                info.initial_attempt_timestamp = now
            entity.fresh.clear()

    def _check(self) -> None:
        self.active._check()
        self.backoff._check()
        self.parked._check()
        self.dormant._check()
        entities = [*self.active, *self.backoff.entity_heap, *self.backoff.error_heap, *self.parked]
        assert len({entity.key for entity in entities}) == len(entities), "an entity is in two containers"
        for entity in entities:
            if not isinstance(entity, QueuedPodInfo):
                entity._check(self._forest)
        assert not any(entity.gating_plugin for entity in self.active), "a gated entity is active"
