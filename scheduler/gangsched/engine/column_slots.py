"""What each plugin brings to the column of a kind of pod, and what of it no pod on the nodes changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gangsched.engine.domain_choice import FixedScore, normalized
from gangsched_framework.columns import Columns, DomainScore, FilterColumn, ScoreColumn
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

    @property
    def is_moving(self) -> bool:
        """Whether all it says depends on the pods on the nodes."""
        still = (self.filter is not None and self.filter.test is None) or self.constant
        return not still and (self.absolute is None or self.absolute.one is not None)


class Ground:
    """Of some slots what the pods on the nodes do not change: ``opened`` tells which rows may be feasible at all,
    ``static`` holds their fixed scores. Shared by all columns that stand on it."""

    def __init__(self, opened: NDArray[np.bool_], static: NDArray[np.int64]) -> None:
        self.opened = opened
        self.static = static
        self._lists: tuple[list[bool], list[int]] | None = None

    @classmethod
    def of(cls, slots: Sequence[Slot], rows: int) -> Ground:
        """The ground of ``slots`` alone."""
        return cls(np.ones(rows, np.bool_), np.zeros(rows, np.int64)).plus(slots)

    def plus(self, slots: Sequence[Slot]) -> Ground:
        """With more slots; this one if they add nothing."""
        if all(slot.is_moving for slot in slots):
            return self
        opened, static = self.opened.copy(), self.static.copy()
        for slot in slots:
            if slot.filter is not None and slot.filter.test is None:
                opened &= slot.filter.mask()
            if slot.absolute is not None and slot.absolute.one is None:
                static += slot.absolute.vector() * slot.weight
            static += slot.constant
        return Ground(opened, static)

    @property
    def lists(self) -> tuple[list[bool], list[int]]:
        """``opened`` and ``static`` as lists, which single rows are read from faster; made when asked for."""
        if self._lists is None:
            self._lists = self.opened.tolist(), self.static.tolist()
        return self._lists
