"""Buckets of dormant trees: what returns together, and the turns it has had (``dormant.py``)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterator, Sequence

from attrs import define, field, frozen

from gangsched_framework.objects import EntityKey
from gangsched_queue.entities import QueuedPodGroupInfo

LAST = EntityKey("\U0010ffff")
"""Behind every key."""


@frozen(eq=False)
class Sleeper:
    """A dormant tree; ``since`` counts the rounds of its bucket that passed before it joined.

    ``made_up``: retries it had in other buckets, which its entity shows; ``met`` is the last of them.
    """

    entity: QueuedPodGroupInfo
    since: int
    made_up: int = 0
    met: Stretch | None = None


@frozen(eq=False)
class Stretch:
    """Sleepers that had a turn at one go, from the key ``first`` on; ``serial`` = the count of all retries then."""

    first: EntityKey
    outcome: object
    serial: int


Place = tuple[tuple[int, ...], int]


@define(eq=False)
class Kind:
    """Trees that are equal for the scheduler: refused alike as long as the world does not change.

    ``outcome`` is the caller's record of a refusal, ``version`` that of the last world of which it is known that such
    trees are refused so. ``buckets`` by ``Bucket.place``.
    """

    key: Hashable
    outcome: object
    version: int
    buckets: dict[Place, Bucket] = field(factory=dict)


@define(eq=False)
class Bucket:
    """Trees of one ``kind`` that return together, next at ``due``.

    ``periods``: nanoseconds from one attempt to the next, beginning with that of ``due``; the last one lasts.
    ``settled``: there is but one.
    """

    kind: Kind
    periods: tuple[int, ...]
    due: int
    priority: int
    rounds: int = 0
    sleepers: dict[EntityKey, Sleeper] = field(factory=dict)
    """Those whose turn is at ``due``."""
    newcomers: dict[EntityKey, Sleeper] = field(factory=dict)
    """Those that had their own attempt at the instant of the bucket's next turn: that turn is none of theirs."""
    _order: list[EntityKey] = field(factory=list)
    period: int = field(init=False)
    settled: bool = field(init=False)
    _passed: int = 0
    """The sleepers in the order in which they would be tried; so many of them have had the turn at ``due``."""
    _before: list[Stretch] = field(factory=list)
    _now: list[Stretch] = field(factory=list)
    """The last whole turn, and that at ``due``."""

    def __attrs_post_init__(self) -> None:
        self.period = self.periods[0]
        self.settled = len(self.periods) == 1

    @property
    def untouched(self) -> bool:
        """Whether the turn at ``due`` is everybody's, and nobody has had it."""
        return not self._passed and not self.newcomers

    @property
    def place(self) -> Place:
        """What tells it from the other buckets of its kind."""
        return (self.periods, self.due % self.period if self.settled else self.due)

    @property
    def last_rank(self) -> tuple[int, int]:
        """Where its trees would stand in the active queue at their next turn: by priority, then last attempt."""
        return (-self.priority, self.due - self.period)

    @property
    def next(self) -> EntityKey | None:
        """The first sleeper that has not had the turn at ``due``."""
        return self._order[self._passed] if self._passed < len(self._order) else None

    def add(self, entity: QueuedPodGroupInfo, due: int, made_up: int, met: Stretch | None) -> None:
        """A tree that returns at ``due``: the bucket's time, or one turn later after an attempt of its own."""
        key = entity.key
        if due == self.due:
            assert not self._passed
            self.sleepers[key] = Sleeper(entity, self.rounds, made_up, met)
            insort(self._order, key)
        else:
            assert due == self.due + self.period
            self.newcomers[key] = Sleeper(entity, self.rounds + 1, made_up, met)

    def remove(self, key: EntityKey) -> tuple[Sleeper, int, int, Stretch | None]:
        """Take a tree out: its record, how many retries it has had here, when the last one, and what that met."""
        sleeper = self.newcomers.pop(key, None)
        if sleeper is not None:
            return sleeper, 0, 0, sleeper.met
        sleeper = self.sleepers.pop(key)
        at = bisect_left(self._order, key)
        del self._order[at]
        stretches, rounds, last = self._before, self.rounds, self.due - self.period
        if at < self._passed:
            self._passed -= 1
            stretches, rounds, last = self._now, rounds + 1, self.due
        retries = rounds - sleeper.since
        return sleeper, retries, last, _find(stretches, key) if retries else sleeper.met

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

    def leavers(self) -> Iterator[tuple[Sleeper, Stretch]]:
        """Everybody with what the turn at ``due``, which is over, was to them."""
        return ((self.sleepers[key], _find(self._now, key)) for key in self._order)

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


def _find(stretches: Sequence[Stretch], key: EntityKey) -> Stretch:
    return stretches[bisect_right(stretches, key, key=lambda stretch: stretch.first) - 1]
