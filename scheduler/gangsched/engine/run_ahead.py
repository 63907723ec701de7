"""A run of like pods, planned ahead: as long as nothing but the run itself comes to the nodes, each pod takes the next
row of the plan, and nothing is repaired or searched (performance.md §2.9)."""

from __future__ import annotations

from collections.abc import Callable

from gangsched_framework.node_table import NodeTable

START = 32
"""Pods placed one after another before a plan is made."""
LONGEST = 1024
"""Pods planned at once; a plan is as long as the run has been."""

Plan = Callable[[int], "list[int] | None"]
"""The rows of the next so many like pods, in order; None when they must be chosen one by one."""


class RunAhead:
    """The run of the pods of one column. ``planned`` counts the pods that took their row from a plan."""

    def __init__(self, table: NodeTable, plan: Plan) -> None:
        self.planned = 0
        self._table = table
        self._plan = plan
        self._log = table.touched
        self._position = -2
        self._last = ("", -1)
        self._length = 0
        self._rows: list[int] = []  # the plan, last first

    def next(self, pod_key: str) -> int | None:
        """The row of the run's next pod; None when it must be searched for, and ``found`` told."""
        log, (key, last) = self._table.touched, self._last
        if log is not self._log or len(log) != self._position + 1 or key not in self._table.pods[last]:
            # more, or something else, has happened on the nodes than that the last pod came to its row
            self._length = 0
            self._rows.clear()
            return None
        self._length += 1
        if not self._rows:
            if self._length < START:
                return None
            self._rows = (self._plan(min(self._length, LONGEST)) or [])[::-1]
            if not self._rows:
                self._length = 0
                return None
        row = self._rows.pop()
        self.planned += 1
        self._position += 1
        self._last = (pod_key, row)
        return row

    def found(self, pod_key: str, row: int) -> None:
        """The row that a search found for a pod, which is about to be put there."""
        self._log = self._table.touched
        self._position = len(self._log)
        self._last = (pod_key, row)
