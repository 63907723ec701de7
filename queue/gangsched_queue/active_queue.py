"""Entities ready to be popped (spec §2.1, §2.9.1)."""

from __future__ import annotations

from collections.abc import Callable

from gangsched_queue.entities import Entity
from gangsched_queue.entity_heap import EntityHeap, SortKey


class ActiveQueue(EntityHeap):
    """Ordered by the QueueSort plugin, then by entity key."""

    def __init__(self, sort_key: Callable[[Entity], SortKey]) -> None:
        super().__init__()
        self._sort_key = sort_key

    def enter(self, entity: Entity) -> None:
        self.add(entity, self._sort_key(entity))
