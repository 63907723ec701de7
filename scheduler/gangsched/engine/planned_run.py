"""Gangs of one kind that go to one placement one after the other: their rows are planned ahead (performance.md §2.9).

While nothing happens on the placement's nodes but that each gang comes to the rows it was given, the next one's rows
are the next of the plan: nothing is repaired or searched.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from gangsched.engine.bulk_plan import MIN_RUN
from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows

START = 64
"""Pods from which a plan for the gangs to come is cheaper than choosing for each gang (measured)."""
LONGEST = 512
"""Pods planned at once."""
AHEAD = 4
"""A plan is for so many times the gangs that have come already."""


@define(eq=False)
class PlannedRun:
    """The run of one placement. ``length``: how many gangs in a row took the rows they were given."""

    length: int = 0
    _plan: list[int] = field(factory=list)
    """What is left of it, first row last."""
    _taken: Sequence[tuple[str, int]] = ()

    def next(self, column: SignatureColumn, pods: Sequence[Pod], rows: Rows) -> list[int] | None:
        """The rows that ``pods``, all of the column's kind, get among ``rows``, fewer when room ends.

        None when they must be chosen one by one. Asked when rows of the placement were touched since the last answer.
        """
        count = len(pods)
        if len(self._plan) < count:
            ahead = min(count * self.length * AHEAD, LONGEST)
            self._plan = (column.plan(rows, ahead) or [])[::-1] if ahead >= START else []
        if len(self._plan) < count:
            self._plan.clear()
            return column.plan(rows, count) if count >= MIN_RUN else column.plan_few(pods[0], rows, count)
        given = self._plan[: -count - 1 : -1]
        del self._plan[-count:]
        return given

    def take(self, pods: Sequence[tuple[str, int]]) -> None:
        """A gang comes to the rows it was given last: keys of its pods, with their rows."""
        self._taken = pods

    def goes_on(self, touched: Sequence[int], table: NodeTable) -> None:
        """Rows of the placement were touched, each as often as listed: unless all of it is the last gang's coming, the
        run begins anew."""
        taken, self._taken = self._taken, ()
        if sorted(touched) == sorted(row for _, row in taken) and all(key in table.pods[row] for key, row in taken):
            self.length += 1
        else:
            self.length = 0
            self._plan.clear()
