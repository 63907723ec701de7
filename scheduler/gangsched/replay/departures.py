"""When bound pods succeed and victims vanish: the departures a replay has ahead of it."""

from __future__ import annotations

from heapq import heappop, heappush

from attrs import define, field


@define(eq=False)
class Departures:
    """Pods by the time at which they succeed or are gone, then by ``namespace/name`` (architecture.md §4).

    A victim that succeeds at the very end of its grace period has succeeded.

    A pod whose record ended before (deleted, evicted) is for the caller to pass over: entries carry the pod's uid.
    """

    _heap: list[tuple[int, str, str, bool]] = field(factory=list)

    def __bool__(self) -> bool:
        return bool(self._heap)

    @property
    def next_time(self) -> int | None:
        """The time of the next departure."""
        return self._heap[0][0] if self._heap else None

    def expect(self, time: int, key: str, uid: str, *, evicted: bool = False) -> None:
        """The pod will succeed at ``time``, or be gone if it was ``evicted``."""
        # one uid departs in both ways at one time: False, the success, comes first
        heappush(self._heap, (time, key, uid, evicted))

    def due(self, time: int) -> list[tuple[str, str, bool]]:
        """Take out (pod, uid, evicted) of everything due at ``time`` or before, in order."""
        found = []
        while self._heap and self._heap[0][0] <= time:
            _, key, uid, evicted = heappop(self._heap)
            found.append((key, uid, evicted))
        return found
