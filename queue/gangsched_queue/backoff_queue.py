"""Entities that serve a penalty (spec §2.4): one heap for rejected pods, one for errors and for all groups."""

from __future__ import annotations

from collections.abc import Callable

from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_queue.backoff import backoff_count, backoff_duration, expiration, is_served, release_time
from gangsched_queue.entities import Entity
from gangsched_queue.entity_heap import EntityHeap, SortKey
from gangsched_queue.settings import QueueSettings


class BackoffQueue:
    """The *entity* heap may be popped early, the *error* heap may not."""

    def __init__(self, settings: QueueSettings, sort_key: Callable[[Entity], SortKey]) -> None:
        self._settings = settings
        self._sort_key = sort_key
        self.entity_heap = EntityHeap(self._early_order if settings.pop_from_backoff else expires)
        self.error_heap = EntityHeap(expires)
        self.heaps = (self.entity_heap, self.error_heap)

    def is_backing_off(self, entity: Entity, now: int) -> bool:
        """Whether a penalty is open; its end is computed once and kept in the entity (spec §2.4.6)."""
        if entity.backoff_expiration is None:
            count = backoff_count(entity)
            if count == 0 or self._settings.max_backoff == 0:
                return False
            members = 1 if isinstance(entity, QueuedPodInfo) else entity.size
            duration = backoff_duration(count, members, self._settings)
            entity.backoff_expiration = expiration(entity.timestamp, duration, self._settings)
        return not is_served(entity.backoff_expiration, now, self._settings)

    def add(self, entity: Entity) -> None:
        """Enter an entity that is backing off."""
        # spec §2.4.12: the plugin sets of a group entity are never filled, so groups stand in the error heap
        if isinstance(entity, QueuedPodInfo) and (entity.unschedulable_plugins or entity.pending_plugins):
            self.entity_heap.enter(entity)
        else:
            self.error_heap.enter(entity)

    def _early_order(self, entity: Entity) -> SortKey:
        """Of those that may be popped before their penalty is over."""
        return (*expires(entity), *self._sort_key(entity))

    def get(self, key: EntityKey) -> Entity | None:
        return self.entity_heap.get(key) or self.error_heap.get(key)

    def remove(self, key: EntityKey) -> Entity | None:
        return self.entity_heap.remove(key) or self.error_heap.remove(key)

    def early_head(self) -> tuple[SortKey, Entity] | None:
        """What ``pop_early`` would take, left in place."""
        return self.entity_heap.head() if self._settings.pop_from_backoff else None

    def pop_early(self) -> Entity | None:
        """The head of the entity heap, served or not (spec §2.5.2)."""
        return self.entity_heap.pop() if self._settings.pop_from_backoff else None

    def pop_served(self, now: int) -> Entity | None:
        """Some entity whose penalty is over, None when there is none left."""
        for heap in self.heaps:
            head = heap.head()
            if head is not None and is_served(head[0][0], now, self._settings):
                return heap.pop()
        return None

    def next_release(self) -> int | None:
        """Time of the first flush that will release somebody."""
        heads = [heap.head() for heap in self.heaps]
        return min((release_time(head[0][0]) for head in heads if head is not None), default=None)

    def _check(self) -> None:
        self.entity_heap._check()
        self.error_heap._check()
        for heap in self.heaps:
            for entity in heap:
                assert entity.backoff_expiration is not None, f"{entity.key} serves no penalty"
                assert not (entity.gating_plugin and self._settings.pop_from_backoff), f"{entity.key} is gated"


def expires(entity: Entity) -> SortKey:
    """Whose penalty is over first."""
    end = entity.backoff_expiration
    assert end is not None, f"{entity.key} serves no penalty"
    return (end,)
