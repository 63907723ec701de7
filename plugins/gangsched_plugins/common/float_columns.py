"""Columns of the node table as floats, kept in step row by row: vector passes spare the conversion of whole columns."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gangsched_framework.node_table import NodeTable

MANY = 50
"""Touched rows from which converting whole columns is cheaper."""

EXACT = 2**53
"""Below it floats hold every whole number."""

Floats = NDArray[np.float64]


class FloatColumns:
    """Float copies of ``columns``, for one ``classes`` of the table; with ``capacities`` of what is left of these,
    ``times`` over.

    Exact for amounts below ``EXACT``; larger ones are rounded.
    """

    def __init__(
        self,
        table: NodeTable,
        columns: Sequence[array[int]],
        capacities: Sequence[array[int]] | None = None,
        times: int = 1,
    ) -> None:
        self._table = table
        rows = len(table.names)
        whole = columns if capacities is None else capacities
        self._parts = [(at * rows, *pair) for at, pair in enumerate(zip(columns, whole, strict=True))]
        self._left = capacities is not None
        self._times = times
        self._floats = array("d", [0.0]) * (rows * len(columns))
        self._view = np.frombuffer(self._floats, np.float64).reshape(len(columns), rows)
        self._log: list[int] = []
        self._position = -1

    def now(self) -> Floats:
        """The columns as they are now, one below the other; valid until something is asked again. O(touched rows)"""
        log = self._table.touched
        end = len(log)
        start = self._position
        if log is self._log and 0 <= start <= end <= start + MANY:
            if start < end:
                self._follow(log[start:end])
        else:
            for copy, (_, column, capacity) in zip(self._view, self._parts, strict=True):
                amounts = np.frombuffer(column, np.int64)
                if self._left:
                    copy[:] = np.frombuffer(capacity, np.int64) - amounts
                    copy *= self._times
                else:
                    copy[:] = amounts
        self._log, self._position = log, end
        return self._view

    def _follow(self, rows: Sequence[int]) -> None:
        floats, times = self._floats, self._times
        for start, column, capacity in self._parts:
            for row in rows:
                floats[start + row] = (capacity[row] - column[row]) * times if self._left else column[row]
