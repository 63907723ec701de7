"""Entities ready to be popped (spec §2.1, §2.9.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from gangsched_framework.objects import EntityKey
from gangsched_queue.entities import Entity
from gangsched_queue.entity_heap import EntityHeap


class ReadyEntities(Protocol):
    """What the queue asks of its active part, in whatever order QueueSort keeps it."""

    def enter(self, entity: Entity) -> None: ...
    def refresh(self, entity: Entity) -> None: ...
    def remove(self, key: EntityKey) -> Entity | None: ...
    def get(self, key: EntityKey) -> Entity | None: ...
    def head(self) -> tuple[tuple[Any, ...], Entity] | None:
        """The entity ``pop`` would take and its order, left in place; None when nothing may be popped now."""
        ...

    def pop(self) -> Entity | None: ...
    def in_order(self) -> list[Entity]: ...
    def touch(self, entity: Entity) -> None:
        """A group or a member of an entity that is here was replaced: only a dynamic order looks at them."""
        ...

    def why_not(self, entity: Entity) -> str:
        """Why an entity that is here is passed over; '' = it is not."""
        ...

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Entity]: ...
    def _check(self) -> None: ...


class ActiveQueue(EntityHeap):
    """``order`` is the QueueSort plugin's sort key."""

    def refresh(self, entity: Entity) -> None:
        """An entity that is here may have another sort key."""
        if self._order(entity) != self.order_of(entity.key):
            self.remove(entity.key)
            self.enter(entity)

    def touch(self, entity: Entity) -> None:
        """Its place in the queue stays (spec §2.9.1)."""

    def why_not(self, entity: Entity) -> str:
        """Nobody is ever passed over."""
        return ""
