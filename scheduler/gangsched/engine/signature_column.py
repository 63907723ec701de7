"""One column of total scores for all pods of a signature, kept in step with the node table (performance.md §2.11).

``-1`` = infeasible. A log of touched rows tells what to repair; the best node is one ``argmax``. Rows are in name
order, so the first of equal totals is the decided choice (architecture.md §4).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gangsched_framework.columns import Columns, ScoreColumn
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_table import NodeTable
from gangsched_framework.refusals import GroupedRefusals, Rows
from gangsched_framework.status import Status

REBUILD_ABOVE = 200
"""Stale rows from which one vector pass is cheaper than repairs (measured, performance.md §2.3)."""

INFEASIBLE = -1


class SignatureColumn:
    """Total score of every node for one kind of pod.

    ``parts`` are the columnar forms of the plugins in profile order, ``weights`` their score weights. Valid for one
    ``classes`` of the table: when nodes change, the owner makes a new one. ``repaired`` and ``rebuilt`` count the work.
    """

    def __init__(self, table: NodeTable, parts: Sequence[Columns], weights: Sequence[int]) -> None:
        self.classes = table.classes
        self.repaired = self.rebuilt = 0
        self._table = table
        self._filters = [part.filter for part in parts if part.filter is not None]
        self._guards = [part.guard for part in parts if part.guard is not None]
        scored = [(part.score, w) for part, w in zip(parts, weights, strict=True) if part.score is not None]
        self._absolute = [(score, weight) for score, weight in scored if not score.normalize]
        normalized = [_Normalized(score, weight) for score, weight in scored if score.normalize]
        self._normalized = [norm for norm in normalized if not norm.uniform]
        self._constant = sum(norm.constant for norm in normalized if norm.uniform)
        self._tests = [f.test for f in self._filters if f.test is not None]
        self._ones = [(s.one, weight) for s, weight in self._absolute if s.one is not None]
        largest = sum(weight * MAX_NODE_SCORE for _, weight in scored)
        self._buffer: array[int] = array("i" if largest < 2**31 else "q", [0]) * len(table.names)
        self._totals: NDArray[np.signedinteger] = np.frombuffer(self._buffer, self._buffer.typecode)
        self._static: Sequence[int] = ()
        self._open: Sequence[bool] = ()
        self._position = -1
        self._log = table.touched

    def usable(self) -> bool:
        """Whether every plugin's guard holds now."""
        for guard in self._guards:  # noqa: SIM110 - asked for every pod
            if not guard():
                return False
        return True

    @property
    def splittable(self) -> bool:
        """Whether a subset of the nodes has the same totals: no score is normalised over unequal raw values."""
        return not self._normalized

    def best(self) -> int:
        """Row of the best node, -1 when none is feasible."""
        self.refresh()
        if not self._buffer:
            return INFEASIBLE
        row = int(self._totals.argmax())
        return row if self._buffer[row] >= 0 else INFEASIBLE

    def best_of(self, rows: Rows) -> int:
        """Row of the best node among ``rows`` (ascending), -1 when none is feasible; ``splittable`` columns only."""
        self.refresh()
        totals = self._totals[rows]
        at = int(totals.argmax())
        return int(rows[at]) if totals[at] >= 0 else INFEASIBLE

    def refresh(self) -> None:
        """Bring the column up to date: repair the touched rows, or rebuild when there are many."""
        log = self._table.touched
        end = len(log)
        start = self._position
        if log is not self._log or start < 0 or start > end:
            self._rebuild()
        elif start == end:
            return
        elif end - start == 1:
            self._repair(log[start])
        else:
            stale = dict.fromkeys(log[start:end])
            if len(stale) > REBUILD_ABOVE:
                self._rebuild()
            else:
                for row in stale:
                    self._repair(row)
        self._log, self._position = log, end
        if self._normalized and any(norm.moved() for norm in self._normalized):
            self._rebuild()

    def _repair(self, row: int) -> None:
        self.repaired += 1
        old = self._buffer[row]
        new = self._total(row)
        self._buffer[row] = new
        if self._normalized and (old < 0) != (new < 0):
            for norm in self._normalized:
                norm.count(row, 1 if new >= 0 else -1)

    def _total(self, row: int) -> int:
        if not self._open[row]:
            return INFEASIBLE
        for test in self._tests:
            if not test(row):
                return INFEASIBLE
        total = self._static[row]
        for one, weight in self._ones:
            total += one(row) * weight
        return total

    def _rebuild(self) -> None:
        self.rebuilt += 1
        rows = len(self._table.names)
        feasible = np.ones(rows, np.bool_)
        opened = np.ones(rows, np.bool_)
        for column in self._filters:
            mask = column.mask()
            feasible &= mask
            if column.test is None:
                opened &= mask
        static = np.full(rows, self._constant, np.int64)
        for norm in self._normalized:
            static += norm.rebuild(feasible)
        moving = np.zeros(rows, np.int64)
        for score, weight in self._absolute:
            target = static if score.one is None else moving
            target += score.vector() * weight
        self._static = static.tolist()
        self._open = opened.tolist()
        self._totals[:] = np.where(feasible, static + moving, INFEASIBLE)

    def refusals(self, rows: Rows) -> GroupedRefusals:
        """Why ``rows`` are refused: the first refusing plugin of each, in profile order."""
        groups: list[tuple[Status, Rows]] = []
        left = rows
        for column in self._filters:
            if not len(left):
                break
            refused = list(column.refusals(left))
            groups += refused
            if refused:
                left = np.setdiff1d(left, np.concatenate([r for _, r in refused]), assume_unique=True)
        return GroupedRefusals(self._table.names, groups)

    def total(self, row: int) -> int:
        """The total of one row as the column holds it."""
        return self._buffer[row]


class _Normalized:
    """A score that depends on the node's object and is normalised over the feasible nodes (node-plugins.md §5.6).

    How many feasible nodes have each raw value is counted, so it is known when the maximum moves. ``uniform``: all raw
    values are equal, so every feasible node gets ``constant``, whichever are feasible.
    """

    def __init__(self, score: ScoreColumn, weight: int) -> None:
        self._raw = score.vector()
        self._values: list[int] = self._raw.tolist()
        self._reversed = score.normalize == "reversed"
        self._weight = weight
        self._counts: dict[int, int] = {}
        self._maximum = 0
        self.uniform = len(self._raw) == 0 or bool((self._raw == self._raw[0]).all())
        # all equal: 100 for a positive maximum, 0 for none, and the reverse of it
        positive = len(self._raw) > 0 and self._values[0] > 0
        self.constant = weight * MAX_NODE_SCORE if positive != self._reversed else 0

    def rebuild(self, feasible: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The weighted normalised scores, given the feasible nodes."""
        values, counts = np.unique(self._raw[feasible], return_counts=True)
        self._counts = dict(zip(values.tolist(), counts.tolist(), strict=True))
        self._maximum = max(self._counts, default=0)
        if self._maximum == 0:
            whole = MAX_NODE_SCORE if self._reversed else 0
            return np.full(len(self._raw), whole * self._weight, np.int64)
        scaled = MAX_NODE_SCORE * self._raw // self._maximum
        return self._weight * (MAX_NODE_SCORE - scaled if self._reversed else scaled)

    def count(self, row: int, change: int) -> None:
        """A row became feasible (+1) or infeasible (-1)."""
        value = self._values[row]
        left = self._counts.get(value, 0) + change
        if left:
            self._counts[value] = left
        else:
            del self._counts[value]

    def moved(self) -> bool:
        """Whether the maximum is another one than at the last rebuild."""
        return max(self._counts, default=0) != self._maximum
