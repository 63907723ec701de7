"""Noticing when a node fares otherwise with a kind of pod than before: another refusal, or other amounts where it fits.

Where a pod fits, its total does not tell all: what is left tells how many more fit, and what they will score.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework.columns import FilterColumn
from gangsched_framework.node_table import NodeTable

Verdict = int | tuple[int, ...]
"""Below zero, which filter refuses a row and why; where the pod fits, its node-local total and what the node counts."""


class ColumnWatch:
    """Watches the column of a kind of pod that is judged node by node (``SignatureColumn.local``).

    A look costs the rows touched since the last one. ``looked`` counts them.
    """

    def __init__(self, column: SignatureColumn, table: NodeTable) -> None:
        column.refresh()  # it may never have been asked for a node
        self.column = column
        self.looked = 0
        self._table = table
        self._changes = 0
        self._filters = len(column.filters)
        self._reasons = [(at, _reason(f)) for at, f in enumerate(column.filters) if f.test is not None]
        closed = np.full(len(table.names), self._filters, np.intp)
        for at, each in reversed([*enumerate(column.filters)]):
            if each.test is None:
                closed[~each.mask()] = at
        self._closed: list[int] = closed.tolist()
        self._log: list[int] = []
        self._position = 0
        self._verdicts: list[Verdict] = []
        self._start()

    def changes(self) -> int:
        """How often some row has come to fare otherwise so far; a row that changed and changed back may count."""
        log = self._table.touched
        if log is not self._log or self._position > len(log):
            self._changes += 1
            self._start()
        elif self._position < len(log):
            for row in dict.fromkeys(log[self._position :]):
                verdict = self._verdict(row)
                if verdict != self._verdicts[row]:
                    self._verdicts[row] = verdict
                    self._changes += 1
            self._position = len(log)
        return self._changes

    def _start(self) -> None:
        self._log = self._table.touched
        self._position = len(self._log)
        self._verdicts = [self._verdict(row) for row in range(len(self._closed))]

    def _verdict(self, row: int) -> Verdict:
        self.looked += 1
        closed = self._closed[row]
        for at, reason in self._reasons:
            if at > closed:
                break
            why = reason(row)
            if why:
                return ~(at + self._filters * why)
        if closed < self._filters:
            return ~closed
        table = self._table
        counted = [amounts[row] for amounts in (*table.used.values(), table.nonzero_cpu, table.nonzero_memory)]
        return (self.column.score(row), *counted)


def _reason(column: FilterColumn) -> Callable[[int], int]:
    """Why a row is refused, as a number; 0 = it passes."""
    if column.reason is not None:
        return column.reason
    test, facts = column.test, column.facts
    assert test is not None
    return lambda row: not test(row if facts is None else facts(row))
