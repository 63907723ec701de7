"""Tally: how often each number occurs, with the smallest at hand."""

from __future__ import annotations


class Tally:
    """A multiset of integers. Cheap while few distinct numbers occur, as with priorities."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def add(self, number: int) -> None:
        self._counts[number] = self._counts.get(number, 0) + 1

    def remove(self, number: int) -> None:
        """Take one occurrence out; there must be one."""
        left = self._counts[number] - 1
        if left:
            self._counts[number] = left
        else:
            del self._counts[number]

    @property
    def lowest(self) -> int | None:
        """The smallest number, None when there is none. O(distinct numbers)."""
        return min(self._counts, default=None)
