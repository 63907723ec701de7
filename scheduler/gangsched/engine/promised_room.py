"""Room promised to nominated pods, as one more filter of a column (spec node-plugins.md §4.2.2).

A node with nominated pods of at least the pod's priority must take the pod beside them and without them. While every
plugin of a column looks at one node alone, that verdict depends on the row and on its nominations only: it is found
once by the per-node form and kept until the row is touched, which a change of its nominations does too.
"""

from __future__ import annotations

from collections.abc import Iterable

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

    ``state`` is what PreFilter left for ``pod``; pods of the tree of a member are to be looked at by themselves.
    """

    def __init__(
        self, framework: Framework, table: NodeTable, nominations: Nominations, pod: Pod, state: CycleState
    ) -> None:
        self._framework = framework
        self._table = table
        self._nominations = nominations
        self._pod = pod
        self._state = state
        self._refused: dict[int, Status] = {}
        self._broken = False
        self.columns = Columns(FilterColumn(self._mask, self._refusals, self._passes), guard=lambda: not self._broken)

    def _passes(self, row: int) -> bool:
        table = self._table
        nominated = self._nominations.nominated_pods(table.names[row])
        if nominated:
            on_node, least = table.pods[row], self._pod.priority
            others = [other for other in nominated if other.priority >= least and other.key not in on_node]
            if others:
                status = self._framework.run_filter_beside(self._state, self._pod, table.infos[row], others)
                if status is not None:
                    self._refused[row] = status
                    self._broken = self._broken or not status.rejected
                    return False
        self._refused.pop(row, None)
        return True

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
                groups.setdefault(status, []).append(row)
        return [(status, np.array(found, np.intp)) for status, found in groups.items()]
