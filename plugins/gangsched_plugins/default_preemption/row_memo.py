"""What was found about single nodes, kept while they are untouched: forgotten row by row through the table's logs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from gangsched_framework.handle import Handle
from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_table import Move

MAX_KINDS = 64
MAX_STALE = 256
"""Changed rows up to which they are forgotten one by one."""

V = TypeVar("V")


class RowMemo(Generic[V]):
    """Values by kind of question and row.

    A value may depend on the node, the pods and nominations on it, and on what the listers of ``handle`` list.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._kinds: OrderedDict[Hashable, dict[int, V]] = OrderedDict()
        self._classes: NodeClasses | None = None
        self._listed = -1
        self._touched: list[int] = []
        self._touches = 0
        self._moves: list[Move] = []
        self._moved = 0

    def of(self, kind: Hashable) -> dict[int, V]:
        """The values by row, those of changed rows left out; to be filled by the caller."""
        self._sync()
        known = self._kinds.get(kind)
        if known is None:
            known = self._kinds[kind] = {}
            if len(self._kinds) > MAX_KINDS:
                self._kinds.popitem(last=False)
        self._kinds.move_to_end(kind)
        return known

    def _sync(self) -> None:
        table, listed = self._handle.snapshot.table, self._handle.lister_version
        touched, moves = table.touched, table.follow_moves()
        same_logs = self._touched is touched and self._moves is moves
        if not same_logs or self._classes is not table.classes or self._listed != listed:
            self._kinds.clear()
        else:
            stale = dict.fromkeys(touched[self._touches :])
            stale.update((row, None) for _, row, sign in moves[self._moved :] if not sign)
            if len(stale) > MAX_STALE:
                self._kinds.clear()
            for kept in self._kinds.values():
                for row in stale:
                    kept.pop(row, None)
        self._classes, self._listed = table.classes, listed
        self._touched, self._touches, self._moves, self._moved = touched, len(touched), moves, len(moves)

    def unchanged(self) -> None:
        """Every row is as it was at the last question, whatever the logs say: tentative steps were taken back."""
        self._touches, self._moved = len(self._touched), len(self._moves)
