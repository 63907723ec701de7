"""Room promised to nominated pods, as one more filter of a column (spec node-plugins.md §4.2.2).

A node with nominated pods of at least the pod's priority must take the pod beside them and without them. While every
plugin of a column looks at one node alone, that verdict depends on the row and on its nominations only: it is found
once by the per-node form and kept until the row is touched, which a change of its nominations does too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gangsched_framework.columns import Columns, FilterColumn, Mask
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Nominations
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.status import Status


class PromisedRoom:
    """The verdicts of the nodes with promised room for pods like ``pod`` that are nominated nowhere.

    ``filters`` are those of its column, ``state`` is what PreFilter left for ``pod``. Members of the pod's own tree are
    not told apart here.
    """

    def __init__(
        self,
        framework: Framework,
        table: NodeTable,
        nominations: Nominations,
        pod: Pod,
        state: CycleState,
        filters: Sequence[FilterColumn],
    ) -> None:
        self._framework = framework
        self._table = table
        self._nominations = nominations
        self._pod = pod
        self._state = state
        self._refused: dict[int, Status | None] = {}  # None = not asked yet
        self._broken = False
        moving = [each for each in filters if each.test is not None]
        self._besides = [each.beside for each in moving if each.beside is not None]
        self._quick = len(self._besides) == len(moving)
        self.columns = Columns(FilterColumn(self._mask, self._refusals, self._passes), guard=lambda: not self._broken)

    def _others(self, row: int) -> list[Pod]:
        on_node, least = self._table.pods[row], self._pod.priority
        nominated = self._nominations.nominated_pods(self._table.names[row])
        return [other for other in nominated if other.priority >= least and other.key not in on_node]

    def _passes(self, row: int) -> bool:
        others = self._others(row)
        passes = True
        if others and self._quick:
            for beside in self._besides:
                passes = passes and beside(row, others)
        elif others:
            passes = self._status(row, others) is None
        if passes:
            self._refused.pop(row, None)
        else:
            self._refused[row] = None
        return passes

    def _status(self, row: int, others: list[Pod]) -> Status | None:
        """The verdict of the per-node form with the others counted in; without them the other filters speak."""
        status = self._framework.run_filter_with(self._state, self._pod, self._table.infos[row], others)
        self._broken = self._broken or (status is not None and not status.rejected)
        return status

    def _mask(self) -> Mask:
        self._refused.clear()
        mask = np.ones(len(self._table.names), np.bool_)
        for name in self._nominations.nodes():
            row = self._table.row_of.get(name)
            if row is not None:
                mask[row] = self._passes(row)
        return mask

    def _refusals(self, rows: Rows) -> Iterable[tuple[Status, Rows]]:
        asked = np.zeros(len(self._table.names), np.bool_)
        asked[rows] = True
        groups: dict[Status, list[int]] = {}
        for row, status in self._refused.items():
            if asked[row]:
                status = status or self._status(row, self._others(row))
                assert status is not None, "the columnar form refuses a node that the per-node form does not"
                self._refused[row] = status
                groups.setdefault(status, []).append(row)
        return [(status, np.array(found, np.intp)) for status, found in groups.items()]
