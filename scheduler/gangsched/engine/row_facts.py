"""What columns read of single rows: once a change of the row, for all columns that read alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from attrs import define, field

from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_table import NodeTable

Reader = Callable[[int], Any]
Readers = tuple[Reader | None, ...]
"""How each part of a column reads a row; None = it is asked with the row itself."""


class RowFacts:
    """What ``readers`` say of the rows of a table, for one ``classes`` of it.

    ``known``: for each row what each of them says; None = to be read first.
    """

    def __init__(self, readers: Readers, table: NodeTable) -> None:
        self.known: list[tuple[Any, ...] | None] = [None] * len(table.names)
        self._readers = [_row if reader is None else reader for reader in readers]
        self._sums = table.sums
        self._log = table.touched
        self._position = len(self._log)

    def follow(self) -> None:
        """Forget the rows that were touched; the log is up to date, as its reader saw. O(touched rows)"""
        log = self._sums.log
        end = len(log)
        start = self._position
        if log is not self._log or start > end:
            self.known[:] = [None] * len(self.known)
        elif start < end:
            known = self.known
            for row in log[start:end]:
                known[row] = None
        self._log, self._position = log, end

    def read(self, row: int) -> tuple[Any, ...]:
        """Read a row as it is now."""
        facts = self.known[row] = tuple([reader(row) for reader in self._readers])
        return facts

    def _check(self) -> None:
        """Assert that what is known is so (tests only)."""
        self.follow()
        for row, known in enumerate(self.known):
            assert known is None or known == tuple([reader(row) for reader in self._readers])


def _row(row: int) -> int:
    return row


@define(eq=False)
class FactsOfTable:
    """The facts that columns of a table have in common, as long as one of them needs them."""

    table: NodeTable
    _known: WeakValueDictionary[tuple[NodeClasses, Readers], RowFacts] = field(factory=WeakValueDictionary)

    def of(self, readers: Readers) -> RowFacts:
        """Those of some readers."""
        key = (self.table.classes, readers)
        facts = self._known.get(key)
        if facts is None:
            facts = self._known[key] = RowFacts(readers, self.table)
        return facts

    def _check(self) -> None:
        for (classes, _), facts in self._known.items():
            if classes is self.table.classes:
                facts._check()
