"""One column of total scores for all pods of a signature, kept in step with the node table (performance.md §2.11).

``-1`` = infeasible. A log of touched rows tells what to repair; the best node is one ``argmax``. Rows are in name
order, so the first of equal totals is the decided choice (architecture.md §4). What depends on other nodes stands
beside the column, in ``domain_choice``.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gangsched.engine.bulk_plan import can_plan, plan
from gangsched.engine.domain_choice import DomainChoice, FixedScore, normalized
from gangsched.engine.run_ahead import RunAhead
from gangsched_framework.columns import Columns, DomainScore, ScoreColumn, View
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import GroupedRefusals, Rows
from gangsched_framework.status import Status

REBUILD_ABOVE = 200
"""Stale rows from which one vector pass is cheaper than repairs (measured, performance.md §2.3)."""

INFEASIBLE = -1


class SignatureColumn:
    """Total score of every node for one kind of pod.

    ``parts`` are the columnar forms of the plugins in profile order, ``weights`` their score weights. Valid for one
    ``classes`` of the table: when nodes change, the owner makes a new one. ``number`` tells kinds of pods apart;
    ``particular``: the kind is more than its spec. ``repaired`` and ``rebuilt`` count the work.
    """

    def __init__(
        self,
        table: NodeTable,
        parts: Sequence[Columns],
        weights: Sequence[int],
        *,
        number: int = 0,
        particular: bool = False,
    ) -> None:
        self.classes = table.classes
        self.number = number
        self.particular = particular
        self.repaired = self.rebuilt = 0
        self._table = table
        self._parts, self._weights = parts, weights
        self.filters = [part.filter for part in parts if part.filter is not None]
        self._guards = [part.guard for part in parts if part.guard is not None]
        self._absolute: list[tuple[ScoreColumn, int]] = []
        relative: list[tuple[DomainScore | FixedScore, int]] = []
        self._constant = largest = 0
        for part, weight in zip(parts, weights, strict=True):
            if part.score is None:
                continue
            largest += weight * MAX_NODE_SCORE
            score = part.score
            if isinstance(score, ScoreColumn) and not score.normalize:
                self._absolute.append((score, weight))
                continue
            domain = score if isinstance(score, DomainScore) else normalized(score, weight)
            if isinstance(domain, int):
                self._constant += domain
            else:
                relative.append((domain, weight))
        self._tests = [f.test for f in self.filters if f.test is not None]
        self._ones = [(s.one, weight) for s, weight in self._absolute if s.one is not None]
        self._buffer: array[int] = array("i" if largest < 2**31 else "q", [0]) * len(table.names)
        self._totals: NDArray[np.signedinteger] = np.frombuffer(self._buffer, self._buffer.typecode)
        domains = [f.domain for f in self.filters if f.domain is not None]
        self.local = not domains and not any(isinstance(score, DomainScore) for score, _ in relative)
        """Whether a node's fate with the pod depends on that node, and on which nodes are feasible, alone."""
        self._choice = DomainChoice(self._totals, domains, relative, largest) if domains or relative else None
        self._fixed: tuple[NDArray[np.bool_], NDArray[np.int64]] | None = None
        self._static: list[int] = []
        self._open: list[bool] = []
        self._position = -1
        self._log = table.touched
        self._plannable = self._choice is None and can_plan(self.filters, self._absolute)
        everything = np.arange(len(table.names))
        self.run = RunAhead(table, lambda count: self.plan(everything, count)) if self._plannable else None

    def usable(self) -> bool:
        """Whether every plugin's guard holds now."""
        for guard in self._guards:  # noqa: SIM110 - asked for every pod
            if not guard():
                return False
        return True

    def with_filter(self, extra: Columns) -> SignatureColumn:
        """The column of the same kind of pod under one more filter, which is asked first."""
        parts, weights = (extra, *self._parts), (0, *self._weights)
        return SignatureColumn(self._table, parts, weights, number=self.number, particular=self.particular)

    def best_for(self, pod: Pod) -> int:
        """Row of the best node for a pod of this kind that is put there next, -1 when none is feasible."""
        run = self.run
        if run is None or pod.status.allocated:  # which counts on its node something else than it asks for
            return self.best()
        row = run.next(pod.key)
        if row is None:
            row = self.best()
            run.found(pod.key, row)
        return row

    def best(self) -> int:
        """Row of the best node, -1 when none is feasible."""
        self.refresh()
        if not self._buffer:
            return INFEASIBLE
        if self._choice is not None:
            return self._choice.best()
        row = int(self._totals.argmax())
        return row if self._buffer[row] >= 0 else INFEASIBLE

    def best_of(self, rows: Rows) -> int:
        """Row of the best node among ``rows`` (ascending, not empty), as if no other node existed; -1 when none is
        feasible."""
        self.refresh()
        if self._choice is not None:
            return self._choice.best_of(rows)
        totals = self._totals[rows]
        at = int(totals.argmax())
        return int(rows[at]) if totals[at] >= 0 else INFEASIBLE

    def plan(self, rows: Rows, count: int) -> list[int] | None:
        """The rows that ``count`` pods of this kind get among ``rows`` one after the other, fewer when room ends.

        None when they must be chosen one by one. The pods must count on their nodes what they ask for (no resize).
        """
        if not self._plannable:
            return None
        self.refresh()
        assert self._fixed is not None
        totals = self._totals[rows]
        feasible = rows[totals >= 0]
        if len(feasible) > count:  # each pod takes one of the ``count`` best rows, the first among equals
            ranks = totals[totals >= 0].astype(np.int64) * -len(self._totals) + feasible
            feasible = np.sort(feasible[np.argpartition(ranks, count - 1)[:count]])
        return plan(self.filters, self._absolute, self._fixed[1][feasible], feasible, count)

    def plan_few(self, pod: Pod, rows: Rows, count: int) -> list[int] | None:
        """``plan`` for few pods like ``pod``: each is chosen with the ones before it counted in, and nothing stays."""
        if not self._plannable or pod.spec.host_ports:  # a port is not counted, it is taken
            return None
        self.refresh()
        table, totals = self._table, self._totals[rows]
        taken: list[int] = []
        for _ in range(count):
            at = int(totals.argmax())
            if totals[at] < 0:
                break
            row = int(rows[at])
            table.count(row, pod, 1, told=False)
            taken.append(row)
            totals[at] = self._total(row)
        for row in taken:
            table.count(row, pod, -1, told=False)
        return taken

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

    def _repair(self, row: int) -> None:
        self.repaired += 1
        self._put(row, self._total(row))

    def _put(self, row: int, new: int) -> None:
        if self._choice is not None:
            self._choice.put(row, self._buffer[row], new)
        self._buffer[row] = new

    def _total(self, row: int) -> int:
        for test in self._tests:
            if not test(row):
                return INFEASIBLE
        if not self._open:
            self._list_fixed()
        return self.score(row) if self._open[row] else INFEASIBLE

    def _list_fixed(self) -> None:
        """As lists, which single rows are read from faster; a column that is never repaired does without."""
        assert self._fixed is not None
        self._open, self._static = self._fixed[0].tolist(), self._fixed[1].tolist()

    def score(self, row: int) -> int:
        """The node-local total of a row as if it were feasible, now."""
        if not self._static:
            self._list_fixed()
        total = self._static[row]
        for one, weight in self._ones:
            total += one(row) * weight
        return total

    def _rebuild(self) -> None:
        self.rebuilt += 1
        if self._fixed is None:
            self._fixed = self._fix()
        opened, static = self._fixed
        feasible, totals = opened.copy(), static.copy()
        for column in self.filters:
            if column.test is not None:
                feasible &= column.mask()
        for score, weight in self._absolute:
            if score.one is not None:
                totals += score.vector() * weight
        self._totals[:] = np.where(feasible, totals, INFEASIBLE)
        if self._choice is not None:
            self._choice.fill()

    def _fix(self) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """What the pods on the nodes do not change: which nodes may be feasible at all, and their fixed scores."""
        rows = len(self._table.names)
        opened, static = np.ones(rows, np.bool_), np.full(rows, self._constant, np.int64)
        for column in self.filters:
            if column.test is None:
                opened &= column.mask()
        for score, weight in self._absolute:
            if score.one is None:
                static += score.vector() * weight
        return opened, static

    def force(self, row: int, feasible: bool) -> int:
        """Give a row another verdict; returns what ``restore`` needs to take it back."""
        self.refresh()
        if not self._open:
            self._list_fixed()
        old = self._buffer[row]
        self._put(row, self.score(row) if feasible else INFEASIBLE)
        return old

    def restore(self, row: int, old: int) -> None:
        """Take back a ``force``."""
        self._put(row, old)

    def refusals(self, rows: Rows) -> GroupedRefusals:
        """Why ``rows``, when no other node exists, are refused: the first refusing plugin of each, in profile order."""
        view = View(rows, whole=len(rows) == len(self._table.names))
        groups: list[tuple[Status, Rows]] = []
        left = rows
        for column in self.filters:
            if not len(left):
                break
            refused = list(column.domain.refusals(left, view) if column.domain else column.refusals(left))
            groups += refused
            if refused:
                left = np.setdiff1d(left, np.concatenate([r for _, r in refused]), assume_unique=True)
        return GroupedRefusals(self._table.names, groups)

    def total(self, row: int) -> int:
        """The node-local total of one row as the column holds it."""
        return self._buffer[row]
