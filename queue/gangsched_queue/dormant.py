"""Refused trees that would be refused again: their retries pass without being carried out.

A tree whose penalty has reached its maximum returns every ``period``. Trees that are equal for the scheduler
(``kind``), wait equally long and return at the same instants form a *bucket*: while their kind is refused, one entry
stands for all their retries, and a retry of the whole bucket, its *turn*, costs O(1). A turn may be had in parts: when
one tree is to be tried, those before it in the order of the queue have had their turn and those behind it have not.
What the retries would have changed in an entity (attempts, counters, timestamps) is made up when somebody needs it: it
is *roused*.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterable

from attrs import define, field, frozen

from gangsched_framework.hierarchy import Forest
from gangsched_framework.objects import EntityKey, Pod
from gangsched_queue.entities import QueuedPodGroupInfo
from gangsched_queue.settings import SECOND

LAST = EntityKey("\U0010ffff")
"""Behind every key."""


@frozen(eq=False)
class Sleeper:
    """A dormant tree; ``since`` counts the rounds of its bucket that passed before it joined."""

    entity: QueuedPodGroupInfo
    since: int


@frozen(eq=False)
class Stretch:
    """Sleepers that had a turn at one go, from the key ``first`` on; ``serial`` = the count of all retries then."""

    first: EntityKey
    outcome: object
    serial: int


@frozen(eq=False)
class Roused:
    """A tree whose retries were made up: how many, when and how the last one, its groups and pods in tree order."""

    key: EntityKey
    retries: int
    last: int
    serial: int
    outcome: object
    groups: tuple[EntityKey, ...]
    pods: tuple[Pod, ...]


@define(eq=False)
class Kind:
    """Trees that are equal for the scheduler: refused alike as long as the world does not change.

    ``outcome`` is the caller's record of a refusal, ``version`` that of the last world of which it is known that such
    trees are refused so. ``buckets`` by (period, phase).
    """

    key: Hashable
    outcome: object
    version: int
    buckets: dict[tuple[int, int], Bucket] = field(factory=dict)


@define(eq=False)
class Bucket:
    """Trees of one ``kind`` that return together, next at ``due``, every ``period`` nanoseconds."""

    kind: Kind
    period: int
    due: int
    priority: int
    rounds: int = 0
    sleepers: dict[EntityKey, Sleeper] = field(factory=dict)
    """Those whose turn is at ``due``."""
    newcomers: dict[EntityKey, Sleeper] = field(factory=dict)
    """Those that had their own attempt at the instant of the bucket's next turn: that turn is none of theirs."""
    _order: list[EntityKey] = field(factory=list)
    _passed: int = 0
    """The sleepers in the order in which they would be tried; so many of them have had the turn at ``due``."""
    _before: list[Stretch] = field(factory=list)
    _now: list[Stretch] = field(factory=list)
    """The last whole turn, and that at ``due``."""

    @property
    def last_rank(self) -> tuple[int, int]:
        """Where its trees would stand in the active queue at their next turn: by priority, then last attempt."""
        return (-self.priority, self.due - self.period)

    @property
    def next(self) -> EntityKey | None:
        """The first sleeper that has not had the turn at ``due``."""
        return self._order[self._passed] if self._passed < len(self._order) else None

    def add(self, key: EntityKey, entity: QueuedPodGroupInfo, due: int) -> None:
        """A tree that returns at ``due``: the bucket's time, or one turn later after an attempt of its own."""
        if due == self.due:
            assert not self._passed
            self.sleepers[key] = Sleeper(entity, self.rounds)
            insort(self._order, key)
        else:
            assert due == self.due + self.period
            self.newcomers[key] = Sleeper(entity, self.rounds + 1)

    def remove(self, key: EntityKey) -> tuple[Sleeper, int, int, Stretch | None]:
        """Take a tree out: its record, how many retries it has had, when and with what outcome the last one."""
        sleeper = self.newcomers.pop(key, None)
        if sleeper is not None:
            return sleeper, 0, 0, None
        sleeper = self.sleepers.pop(key)
        at = bisect_left(self._order, key)
        del self._order[at]
        stretches, rounds, last = self._before, self.rounds, self.due - self.period
        if at < self._passed:
            self._passed -= 1
            stretches, rounds, last = self._now, rounds + 1, self.due
        retries = rounds - sleeper.since
        turn = stretches[bisect_right(stretches, key, key=_first) - 1] if retries else None
        return sleeper, retries, last, turn

    def pass_on(self, until: EntityKey, retries: int) -> int:
        """The sleepers before ``until`` have had the turn at ``due``, too, with the kind's outcome.

        Returns ``retries``, the count of all trees, with theirs.
        """
        first, self._passed = self._passed, bisect_left(self._order, until, self._passed)
        if self._passed > first:
            retries += self._passed - first
            self._now.append(Stretch(self._order[first], self.kind.outcome, retries))
        return retries

    def turn(self) -> None:
        """The turn at ``due`` is over; the next one is everybody's."""
        self.rounds += 1
        self.due += self.period
        self._passed = 0
        self._before, self._now = self._now, []
        if self.newcomers:
            self.sleepers.update(self.newcomers)
            self._order = sorted(self.sleepers)
            self.newcomers.clear()

    def skip(self, rounds: int, retries: int) -> int:
        """So many whole turns pass, all with the kind's outcome; returns ``retries`` as ``pass_on`` does."""
        retries += rounds * len(self._order)
        if rounds and self._order:
            self._before = [Stretch(self._order[0], self.kind.outcome, retries)]
        self.rounds += rounds
        self.due += rounds * self.period
        return retries

    def _check(self) -> None:
        assert self.sleepers or self.newcomers
        assert self._order == sorted(self.sleepers)
        assert all(0 <= s.since <= self.rounds for s in self.sleepers.values())
        assert all(s.since == self.rounds + 1 for s in self.newcomers.values())


