"""Tally: how often each number occurs, with the smallest at hand."""

from __future__ import annotations

from collections import defaultdict


class Tally(defaultdict[int, int]):
    """A multiset of integers: ``tally[number] += 1`` puts one in. Cheap while few distinct numbers occur, as with
    priorities."""

    def __init__(self) -> None:
        super().__init__(int)

    def remove(self, number: int) -> None:
        """Take one occurrence out; there must be one."""
        left = self[number] - 1
        if left:
            self[number] = left
        else:
            del self[number]

    @property
    def lowest(self) -> int | None:
        """The smallest number, None when there is none. O(distinct numbers)."""
        return min(self, default=None)
