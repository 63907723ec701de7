"""A run of like pods: while nothing but the run itself comes to the nodes, the column of its next pod is known, and its
row is the next of a plan: nothing is looked for, repaired or searched (performance.md §2.9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangsched.engine.columns import alike
from gangsched.engine.signature_column import INFEASIBLE, SignatureColumn
from gangsched.engine.world import World
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Pod

START = 32
"""Pods placed one after another before a plan is made."""
LONGEST = 4096
"""Pods planned at once; a plan is twice as long as the run has been."""


class RunAhead:
    """The run of pods of one column that is going on.

    ``rows``: what is left of its plan, last first. ``planned`` counts pods whose row a plan tells, or has told.
    """

    def __init__(self, world: World) -> None:
        self.planned = 0
        self.rows: list[int] = []
        self._world = world
        self._sums = world.table.sums
        self._log = world.table.touched
        self._position = -2  # how many changes of rows there were when the last pod was told where it goes
        self._listed = -1
        self._key, self._row = "", INFEASIBLE  # the last pod, and where it was to go
        self._column: SignatureColumn | None = None
        self._like: Pod | None = None  # a pod of the run whose like have its column, whatever the run brings
        self._goes_on = False
        self._length = 0

    def column(self, pod: Pod) -> SignatureColumn | None:
        """The column of a pod that goes on the run; None when it must be looked for. Asked before ``next``.

        It goes on if nothing happened but that the last pod came where it was to go, and it is like those before it.
        """
        world, sums, log, like = self._world, self._sums, self._log, self._like
        self._goes_on = (
            sums.log is log
            and len(log) + len(sums.noted) == self._position + 1
            and self._key in world.table.pods[self._row]
            and world.listed == self._listed
        )
        return self._column if self._goes_on and like is not None and alike(pod, like) else None

    def next(self, column: SignatureColumn, pod: Pod) -> int:
        """Row of the best node for a pod of that column, which is put there next; -1 when none is feasible."""
        if not self._goes_on or column is not self._column:
            self._begin(column, pod)
        if pod.status.allocated:  # it counts on its node something else than it asks for
            self._position = -2
            return column.best()
        rows = self.rows or self._plan(column)
        self._row = row = rows.pop() if rows else column.best()
        self._position, self._key = len(self._log) + len(self._sums.noted), pod.key
        return row

    def take(self, pod: Pod) -> int:
        """The row of the pod, which is put there next, if it goes on the run, which has a plan; else -1.

        It has no place of its own, and counts on its node what it asks for.
        """
        if self.column(pod) is None:
            return INFEASIBLE
        self._row = row = self.rows.pop()
        self._position += 1
        self._key = pod.key
        return row

    def take_alike(self, infos: Sequence[QueuedPodInfo], start: int, least: int) -> tuple[Sequence[Pod], Sequence[int]]:
        """As ``take`` of the pods of a leaf from ``start`` on, as many as go on the run and the plan tells of: they,
        with their rows, where all of them are put next; none if they are fewer than ``least``."""
        rows, first = self.rows, infos[start].pod
        if len(rows) < least or self.column(first) is None:
            return (), ()
        spec, labels, owner, status = first.spec, first.labels, first.owner, first.status
        pods: list[Pod] = []
        for info in infos[start : start + len(rows)]:
            pod = info.pod  # of the same namespace and scheduler (spec §4.3)
            if pod.spec is not spec or (pod.labels is not labels and pod.labels != labels):
                break
            if (pod.owner is not owner and pod.owner != owner) or (pod.status is not status and pod.status != status):
                break
            pods.append(pod)
        count = len(pods)
        if count < least:
            return (), ()
        given = rows[: -count - 1 : -1]
        del rows[-count:]
        self._position += count
        self._key, self._row = pods[-1].key, given[-1]
        return pods, given

    def _begin(self, column: SignatureColumn, pod: Pod) -> None:
        self._log, self._listed = self._world.table.touched, self._world.listed
        self._column, self._length = column, -1
        self.planned -= len(self.rows)
        self.rows.clear()
        # pods with affinity terms bear on their like; a guard may look at anything
        self._like = None if pod.spec.has_affinity or column.guarded else pod

    def _plan(self, column: SignatureColumn) -> list[int]:
        """The rows of the pods to come, last first; none while the run is short, or when pods must be chosen singly."""
        self._length += 1
        if self._length >= START:
            everywhere = np.arange(len(self._world.table.names))
            self.rows += reversed(column.plan(everywhere, min(2 * self._length, LONGEST)) or ())
            self.planned += len(self.rows)
            self._length = self._length - 1 + len(self.rows) if self.rows else 0
        return self.rows
