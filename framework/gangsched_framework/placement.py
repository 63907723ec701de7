"""Placements of a group and the progress inside one (spec podgroup-scheduling.md §6, §4.5)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from attrs import frozen

from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.values import value


@frozen(eq=False)
class Placement:
    """A candidate set of nodes. ``rows`` are row numbers of the node table, ascending; None = every node."""

    name: str
    rows: tuple[int, ...] | None = None

    @cached_property
    def array(self) -> Rows:
        """``rows`` for numpy; only when they are given."""
        return np.asarray(self.rows, np.intp)


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
