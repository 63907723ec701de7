"""When bound pods succeed: the completions a replay has ahead of it."""

from __future__ import annotations

from heapq import heappop, heappush

from attrs import define, field


@define(eq=False)
class Departures:
    """Pods by the time at which they succeed, then by ``namespace/name`` (architecture.md §4).

    A pod whose record ended before (deleted, evicted) is for the caller to pass over: entries carry the pod's uid.
    """

    _heap: list[tuple[int, str, str]] = field(factory=list)

    def __bool__(self) -> bool:
        return bool(self._heap)

    @property
    def next_time(self) -> int | None:
        """The time of the next completion."""
        return self._heap[0][0] if self._heap else None

    def expect(self, time: int, key: str, uid: str) -> None:
        """The pod will succeed at ``time``."""
        heappush(self._heap, (time, key, uid))

    def due(self, time: int) -> list[tuple[str, str]]:
        """Take out (pod, uid) of everything due at ``time`` or before, in order."""
        found = []
        while self._heap and self._heap[0][0] <= time:
            _, key, uid = heappop(self._heap)
            found.append((key, uid))
        return found
