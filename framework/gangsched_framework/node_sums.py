"""What the pods on each node request in sum, and the log of changed rows (spec node-plugins.md §3.4-3.5).

A store into an ``array`` is dear, and nobody looks at the sums while a plan tells the rows of like pods. So these are
only noted, and counted when somebody looks: whoever reads sums or log sees to it first that nothing is noted.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from gangsched_framework.objects import Pod
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, PodRequests

FIXED = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)

MANY = 50
"""Noted changes from which a pass over whole columns is cheaper (measured: 40 at 5,000 nodes, 75 at 15,000)."""


class NodeSums:
    """Columns of sums: ``used`` by resource, ``nonzero_cpu``, ``nonzero_memory``; ``log``: rows that changed.

    ``noted``: rows to which a pod that requests ``kind`` came, ``~row`` where one left, that neither sums nor log tell
    yet. Nothing is noted any more once a ``large`` pod has come: a sum might grow too large unseen.
    """

    def __init__(self) -> None:
        self.used: dict[str, array[int]] = {resource: array("q") for resource in FIXED}
        self.nonzero_cpu: array[int] = array("q")
        self.nonzero_memory: array[int] = array("q")
        self.log: list[int] = []
        self.noted: list[int] = []
        self.kind: PodRequests | None = None
        self._any_large = False

    def count(self, row: int, usage: PodRequests, sign: int) -> None:
        """A pod comes (1) or leaves (-1), and is counted at once; nothing is noted then.

        Raises OverflowError when a sum would grow too large; the row is to be counted anew then.
        """
        if self.noted:
            self.catch_up()
        amounts, used = usage.requested, self.used
        used[PODS][row] += sign
        if amounts.milli_cpu:
            used[CPU][row] += sign * amounts.milli_cpu
        if amounts.memory:
            used[MEMORY][row] += sign * amounts.memory
        if amounts.ephemeral_storage:
            used[EPHEMERAL_STORAGE][row] += sign * amounts.ephemeral_storage
        if amounts.scalars:
            for resource, amount in amounts.scalars.items():
                self.column(resource)[row] += sign * amount
        self.nonzero_cpu[row] += sign * usage.nonzero_milli_cpu
        self.nonzero_memory[row] += sign * usage.nonzero_memory
        self.log.append(row)
        self.kind = None
        if usage.large:
            self._any_large = True

    def begin(self, usage: PodRequests) -> bool:
        """From now on, pods that request this object may be noted. False when they must be counted."""
        if self._any_large or usage.large:
            return False
        if self.noted:
            self.catch_up()
        self.kind = usage
        return True

    def note(self, rows: Sequence[int], usage: PodRequests) -> bool:
        """Pods that request the same come, each to its row. False, and nothing is done, when they must be counted."""
        if usage is not self.kind and not self.begin(usage):
            return False
        self.noted += rows
        return True

    def catch_up(self) -> None:
        """Count what is noted, and log it. O(noted), or with many a pass over the columns."""
        usage, noted = self.kind, self.noted
        assert usage is not None
        self.noted = []
        if len(noted) < MANY:
            for entry in noted:
                if entry >= 0:
                    self.count(entry, usage, 1)
                else:
                    self.count(~entry, usage, -1)
        else:
            self._count_many(noted, usage)

    def _count_many(self, noted: list[int], usage: PodRequests) -> None:
        rows, size = np.array(noted, np.int64), len(self.nonzero_cpu)
        left = rows < 0
        if left.any():
            rows[left] = ~rows[left]
            noted = rows.tolist()
        self.log += noted
        more = np.bincount(rows, minlength=size) - 2 * np.bincount(rows[left], minlength=size)
        for resource in usage.requested.scalars:
            self.column(resource)
        columns = [(column, _amount(usage, resource)) for resource, column in self.used.items()]
        nonzero = (self.nonzero_cpu, usage.nonzero_milli_cpu), (self.nonzero_memory, usage.nonzero_memory)
        for column, amount in (*columns, *nonzero):
            if amount:
                sums = np.frombuffer(column, np.int64)
                sums += more * amount

    def column(self, resource: str) -> array[int]:
        """The column of a resource, made when no pod named it yet."""
        if resource not in self.used:
            self.used[resource] = array("q", bytes(8 * len(self.nonzero_cpu)))
        return self.used[resource]

    def recount(self, row: int, pods: Iterable[Pod]) -> None:
        """Count a row's pods anew, where a number grew too large halfway."""
        usages = [pod.usage for pod in pods]
        for resource, column in self.used.items():
            column[row] = sum(_amount(usage, resource) for usage in usages)
        self.nonzero_cpu[row] = sum(usage.nonzero_milli_cpu for usage in usages)
        self.nonzero_memory[row] = sum(usage.nonzero_memory for usage in usages)

    def renumber(self, old: Sequence[int]) -> None:
        """The rows are other ones now: ``old`` tells where each stood, -1 = nowhere. The log starts anew."""
        if self.noted:
            self.catch_up()
        self.log = []
        columns = (*self.used.values(), self.nonzero_cpu, self.nonzero_memory)
        *used, self.nonzero_cpu, self.nonzero_memory = (
            array("q", [column[at] if at >= 0 else 0 for at in old]) for column in columns
        )
        self.used = dict(zip(self.used, used, strict=True))

    def _check(self, pods: Sequence[Iterable[Pod]]) -> None:
        """Assert that every sum equals a recount of the pods by row, when all is counted (tests only)."""
        if self.noted:
            assert self.kind is not None
            self.catch_up()
        assert not self._any_large or self.kind is None
        for row, stand in enumerate(pods):
            usages = [pod.usage for pod in stand]
            for resource, column in self.used.items():
                assert column[row] == sum(_amount(usage, resource) for usage in usages), (row, resource)
            assert self.nonzero_cpu[row] == sum(usage.nonzero_milli_cpu for usage in usages)
            assert self.nonzero_memory[row] == sum(usage.nonzero_memory for usage in usages)


def _amount(usage: PodRequests, resource: str) -> int:
    return 1 if resource == PODS else usage.requested.get(resource)
