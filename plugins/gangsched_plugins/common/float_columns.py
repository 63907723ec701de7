"""Columns of the node table as floats, kept in step row by row: vector passes spare the conversion of whole columns."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gangsched_framework.node_table import NodeTable

MANY = 50
"""Touched rows from which converting whole columns is cheaper."""

Floats = NDArray[np.float64]


class FloatColumns:
    """Float copies of ``columns``, for one ``classes`` of the table; with ``capacities`` of what is left of these.

    Exact for amounts below 2**53; larger ones are rounded.
    """

    def __init__(
        self, table: NodeTable, columns: Sequence[array[int]], capacities: Sequence[array[int]] | None = None
    ) -> None:
        self._table = table
        self._pairs = [(column, None if capacities is None else capacities[at]) for at, column in enumerate(columns)]
        self._floats: list[array[float]] = [array("d", [0.0]) * len(table.names) for _ in columns]
        self._views = [np.frombuffer(floats, np.float64) for floats in self._floats]
        self._log: list[int] = []
        self._position = -1

    def now(self) -> Sequence[Floats]:
        """The columns as they are now; valid until something is asked again. O(touched rows)"""
        log = self._table.touched
        end = len(log)
        if log is self._log and 0 <= self._position <= end <= self._position + MANY:
            for row in log[self._position :]:
                for floats, (column, capacity) in zip(self._floats, self._pairs, strict=True):
                    floats[row] = column[row] if capacity is None else capacity[row] - column[row]
        else:
            for view, (column, capacity) in zip(self._views, self._pairs, strict=True):
                amounts = np.frombuffer(column, np.int64)
                view[:] = amounts if capacity is None else np.frombuffer(capacity, np.int64) - amounts
        self._log, self._position = log, end
        return self._views
