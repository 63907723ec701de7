"""How many pods of each node satisfy a condition, kept in step through the node table's log of touched rows.

Spreading and affinity ask the same few conditions for every pod of a template; between two questions only the rows
of the last placements have changed, so a question costs what has changed and not a scan over all pods.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from attrs import define

from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod

Condition = Callable[[Pod], bool]


@define(eq=False)
class _Column:
    counts: list[int]
    epoch: int = -1
    log: list[int] | None = None
    position: int = 0
    """How far the log of touched rows has been read; the table begins a new one now and then."""


class RowCounts:
    """Columns of counts for the ``limit`` conditions asked last."""

    def __init__(self, limit: int = 128) -> None:
        self._limit = limit
        self._columns: dict[Hashable, _Column] = {}

    def column(self, table: NodeTable, key: Hashable, condition: Condition) -> Sequence[int]:
        """Count per row of the settled ``table``; ``key`` must be equal exactly for conditions of equal meaning.

        The answer is valid until the table changes. O(rows touched since the last question), first O(pods).
        """
        column = self._columns.pop(key, None) or _Column([])
        if len(self._columns) >= self._limit:
            del self._columns[next(iter(self._columns))]
        self._columns[key] = column  # the youngest stands last
        touched = table.touched
        followed = column.log is touched and column.epoch == table.epoch
        if not followed or len(touched) - column.position >= len(table.pods):
            column.counts = [0] * len(table.pods)
            rows: Iterable[int] = range(len(table.pods))
        else:
            rows = dict.fromkeys(touched[column.position :])
        for row in rows:
            column.counts[row] = sum(map(condition, table.pods[row].values()))
        column.epoch, column.log, column.position = table.epoch, touched, len(touched)
        return column.counts
