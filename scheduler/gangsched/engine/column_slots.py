"""What each plugin brings to the column of a kind of pod, and what of it no pod on the nodes changes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gangsched.engine.domain_choice import FixedScore, normalized
from gangsched_framework.columns import Columns, DomainFilter, DomainScore, FilterColumn, ScoreColumn
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.values import value


@value(eq=False)
class Slot:
    """One plugin's part: a filter, and a score that is ``absolute``, or ``relative`` to other nodes, or a constant.

    ``weight`` of the score; ``largest``: what the score comes to at most, weighed.
    """

    filter: FilterColumn | None
    guard: Callable[[], bool] | None
    weight: int
    largest: int
    absolute: ScoreColumn | None = None
    relative: DomainScore | FixedScore | None = None
    constant: int = 0

    @classmethod
    def of(cls, columns: Columns, weight: int, *, filters: bool = True) -> Slot | None:
        """None for a plugin that is silent. ``filters``: it is asked to filter; it scores if it has a ``weight``."""
        refuse = columns.filter if filters else None
        score = columns.score if weight else None
        if score is None:
            return cls(refuse, columns.guard, 0, 0) if refuse is not None or columns.guard is not None else None
        largest = weight * MAX_NODE_SCORE
        if isinstance(score, DomainScore):
            return cls(refuse, columns.guard, weight, largest, relative=score)
        if not score.normalize:
            return cls(refuse, columns.guard, weight, largest, absolute=score)
        fixed = normalized(score, weight)
        if isinstance(fixed, int):
            return cls(refuse, columns.guard, weight, largest, constant=fixed)
        return cls(refuse, columns.guard, weight, largest, relative=fixed)


class Still:
    """What pods on the nodes do not change: ``opened`` tells which rows may be feasible at all, ``static`` holds fixed
    scores. Shared by all columns that stand on it."""

    def __init__(self, opened: NDArray[np.bool_], static: NDArray[np.int64]) -> None:
        self.opened = opened
        self.static = static
        self._by_row: array[int] | None = None

    @property
    def by_row(self) -> array[int]:
        """``static``, -1 where not ``opened``, for single rows; made when asked for. Kept small, for kinds of pods that
        take turns find little of theirs in the processor's cache."""
        if self._by_row is None:
            code = "i" if self.static.max(initial=0) < 2**31 else "q"
            self._by_row = array(code, np.where(self.opened, self.static, -1).astype(code).tobytes())
        return self._by_row


@value(eq=False)
class Ground:
    """What some slots say, sorted: what is still, the ``filters`` and weighed ``scores`` that pods on the nodes change,
    and what depends on other nodes (``domains``, ``relative``). ``largest``: what all scores come to at most."""

    still: Still
    guards: Sequence[Callable[[], bool]]
    filters: Sequence[FilterColumn]
    scores: Sequence[tuple[ScoreColumn, int]]
    domains: Sequence[DomainFilter]
    relative: Sequence[tuple[DomainScore | FixedScore, int]]
    largest: int

    @classmethod
    def of(cls, slots: Sequence[Slot], rows: int) -> Ground:
        """The ground of ``slots`` alone."""
        return cls(Still(np.ones(rows, np.bool_), np.zeros(rows, np.int64)), (), (), (), (), (), 0).plus(slots)

    def plus(self, slots: Sequence[Slot]) -> Ground:
        """With more slots."""
        opened, static, largest = self.still.opened, self.still.static, self.largest
        guards, filters, scores = [*self.guards], [*self.filters], [*self.scores]
        domains, relative = [*self.domains], [*self.relative]
        for slot in slots:
            largest += slot.largest
            refuse, score = slot.filter, slot.absolute
            if refuse is not None:
                if refuse.test is None:
                    opened = opened & refuse.mask()
                else:
                    filters.append(refuse)
                if refuse.domain is not None:
                    domains.append(refuse.domain)
            if score is not None:
                if score.one is None:
                    static = static + np.multiply(score.vector(), slot.weight, dtype=np.int64)
                else:
                    scores.append((score, slot.weight))
            elif slot.relative is not None:
                relative.append((slot.relative, slot.weight))
            elif slot.constant:
                static = static + slot.constant
            if slot.guard is not None:
                guards.append(slot.guard)
        same = opened is self.still.opened and static is self.still.static
        still = self.still if same else Still(opened, static)
        return Ground(still, guards, filters, scores, domains, relative, largest)
