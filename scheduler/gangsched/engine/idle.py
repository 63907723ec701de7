"""Idle retries are free: a replay crosses the retries of refused trees without carrying them out.

A refused tree is laid down in the queue's dormant trees. When its turn comes and the memo knows
that its kind is refused in the world as it is, the whole bucket is repeated at once; else its first tree is roused and
tried as ever, which tells how the others fare. Exact: attempts, counters, timestamps, backoff and the
texts of conditions are what carrying the retries out would have left (made up when a tree is roused).
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from gangsched.engine.conditions import group_condition, pod_condition
from gangsched.engine.decisions import SetCondition, SetGroupCondition
from gangsched.engine.memo import Memo, MemoKey, Refusal
from gangsched.engine.outbox import Outbox
from gangsched.engine.report import MadeUp
from gangsched.engine.world import World
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Clock
from gangsched_framework.objects import EntityKey
from gangsched_queue.buckets import LAST, Bucket, Kind
from gangsched_queue.dormant import Roused
from gangsched_queue.scheduling_queue import SchedulingQueue


@define(eq=False)
class IdleRetries:
    """Decides at each instant which dormant trees are refused again and which must be tried."""

    world: World
    queue: SchedulingQueue
    memo: Memo
    clock: Clock
    outbox: Outbox
    _made_up: list[Roused] = field(factory=list)
    """Trees whose retries were made up since somebody took them for his records."""

    @property
    def stirs(self) -> bool:
        """Whether there is anything to attend to or to settle: a dormant tree, or one that was roused."""
        dormant = self.queue.dormant
        return len(dormant) > 0 or bool(dormant.roused)

    @property
    def retries(self) -> int:
        """Attempts that passed without being carried out."""
        return self.queue.dormant.retries

    def lay_down(self, framework: Framework, key: EntityKey, kind: MemoKey, refusal: Refusal) -> None:
        """A tree has just been refused: it sleeps if nothing but time will bring it back."""
        self.queue.lay_down(key, (kind, refusal.record), refusal, self.world.version)
        if key not in self.queue.dormant:
            return
        popped = self.queue.as_popped(key)
        if self.memo.key(framework, popped.tree, popped.leaves) != kind:  # it changed while it was tried
            self.queue.rouse([key])

    def take_made_up(self) -> list[MadeUp]:
        """Retries made up since the last call."""
        made_up, self._made_up = self._made_up, []
        return [MadeUp.of(roused, roused.outcome) for roused in made_up if isinstance(roused.outcome, Refusal)]

    def next_due(self) -> int | None:
        """The first instant at which a dormant tree might fare otherwise than last time."""
        dormant, version = self.queue.dormant, self.world.version
        for kind in dormant.kinds():
            self._is_refused(kind)
        return dormant.next_due(version)

    def pass_time(self, time: int) -> None:
        """The clock goes to ``time``, and nothing happens before."""
        self.queue.dormant.pass_time(time)

    def attend(self) -> None:
        """Give the dormant trees whose turn it is now their turn, as far as they come before the active queue."""
        dormant, now = self.queue.dormant, self.clock.time
        while together := dormant.due(now):
            head, rank = self.queue.head(), together[0].last_rank
            if head is not None and head[0] < rank:
                return
            if not self._pass_on(together, head[1] if head is not None and head[0] == rank else LAST):
                return

    def _pass_on(self, together: Sequence[Bucket], until: EntityKey) -> bool:
        """Go on with the turn of buckets of one rank up to ``until`` or to the first tree that must be tried.

        True when the turn is over.
        """
        refused: list[Bucket] = []
        tried: EntityKey | None = None
        for key, bucket in sorted(((b.next, b) for b in together if b.next is not None), key=lambda each: each[0]):
            if key > until:
                break
            if not self._is_refused(bucket.kind):
                tried = until = key
                break
            refused.append(bucket)
        for bucket in refused:
            self.queue.dormant.pass_on(bucket, until)
        if tried is not None:
            self.queue.rouse([tried])
            self.queue.flush_backoff()
        elif until == LAST:
            for bucket in together:
                self.queue.dormant.end_turn(bucket)
            return True
        return False

    def _is_refused(self, kind: Kind) -> bool:
        """Whether it is known that the trees of a kind are refused now, and as they were."""
        version = self.world.version
        if kind.version != version:
            assert isinstance(kind.key, tuple)
            key, record = kind.key
            refusal = self.memo.get(key)
            if refusal is None or refusal.record != record:
                return False
            kind.outcome, kind.version = refusal, version
        return True

    def settle(self) -> None:
        """Emit the condition texts that the retries of roused trees would have written."""
        for roused in self.queue.dormant.take_roused():
            self._settle(roused)
            self._made_up.append(roused)

    def _settle(self, roused: Roused) -> None:
        refusal = roused.outcome
        assert isinstance(refusal, Refusal)
        for pod, failure in zip(roused.pods, refusal.pods, strict=True):
            current = self.world.pods.get(pod.key)
            condition = pod_condition(current, failure.status, roused.last) if current is not None else None
            if current is not None and condition is not None:
                self.outbox.emit(SetCondition(current.key, condition))
        for key, status in zip(roused.groups, refusal.groups, strict=True):
            group = self.world.forest.group(key)
            changed = group_condition(group, status, roused.last) if group is not None else None
            if changed is not None:
                self.outbox.emit(SetGroupCondition(key, changed))