def _first(stretch: Stretch) -> EntityKey:
    return stretch.first


class DormantTrees:
    """Buckets by kind. ``retries`` counts the attempts that passed without being carried out."""

    def __init__(self) -> None:
        self.retries = 0
        self.roused: list[Roused] = []
        self._kinds: dict[Hashable, Kind] = {}
        self._bucket_of: dict[EntityKey, Bucket] = {}
        self._none_before = 0
        """No bucket is due before."""

    def __len__(self) -> int:
        return len(self._bucket_of)

    def __contains__(self, key: EntityKey) -> bool:
        return key in self._bucket_of

    def keys(self) -> list[EntityKey]:
        """Keys of all dormant trees."""
        return list(self._bucket_of)

    def kinds(self) -> Iterable[Kind]:
        return self._kinds.values()

    def buckets(self) -> list[Bucket]:
        return [bucket for kind in self._kinds.values() for bucket in kind.buckets.values()]

    def add(self, entity: QueuedPodGroupInfo, key: Hashable, period: int, outcome: object, version: int) -> None:
        """Lay down a tree of kind ``key`` that has just been refused; it returns ``period`` after its timestamp."""
        due = entity.timestamp + period
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = Kind(key, outcome, version)
        kind.outcome, kind.version = outcome, version
        place = (period, due % period)
        bucket = kind.buckets.get(place)
        if bucket is None:
            bucket = kind.buckets[place] = Bucket(kind, period, due, entity.priority)
            self._none_before = min(self._none_before, due)
        bucket.add(entity.key, entity, due)
        self._bucket_of[entity.key] = bucket

    def next_due(self, version: int) -> int | None:
        """The first return of a bucket whose kind may not be refused in this version of the world."""
        unsure = [kind for kind in self._kinds.values() if kind.version != version]
        return min((b.due for kind in unsure for b in kind.buckets.values()), default=None)

    def due(self, now: int) -> list[Bucket]:
        """Of the buckets whose turn has come those that are first in the order of the queue."""
        due = self._due_before(now + 1)
        if len(due) > 1:
            first = min(bucket.last_rank for bucket in due)
            return [bucket for bucket in due if bucket.last_rank == first]
        return due

    def _due_before(self, time: int) -> list[Bucket]:
        if time <= self._none_before:
            return []
        buckets = self.buckets()
        self._none_before = min((bucket.due for bucket in buckets), default=time)
        return [bucket for bucket in buckets if bucket.due < time] if self._none_before < time else []

    def pass_on(self, bucket: Bucket, until: EntityKey = LAST) -> None:
        """The sleepers of a bucket before ``until`` that have not had the turn at its due time are refused again."""
        self.retries = bucket.pass_on(until, self.retries)

    def pass_time(self, time: int) -> None:
        """Nothing happens before ``time``: every return before it is a refusal like the last one. O(buckets)."""
        for bucket in self._due_before(time):
            self.pass_on(bucket)
            bucket.turn()
            rounds = max(0, time - bucket.due + bucket.period - 1) // bucket.period
            self.retries = bucket.skip(rounds, self.retries)

    def take_roused(self) -> list[Roused]:
        """Trees roused since the last call whose retries were made up."""
        roused, self.roused = self.roused, []
        return roused

    def entity(self, key: EntityKey) -> QueuedPodGroupInfo:
        """A dormant tree, as it was laid down."""
        bucket = self._bucket_of[key]
        return (bucket.sleepers.get(key) or bucket.newcomers[key]).entity

    def rouse(self, key: EntityKey, forest: Forest) -> QueuedPodGroupInfo | None:
        """Take a tree out, as if its retries had been carried out; None when it is not here."""
        bucket = self._bucket_of.pop(key, None)
        if bucket is None:
            return None
        sleeper, retries, last, turn = bucket.remove(key)
        if not bucket.sleepers and not bucket.newcomers:
            self._drop(bucket)
        entity = sleeper.entity
        if turn is not None:
            entity.attempts += retries
            entity.unschedulable_count += retries
            entity.timestamp = last
            for info in entity.members():
                info.attempts += retries
                info.timestamp = last
            entity.backoff_expiration = last + bucket.period - SECOND
            groups = tuple(info.key for info in forest.tree(key).walk())
            pods = tuple(info.pod for infos in entity.ordered(forest).values() for info in infos)
            self.roused.append(Roused(key, retries, last, turn.serial, turn.outcome, groups, pods))
        return entity

    def _drop(self, bucket: Bucket) -> None:
        kind = bucket.kind
        del kind.buckets[(bucket.period, bucket.due % bucket.period)]
        if not kind.buckets:
            del self._kinds[kind.key]

    def _check(self) -> None:
        buckets = self.buckets()
        assert {k for b in buckets for k in (*b.sleepers, *b.newcomers)} == self._bucket_of.keys()
        assert all(bucket.due >= self._none_before for bucket in buckets)
        for key, kind in self._kinds.items():
            assert kind.key == key
            assert kind.buckets
            for place, bucket in kind.buckets.items():
                assert bucket.kind is kind
                assert place == (bucket.period, bucket.due % bucket.period)
                bucket._check()
