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
        """Enter an entity that is not here."""
        self.add(entity, self._sort_key(entity))

    def refresh(self, entity: Entity) -> None:
        """An entity that is here may have another sort key."""
        order = self._sort_key(entity)
        if order != self.order_of(entity.key):
            self.remove(entity.key)
            self.add(entity, order)
