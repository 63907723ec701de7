"""Refused trees that would be refused again: their retries pass without being carried out.

Trees that are equal for the scheduler (``kind``), serve equal penalties and return at the same instants form a
*bucket*: while their kind is refused, one entry stands for all their retries, and a retry of the whole bucket, its
*turn*, costs O(1) once the penalties grow no more; until then the trees move from bucket to bucket. A turn may be had
in parts: when one tree is to be tried, those before it in the order of the queue have had their turn and those behind
it have not.
What the retries would have changed in an entity (attempts, counters, timestamps) is made up when somebody needs it: it
is *roused*.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from attrs import frozen

from gangsched_framework.hierarchy import Forest
from gangsched_framework.objects import EntityKey, Pod
from gangsched_queue.buckets import LAST, Bucket, Kind, Stretch
from gangsched_queue.entities import QueuedPodGroupInfo
from gangsched_queue.settings import SECOND


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


def _make_up(entity: QueuedPodGroupInfo, retries: int, last: int, due: int) -> None:
    """What so many refusals change in a tree, the last one at ``last``; it returns at ``due``."""
    entity.attempts += retries
    entity.unschedulable_count += retries
    entity.timestamp = last
    entity.backoff_expiration = due - SECOND
    for info in entity.members():
        info.attempts += retries
        info.timestamp = last


def _climb(last: int, periods: tuple[int, ...], until: int) -> tuple[int, int, tuple[int, ...]]:
    """Retries before ``until``, when the last of them is, and the periods from then on."""
    retries = 0
    while last + periods[0] < until:
        settled = len(periods) == 1
        rounds = (until - last - 1) // periods[0] if settled else 1
        retries += rounds
        last += rounds * periods[0]
        periods = periods if settled else periods[1:]
    return retries, last, periods


class DormantTrees:
    """Buckets by kind. ``retries`` counts the attempts that passed without being carried out."""

    def __init__(self) -> None:
        self.retries = 0
        self.roused: list[Roused] = []
        self._kinds: dict[Hashable, Kind] = {}
        self.bucket_of: dict[EntityKey, Bucket] = {}
        """Where each dormant tree lies."""
        self._none_before = 0
        """No bucket is due before."""

    def __len__(self) -> int:
        return len(self.bucket_of)

    def __contains__(self, key: EntityKey) -> bool:
        return key in self.bucket_of

    def keys(self) -> list[EntityKey]:
        """Keys of all dormant trees."""
        return list(self.bucket_of)

    def kinds(self) -> Iterable[Kind]:
        return self._kinds.values()

    def buckets(self) -> list[Bucket]:
        return [bucket for kind in self._kinds.values() for bucket in kind.buckets.values()]

    def add(
        self, entity: QueuedPodGroupInfo, key: Hashable, periods: tuple[int, ...], outcome: object, version: int
    ) -> None:
        """Lay down a tree of kind ``key`` that has just been refused; it returns ``periods[0]`` after its timestamp."""
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = Kind(key, outcome, version)
        kind.outcome, kind.version = outcome, version
        self._lay(kind, entity, periods)

    def _lay(
        self,
        kind: Kind,
        entity: QueuedPodGroupInfo,
        periods: tuple[int, ...],
        made_up: int = 0,
        met: Stretch | None = None,
    ) -> None:
        due = entity.timestamp + periods[0]
        fresh = Bucket(kind, periods, due, entity.priority)
        bucket = kind.buckets.setdefault(fresh.place, fresh)
        if bucket is fresh:
            self._none_before = min(self._none_before, due)
        bucket.add(entity, due, made_up, met)
        self.bucket_of[entity.key] = bucket

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

    def end_turn(self, bucket: Bucket, until: int = 0) -> None:
        """Every sleeper of a bucket has had the turn at its due time, and is refused likewise before ``until``."""
        if bucket.settled:
            bucket.turn()
            self._skip(bucket, until)
            return
        del bucket.kind.buckets[bucket.place]
        retries, last, periods = _climb(bucket.due, bucket.periods[1:], until)
        for sleeper, met in bucket.leavers():
            if retries:
                self.retries += retries
                met = Stretch(met.first, bucket.kind.outcome, self.retries)
            _make_up(sleeper.entity, 1 + retries, last, last + periods[0])
            self._lay(bucket.kind, sleeper.entity, periods, sleeper.made_up + 1 + retries, met)

    def pass_time(self, time: int) -> None:
        """Nothing happens before ``time``: every return before it is a refusal like the last one.

        O(buckets, and trees whose penalty still grows).
        """
        for bucket in sorted(self._due_before(time), key=lambda bucket: not bucket.settled):
            if bucket.settled and bucket.untouched:
                self._skip(bucket, time)
            else:
                self.pass_on(bucket)
                self.end_turn(bucket, time)

    def _skip(self, bucket: Bucket, until: int) -> None:
        rounds = max(0, until - bucket.due + bucket.period - 1) // bucket.period
        self.retries = bucket.skip(rounds, self.retries)

    def take_roused(self) -> list[Roused]:
        """Trees roused since the last call whose retries were made up."""
        roused, self.roused = self.roused, []
        return roused

    def entity(self, key: EntityKey) -> QueuedPodGroupInfo:
        """A dormant tree, as it was laid down."""
        bucket = self.bucket_of[key]
        return (bucket.sleepers.get(key) or bucket.newcomers[key]).entity

    def rouse(self, key: EntityKey, forest: Forest) -> QueuedPodGroupInfo | None:
        """Take a tree out, as if its retries had been carried out; None when it is not here."""
        bucket = self.bucket_of.pop(key, None)
        if bucket is None:
            return None
        sleeper, retries, last, met = bucket.remove(key)
        if not bucket.sleepers and not bucket.newcomers:
            self._drop(bucket)
        entity = sleeper.entity
        if retries:
            _make_up(entity, retries, last, last + bucket.periods[min(retries, len(bucket.periods) - 1)])
        if met is not None:
            tree = forest.tree(key)
            groups = tuple(info.key for info in tree.walk())
            pods = tuple(info.pod for infos in entity.ordered(tree).values() for info in infos)
            retries += sleeper.made_up
            self.roused.append(Roused(key, retries, entity.timestamp, met.serial, met.outcome, groups, pods))
        return entity

    def _drop(self, bucket: Bucket) -> None:
        kind = bucket.kind
        del kind.buckets[bucket.place]
        if not kind.buckets:
            del self._kinds[kind.key]

    def _check(self) -> None:
        buckets = self.buckets()
        assert {k for b in buckets for k in (*b.sleepers, *b.newcomers)} == self.bucket_of.keys()
        assert all(bucket.due >= self._none_before for bucket in buckets)
        for key, kind in self._kinds.items():
            assert kind.key == key
            assert kind.buckets
            for place, bucket in kind.buckets.items():
                assert bucket.kind is kind
                assert place == bucket.place
                bucket._check()
