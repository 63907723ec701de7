"""Placements of a group and the progress inside one (spec podgroup-scheduling.md §6, §4.5)."""

from __future__ import annotations

import numpy as np
from attrs import field, frozen

from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.values import value


@frozen(eq=False)
class Placement:
    """A candidate set of nodes. ``rows`` are row numbers of the node table, ascending; None = every node."""

    name: str
    rows: tuple[int, ...] | None = None

    _array: Rows | None = field(init=False, repr=False, default=None)
    """Once asked for: a cached property would make each look at the rows dearer."""

    @property
    def array(self) -> Rows:
        """``rows`` for numpy; only when they are given."""
        array = self._array
        if array is None:
            array = np.asarray(self.rows, np.intp)
            object.__setattr__(self, "_array", array)
        return array


@value
class Progress:
    """``remaining`` children not yet tried, ``scheduled`` children that count as placed."""

    remaining: int
    scheduled: int


@value
class Assignment:
    """A pod newly placed by the simulation, and the name of its node."""

    pod: Pod
    node_name: str
