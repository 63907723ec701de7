"""One column of total scores for all pods of a signature, kept in step with the node table (performance.md §2.11).

``-1`` = infeasible. A log of touched rows tells what to repair; the best node is one ``argmax``. Rows are in name
order, so the first of equal totals is the decided choice (architecture.md §4). What depends on other nodes stands
beside the column, in ``domain_choice``.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsched.engine.bulk_plan import can_plan, plan, room_of
from gangsched.engine.column_slots import Ground, Slot
from gangsched.engine.domain_choice import DomainChoice
from gangsched.engine.row_facts import FactsOfTable, RowFacts
from gangsched_framework.columns import Columns, DomainScore, FilterColumn
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import GroupedRefusals, Rows
from gangsched_framework.status import Status

REBUILD_ABOVE = 16
"""Stale rows from which one vector pass is cheaper than repairs, with a fortieth of the nodes on top (measured)."""

INFEASIBLE = -1


class SignatureColumn:
    """Total score of every node for one kind of pod.

    ``slots`` are what the plugins bring, in profile order; ``ground`` holds what of all but ``own`` no pod changes.
    Valid for one ``classes`` of the table: when nodes change, the owner makes a new one. ``number`` tells kinds of pods
    apart; ``particular``: the kind is more than its spec. ``repaired`` and ``rebuilt`` count the work. ``told``: who
    remembers rows must hear of each touched one, also where it does not decide.
    """

    def __init__(
        self,
        table: NodeTable,
        slots: Sequence[Slot],
        ground: Ground,
        own: Sequence[Slot],
        facts: FactsOfTable,
        *,
        number: int = 0,
        particular: bool = False,
        told: Callable[[int], object] | None = None,
    ) -> None:
        self.classes = table.classes
        self.number = number
        self.particular = particular
        self.repaired = self.rebuilt = 0
        self._table = table
        self._slots = slots
        self._told = told
        self._ground = ground = ground.plus(own)
        self.guarded = bool(ground.guards)
        self._still = ground.still
        self._buffer: array[int] = array("i" if ground.largest < 2**31 else "q", [0]) * len(table.names)
        self._totals: NDArray[np.signedinteger] = np.frombuffer(self._buffer, self._buffer.typecode)
        self._choice: DomainChoice | None = None
        self.local = not ground.domains
        """Whether a node's fate with the pod depends on that node, and on which nodes are feasible, alone."""
        if ground.domains or ground.relative:
            self._choice = DomainChoice(self._totals, ground.domains, ground.relative, ground.largest)
            self.local = self.local and not any(isinstance(score, DomainScore) for score, _ in ground.relative)
        self._shared = facts
        self._tests: list[tuple[Callable[[Any], bool], int]] = []
        self._ones: list[tuple[Callable[[Any], int], int, int]] = []
        self._static: array[int] = array("i")
        self._position = -1
        self._log = table.touched
        self._most_repairs = REBUILD_ABOVE + len(table.names) // 40
        self._refused: tuple[list[int], int, GroupedRefusals] | None = None

    @cached_property
    def filters(self) -> list[FilterColumn]:
        """Those of all slots, in profile order."""
        return [slot.filter for slot in self._slots if slot.filter is not None]

    @cached_property
    def _plannable(self) -> bool:
        return self.local and can_plan(self._ground.filters, self._ground.scores)

    def usable(self) -> bool:
        """Whether every plugin's guard holds now."""
        for guard in self._ground.guards:  # noqa: SIM110 - asked for every pod
            if not guard():
                return False
        return True

    def with_filter(self, extra: Columns) -> SignatureColumn:
        """The column of the same kind of pod under one more filter, which is asked first."""
        slot = Slot.of(extra, 0)
        own = () if slot is None else (slot,)
        slots = (*own, *self._slots)
        told = None if extra.filter is None else extra.filter.test
        number, particular = self.number, self.particular
        shared = self._shared
        return SignatureColumn(
            self._table, slots, self._ground, own, shared, number=number, particular=particular, told=told
        )

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
        totals = self._totals[rows].astype(np.int64)
        feasible, totals = rows[totals >= 0], totals[totals >= 0]
        best, fixed, choice = feasible, self._still.static[feasible], self._choice
        if choice is not None and len(feasible):
            added = choice.added(feasible)
            totals, fixed = totals + added, fixed + added
        if len(feasible) > count:  # each pod takes one of the ``count`` best rows, the first among equals
            ranks = totals * -len(self._totals) + feasible
            chosen = ranks <= np.partition(ranks, count - 1)[count - 1]
            best, fixed = feasible[chosen], fixed[chosen]
        taken = plan(self._ground.filters, self._ground.scores, fixed, best, count)
        if choice is not None and taken:
            used, pods = np.unique(taken, return_counts=True)
            full = used[room_of(self._ground.filters, used, count + 1) == pods]
            if len(full) and not choice.same_added(feasible, np.setdiff1d(feasible, full)):
                return None
        return taken

    def plan_few(self, pod: Pod, rows: Rows, count: int) -> list[int] | None:
        """``plan`` for few pods like ``pod``: each is chosen with the ones before it counted in, and nothing stays."""
        if not self._plannable or self._choice is not None or pod.spec.host_ports:  # a port is not counted, it is taken
            return None
        self.refresh()
        sums, facts, totals = self._table.counted(), self._facts, self._totals[rows]
        taken: list[int] = []
        end = len(sums.log)
        for left in range(count - 1, -1, -1):
            at = int(totals.argmax())
            if totals[at] < 0:
                break
            row = int(rows[at])
            taken.append(row)
            if left:
                sums.count(row, pod.usage, 1)
                totals[at] = self._total(row)
        for row in taken[: count - 1]:
            sums.count(row, pod.usage, -1)
            facts.known[row] = None
        del sums.log[end:]  # the rows are as they were
        return taken

    def refresh(self) -> None:
        """Bring the column up to date: repair the touched rows, or rebuild when there are many."""
        log = self._table.counted().log
        end = len(log)
        start = self._position
        if log is not self._log or start < 0 or start > end:
            self._rebuild()
        elif start == end:
            return
        elif end - start == 1:
            self._repair((log[start],))
        elif end - start > 8 * self._most_repairs:  # telling them apart would take as long
            self._rebuild()
        else:
            stale = dict.fromkeys(log[start:end])
            if len(stale) > self._most_repairs:
                self._rebuild()
            else:
                self._repair(stale)
        self._log, self._position = log, end

    def _repair(self, rows: Iterable[int]) -> None:
        facts = self._facts
        facts.follow()
        known, static, told, choice, buffer = facts.known, self._static, self._told, self._choice, self._buffer
        tests, ones, repaired = self._tests, self._ones, 0
        for row in rows:
            total = static[row]
            if total >= 0:  # else it is infeasible, whatever stands there
                seen = known[row] or facts.read(row)
                for test, at in tests:  # as ``_total``, without the call: a pod among many kinds repairs ten rows
                    if not test(seen[at]):
                        total = INFEASIBLE
                        break
                else:
                    for one, at, weight in ones:
                        total += one(seen[at]) * weight
                if choice is not None:
                    choice.put(row, buffer[row], total)
                buffer[row] = total
                repaired += 1
            elif told is not None:  # who refuses it first may be another
                told(row)
        self.repaired += repaired

    @cached_property
    def _facts(self) -> RowFacts:
        """Of single rows, with what judges them; a column that is never repaired does without."""
        self._static = self._still.by_row
        tests = [(f.test, f.facts) for f in self.filters if f.test is not None]  # in order: the first refuses
        ones = [(score.one, score.facts, weight) for score, weight in self._ground.scores if score.one is not None]
        self._tests = [(test, at) for at, (test, _) in enumerate(tests)]
        self._ones = [(one, at, weight) for at, (one, _, weight) in enumerate(ones, start=len(tests))]
        return self._shared.of((*(reader for _, reader in tests), *(reader for _, reader, _ in ones)))

    def _total(self, row: int) -> int:
        """The total of an open row, read anew."""
        seen = self._facts.read(row)
        for test, at in self._tests:
            if not test(seen[at]):
                return INFEASIBLE
        total = self._static[row]
        for one, at, weight in self._ones:
            total += one(seen[at]) * weight
        return total

    def score(self, row: int) -> int:
        """The node-local total of a row as if it were feasible, now."""
        facts = self._facts
        facts.follow()
        seen = facts.known[row] or facts.read(row)
        total = self._static[row]
        for one, at, weight in self._ones:
            total += one(seen[at]) * weight
        return total

    def _rebuild(self) -> None:
        self.rebuilt += 1
        feasible, totals = self._still.opened, self._totals
        np.copyto(totals, self._still.static, casting="same_kind")
        for score, weight in self._ground.scores:
            scores = score.vector()
            totals += scores if weight == 1 else np.multiply(scores, weight, dtype=totals.dtype)
        for column in self._ground.filters:
            feasible = feasible & column.mask()
        totals |= feasible.view(np.int8) - np.int8(1)  # -1, all bits of it, where infeasible
        if self._choice is not None:
            self._choice.fill()

    def force(self, row: int, feasible: bool) -> int:
        """Give a row another verdict; returns what ``restore`` needs to take it back."""
        self.refresh()
        old = self._buffer[row]
        self._put(row, self.score(row) if feasible else INFEASIBLE)
        return old

    def restore(self, row: int, old: int) -> None:
        """Take back a ``force``."""
        self._put(row, old)

    def _put(self, row: int, new: int) -> None:
        if self._choice is not None:
            self._choice.put(row, self._buffer[row], new)
        self._buffer[row] = new

    def refusals(self, rows: Rows | None) -> GroupedRefusals:
        """Why ``rows``, or all nodes (None), are refused: the first refusing plugin of each, in profile order. Those of
        all nodes are kept until a row is touched."""
        log, kept = self._table.touched, self._refused
        if rows is not None:
            return self._refusals(rows)
        now = len(log)
        if kept is not None and kept[0] is log and kept[1] == now and not self._ground.domains:
            return kept[2]
        refusals = self._refusals(np.arange(len(self._table.names)))
        self._refused = (log, now, refusals)
        return refusals

    def _refusals(self, left: Rows) -> GroupedRefusals:
        groups: list[tuple[Status, Rows]] = []
        for column in self.filters:
            if not len(left):
                break
            refused = list(column.refusals(left))
            groups += refused
            if sum(len(r) for _, r in refused) == len(left):
                break
            if refused:
                left = np.setdiff1d(left, np.concatenate([r for _, r in refused]), assume_unique=True)
        return GroupedRefusals(self._table.names, groups)

    def total(self, row: int) -> int:
        """The node-local total of one row as the column holds it."""
        return self._buffer[row]
