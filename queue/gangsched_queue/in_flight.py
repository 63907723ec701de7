"""Pods between pop and the end of their attempt, and the events they have missed (spec §2.6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from gangsched_framework.events import ClusterEvent
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey, Group, Node, Pod
from gangsched_framework.values import value

EventObject = Pod | Node | Group | None
Leaves = dict[EntityKey, list[QueuedPodInfo]]
"""The members of each leaf that has any."""


@value(eq=False)
class MissedEvent:
    """An event that happened while pods were in flight. ``only``: UID of the one pod it is for, '' = for all."""

    position: int
    event: ClusterEvent
    old: EventObject
    new: EventObject
    only: str


class InFlight:
    """One ordered list of pod marks and events: positions grow, so a pod has missed what stands behind its mark."""

    def __init__(self) -> None:
        self.marks: dict[str, tuple[int, Pod]] = {}
        """UID -> position of every pod in flight, and the pod as it was popped."""
        self._events: deque[MissedEvent] = deque()
        self._ended = 0
        """Attempts that ended since it was last looked which events all have seen."""
        self.position = 0
        """Of the next mark or event."""

    def __contains__(self, uid: str) -> bool:
        return uid in self.marks

    def pods(self) -> list[str]:
        """``namespace/name`` of the marked pods, sorted."""
        return sorted(pod.key for _, pod in self.marks.values())

    def mark(self, pod: Pod) -> bool:
        """The pod's attempt begins; False when one is under way already."""
        marks, uid = self.marks, pod.uid
        if uid in marks:
            return False
        marks[uid] = (self.position, pod)
        self.position += 1
        return True

    def begin(self, leaves: Leaves) -> Leaves:
        """The attempts of members begin, all at one position; those under way already are left out (spec §2.5.4)."""
        marks, position = self.marks, self.position
        self.position = position + 1
        if marks:
            free = {leaf: [info for info in infos if info.pod.uid not in marks] for leaf, infos in leaves.items()}
            leaves = {leaf: infos for leaf, infos in free.items() if infos}
        for infos in leaves.values():
            for info in infos:
                pod = info.pod
                marks[pod.uid] = (position, pod)
                info.attempts += 1
                info.gating_plugin = ""
        return leaves

    def record(self, event: ClusterEvent, old: EventObject, new: EventObject, only: str = "") -> None:
        """Remember an event for the pods in flight; nothing is kept when there are none. O(1)."""
        if self.marks:
            self._events.append(MissedEvent(self.position, event, old, new, only))
            self.position += 1

    def missed(self, uid: str) -> list[MissedEvent]:
        """What happened since the pod's mark, in order, updates of other pods left out. O(what happened)."""
        mark = self.marks.get(uid)
        if mark is None:
            return []
        events: list[MissedEvent] = []
        for missed in reversed(self._events):
            if missed.position < mark[0]:
                break
            if missed.only in ("", uid):
                events.append(missed)
        events.reverse()
        return events

    def done(self, uid: str) -> tuple[int, Pod] | None:
        """The attempt is over. Returns the mark it had; unknown UIDs do nothing."""
        mark = self.marks.pop(uid, None)
        if mark is not None and self._events:
            self._drop_seen(1)
        return mark

    def done_all(self, uids: Iterable[str]) -> None:
        """``done`` of each."""
        marks = self.marks
        before = len(marks)
        for uid in uids:
            marks.pop(uid, None)
        if self._events:
            self._drop_seen(before - len(marks))

    def _drop_seen(self, ended: int) -> None:
        """Drop events that every pod in flight has seen (spec §2.6.1), once as many attempts ended as go on: O(1)."""
        self._ended += ended
        if self._ended < len(self.marks):
            return
        self._ended = 0
        self.marks = marks = dict(self.marks)  # without the gaps before its first entry, which take time to pass over
        oldest = next(iter(marks.values()))[0] if marks else self.position
        events = self._events
        while events and events[0].position < oldest:
            events.popleft()

    def _check(self) -> None:
        marks = [position for position, _ in self.marks.values()]
        order = [missed.position for missed in self._events]
        assert len(set(order)) == len(order)
        assert set(marks).isdisjoint(order)
        assert all(position < self.position for position in (*marks, *order))
        assert marks == sorted(marks)
        assert order == sorted(order)
        assert not order or marks, "events nobody waits for"
        assert not self._ended or (order and self._ended < len(marks)), "events are kept too long"
