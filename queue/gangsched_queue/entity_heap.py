"""A heap of entities whose order is fixed when they enter; removal is lazy."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from gangsched_framework.objects import EntityKey
from gangsched_queue.entities import Entity

SortKey = tuple[int, ...]
HeapEntry = tuple[SortKey, EntityKey, int, Entity]
"""(sort key, entity key, count of entries before, entity)."""


class EntityHeap:
    """Entities by (sort key, entity key), smallest first. Each operation is O(log n), amortised."""

    def __init__(self) -> None:
        self._heap: list[HeapEntry] = []
        self._live: dict[EntityKey, HeapEntry] = {}
        self._entered = 0

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, key: EntityKey) -> bool:
        return key in self._live

    def get(self, key: EntityKey) -> Entity | None:
        entry = self._live.get(key)
        return None if entry is None else entry[3]

    def order_of(self, key: EntityKey) -> SortKey:
        """The sort key under which an entity that is here entered."""
        return self._live[key][0]

    def add(self, entity: Entity, order: SortKey) -> None:
        """Enter an entity that is not here."""
        key = entity.key
        assert key not in self._live, f"{key} is queued twice"
        self._entered += 1  # a removed entry of the same key and order may still lie in the heap
        entry = (order, key, self._entered, entity)
        self._live[key] = entry
        heappush(self._heap, entry)

    def remove(self, key: EntityKey) -> Entity | None:
        """Take an entity out; None when it is not here."""
        entry = self._live.pop(key, None)
        if entry is None:
            return None
        if len(self._heap) > 2 * len(self._live) + 8:  # more dead than alive: rebuild
            self._heap = list(self._live.values())
            heapify(self._heap)
        return entry[3]

    def head(self) -> tuple[SortKey, Entity] | None:
        """The smallest entity and its order, left in place."""
        entry = self.first()
        return None if entry is None else (entry[0], entry[3])

    def first(self) -> HeapEntry | None:
        """The smallest entity with all that orders it, left in place."""
        while self._heap:
            entry = self._heap[0]
            if self._live.get(entry[1]) is entry:
                return entry
            heappop(self._heap)
        return None

    def pop(self) -> Entity | None:
        """Take the smallest entity out."""
        while self._heap:
            entry = heappop(self._heap)
            if self._live.get(entry[1]) is entry:
                del self._live[entry[1]]
                return entry[3]
        return None

    def in_order(self) -> list[Entity]:
        return [entry[3] for entry in sorted(self._live.values(), key=lambda entry: entry[:2])]

    def __iter__(self) -> Iterator[Entity]:
        """In order of entry."""
        return (entry[3] for entry in self._live.values())

    def _check(self) -> None:
        assert all(entry[1] == key == entry[3].key for key, entry in self._live.items())
        present = {id(entry) for entry in self._heap}
        assert all(id(entry) in present for entry in self._live.values())
        assert len(self._heap) <= 2 * len(self._live) + 9
        assert all(self._heap[(i - 1) // 2][:3] <= self._heap[i][:3] for i in range(1, len(self._heap)))
