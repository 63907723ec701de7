"""Entities in an order that is fixed when they enter; removal is lazy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from gangsched_framework.errors import InvariantError
from gangsched_framework.objects import EntityKey
from gangsched_queue.entities import Entity

SortKey = tuple[int, ...]
HeapEntry = tuple[SortKey, EntityKey, Entity]
FEW = 32
"""So many newcomers are not worth sorting."""


class EntityHeap:
    """Entities by (sort key, entity key), smallest first. Each operation is O(log n), amortised.

    ``order`` gives an entity's sort key, which is asked for when it enters and stands until it leaves.

    Newcomers get their places when somebody looks: in a heap while they are few beside those sorted before, else all
    are sorted at one go. So a long queue is read off the end of a list, where a heap would touch log n entries here
    and there, and who leaves before anybody looks is never compared.
    """

    def __init__(self, order: Callable[[Entity], SortKey]) -> None:
        self._order = order
        self._sorted: list[HeapEntry] = []
        """The smallest last."""
        self._heap: list[HeapEntry] = []
        self._newcomers: list[HeapEntry] = []
        """Entered since somebody looked."""
        self._live: dict[EntityKey, HeapEntry] = {}
        self._dead = 0
        """Entries in these lists of entities that are not here any more."""

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, key: EntityKey) -> bool:
        return key in self._live

    def get(self, key: EntityKey) -> Entity | None:
        entry = self._live.get(key)
        return None if entry is None else entry[2]

    def order_of(self, key: EntityKey) -> SortKey:
        """The sort key under which an entity that is here entered."""
        return self._live[key][0]

    def enter(self, entity: Entity) -> None:
        """Enter an entity that is not here."""
        key = entity.key
        entry = (self._order(entity), key, entity)
        if self._live.setdefault(key, entry) is not entry:
            raise InvariantError(f"{key} is queued twice")
        self._newcomers.append(entry)

    def remove(self, key: EntityKey) -> Entity | None:
        """Take an entity out; None when it is not here."""
        entry = self._live.pop(key, None)
        if entry is None:
            return None
        newcomers = self._newcomers
        if newcomers and newcomers[-1] is entry:
            del newcomers[-1]
            return entry[2]
        self._dead += 1
        if self._dead > len(self._live) + FEW:
            self._sort()
        return entry[2]

    def _settle(self) -> None:
        """Give the newcomers their places, and clear away whoever stands first and is not here any more."""
        newcomers, heap = self._newcomers, self._heap
        if newcomers:
            if len(newcomers) + len(heap) > len(self._sorted) + FEW:
                self._sort()
                return
            for entry in newcomers:
                heappush(heap, entry)
            newcomers.clear()
        if self._dead:
            live, smallest = self._live, self._sorted
            while smallest and live.get(smallest[-1][1]) is not smallest[-1]:
                smallest.pop()
                self._dead -= 1
            while heap and live.get(heap[0][1]) is not heap[0]:
                heappop(heap)
                self._dead -= 1

    def _sort(self) -> None:
        entries = self._sorted + self._heap + self._newcomers
        if self._dead:
            live = self._live
            entries = [entry for entry in entries if live.get(entry[1]) is entry]
        entries.sort(reverse=True)
        self._sorted, self._dead = entries, 0
        self._heap.clear()
        self._newcomers.clear()

    def head(self) -> tuple[SortKey, Entity] | None:
        """The smallest entity and its order, left in place."""
        entry = self.first()
        return None if entry is None else (entry[0], entry[2])

    def first(self) -> HeapEntry | None:
        """The smallest entity with all that orders it, left in place."""
        if self._newcomers or self._dead:
            self._settle()
        smallest, heap = self._sorted, self._heap
        if heap and not (smallest and smallest[-1] < heap[0]):
            return heap[0]
        return smallest[-1] if smallest else None

    def pop(self) -> Entity | None:
        """Take the smallest entity out."""
        if self._newcomers or self._dead:
            self._settle()
        smallest, heap = self._sorted, self._heap
        if heap and not (smallest and smallest[-1] < heap[0]):
            entry = heappop(heap)
        elif smallest:
            entry = smallest.pop()
        else:
            return None
        del self._live[entry[1]]
        return entry[2]

    def in_order(self) -> list[Entity]:
        return [entry[2] for entry in sorted(self._live.values(), key=lambda entry: entry[:2])]

    def __iter__(self) -> Iterator[Entity]:
        """In order of entry."""
        return (entry[2] for entry in self._live.values())

    def _check(self) -> None:
        assert all(entry[1] == key == entry[2].key for key, entry in self._live.items())
        present = {id(entry) for entry in (*self._sorted, *self._heap, *self._newcomers)}
        assert all(id(entry) in present for entry in self._live.values())
        assert len(present) == len(self._live) + self._dead
        assert self._sorted == sorted(self._sorted, key=lambda entry: entry[:2], reverse=True)
        assert all(self._heap[(i - 1) // 2][:2] <= self._heap[i][:2] for i in range(1, len(self._heap)))
