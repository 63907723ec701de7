"""Refused trees that would be refused again: their retries pass without being carried out.

A tree whose penalty has reached its maximum returns every ``period``. Trees that are equal for the scheduler
(``kind``), wait equally long and return at the same instants form a *bucket*: while their kind is refused, one entry
stands for all their retries, and a retry of the whole bucket costs O(1). What the retries would have changed in an
entity (attempts, counters, timestamps) is made up when somebody needs it: it is *roused*.
"""

from __future__ import annotations

from collections.abc import Hashable

from attrs import define, field, frozen

from gangsched_framework.hierarchy import Forest
from gangsched_framework.objects import EntityKey, Pod
from gangsched_queue.entities import QueuedPodGroupInfo
from gangsched_queue.settings import SECOND


@frozen(eq=False)
class Sleeper:
    """A dormant tree; ``since`` counts the rounds of its bucket that passed before it joined."""

    entity: QueuedPodGroupInfo
    since: int


@frozen(eq=False)
class Roused:
    """A tree whose retries were made up: how many, the time of the last one, its groups and pods in tree order."""

    key: EntityKey
    retries: int
    last: int
    outcome: object
    groups: tuple[EntityKey, ...]
    pods: tuple[Pod, ...]


@define(eq=False)
class Bucket:
    """Trees of one ``kind`` that return together, next at ``due``, every ``period`` nanoseconds.

    ``outcome`` is the caller's record of their last refusal, ``version`` that of the world it was found in.
    """

    kind: Hashable
    period: int
    due: int
    priority: int
    outcome: object
    version: int
    rounds: int = 0
    ahead: int = 0
    """Sleepers that had their own attempt at the instant of the bucket's next turn: that turn is none of theirs."""
    sleepers: dict[EntityKey, Sleeper] = field(factory=dict)

    @property
    def last_rank(self) -> tuple[int, int]:
        """Where its trees would stand in the active queue at their next turn: by priority, then last attempt."""
        return (-self.priority, self.due - self.period)


class DormantTrees:
    """Buckets by (kind, period, phase). ``retries`` counts the attempts that passed without being carried out."""

    def __init__(self) -> None:
        self.retries = 0
        self.roused: list[Roused] = []
        self._buckets: dict[tuple[Hashable, int, int], Bucket] = {}
        self._bucket_of: dict[EntityKey, Bucket] = {}

    def __len__(self) -> int:
        return len(self._bucket_of)

    def __contains__(self, key: EntityKey) -> bool:
        return key in self._bucket_of

    def keys(self) -> list[EntityKey]:
        """Keys of all dormant trees."""
        return list(self._bucket_of)

    def buckets(self) -> list[Bucket]:
        return list(self._buckets.values())

    def add(self, entity: QueuedPodGroupInfo, kind: Hashable, period: int, outcome: object, version: int) -> None:
        """Lay down a tree that has just been refused; it returns ``period`` after its timestamp."""
        due = entity.timestamp + period
        place = (kind, period, due % period)
        bucket = self._buckets.get(place)
        if bucket is None:
            bucket = self._buckets[place] = Bucket(kind, period, due, entity.priority, outcome, version)
        # a bucket that has not had its turn at this instant yet is one round behind the newcomer
        since = bucket.rounds + (due - bucket.due) // period
        bucket.ahead += since > bucket.rounds
        bucket.sleepers[entity.key] = Sleeper(entity, since)
        self._bucket_of[entity.key] = bucket

    def next_due(self, version: int) -> int | None:
        """The first return of a bucket that has not been refused in this version of the world."""
        return min((b.due for b in self._buckets.values() if b.version != version), default=None)

    def due(self, now: int) -> list[Bucket]:
        """Buckets whose turn has come, in the order the active queue would have their trees."""
        return sorted((b for b in self._buckets.values() if b.due <= now), key=lambda b: b.last_rank)

    def repeat(self, bucket: Bucket, outcome: object, version: int) -> None:
        """The whole bucket is refused once more at its due time."""
        bucket.outcome, bucket.version = outcome, version
        self._turn(bucket, 1)

    def pass_time(self, time: int) -> None:
        """Nothing happens before ``time``: every return before it is a refusal like the last one. O(buckets)."""
        for bucket in self._buckets.values():
            if bucket.due < time:
                self._turn(bucket, (time - bucket.due + bucket.period - 1) // bucket.period)

    def _turn(self, bucket: Bucket, rounds: int) -> None:
        bucket.rounds += rounds
        bucket.due += rounds * bucket.period
        self.retries += rounds * len(bucket.sleepers) - bucket.ahead
        bucket.ahead = 0

    def take_roused(self) -> list[Roused]:
        """Trees roused since the last call whose retries were made up."""
        roused, self.roused = self.roused, []
        return roused

    def entity(self, key: EntityKey) -> QueuedPodGroupInfo:
        """A dormant tree, as it was laid down."""
        return self._bucket_of[key].sleepers[key].entity

    def rouse(self, key: EntityKey, forest: Forest) -> QueuedPodGroupInfo | None:
        """Take a tree out, as if its retries had been carried out; None when it is not here."""
        bucket = self._bucket_of.pop(key, None)
        if bucket is None:
            return None
        sleeper = bucket.sleepers.pop(key)
        bucket.ahead -= sleeper.since > bucket.rounds
        if not bucket.sleepers:
            del self._buckets[(bucket.kind, bucket.period, bucket.due % bucket.period)]
        entity = sleeper.entity
        retries = max(0, bucket.rounds - sleeper.since)
        if retries:
            last = bucket.due - bucket.period
            entity.attempts += retries
            entity.unschedulable_count += retries
            entity.timestamp = last
            for info in entity.members():
                info.attempts += retries
                info.timestamp = last
            entity.backoff_expiration = bucket.due - SECOND
            groups = tuple(info.key for info in forest.tree(key).walk())
            pods = tuple(info.pod for infos in entity.ordered(forest).values() for info in infos)
            self.roused.append(Roused(key, retries, last, bucket.outcome, groups, pods))
        return entity

    def _check(self) -> None:
        assert {k for b in self._buckets.values() for k in b.sleepers} == self._bucket_of.keys()
        for place, bucket in self._buckets.items():
            assert place == (bucket.kind, bucket.period, bucket.due % bucket.period)
            assert bucket.sleepers
            assert all(0 <= s.since <= bucket.rounds + 1 for s in bucket.sleepers.values())
            assert bucket.ahead == sum(s.since > bucket.rounds for s in bucket.sleepers.values())
