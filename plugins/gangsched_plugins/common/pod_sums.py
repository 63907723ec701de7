"""Sums over the pods of each node and of each topology domain, kept in step by the node table's log of moves.

A measure maps a pod to a number that depends on the pod alone. A pod that comes or goes costs one measure for each sum
that is asked for again, whatever the number of nodes, pods and domains (spec node-plugins.md §7.9.9, §7.10.7).
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable

import numpy as np
from attrs import define, frozen
from numpy.typing import NDArray

from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_table import Move, NodeTable
from gangsched_framework.objects import Pod

Measure = Callable[[Pod], int]
Totals = NDArray[np.int64]
Mask = NDArray[np.bool_]


@frozen(eq=False)
class Domains:
    """The domains of one topology key. ``ids``: the domain of each row; rows without one have the number ``count``.

    ``values`` are the label's values by domain. ``single``: no two rows share a domain.
    """

    ids: NDArray[np.intp]
    values: tuple[str, ...]
    single: bool

    @property
    def count(self) -> int:
        """Number of domains."""
        return len(self.values)

    @property
    def present(self) -> Mask:
        """Which rows have a domain."""
        return self.ids < self.count


def domains_of(classes: NodeClasses, key: str) -> Domains:
    """The domains of a topology key. O(nodes)."""
    known = classes.by_labels((key,))
    number = {node.labels[key]: at for at, node in enumerate(n for n in known.nodes if key in n.labels)}
    numbers = [number[node.labels[key]] if key in node.labels else len(number) for node in known.nodes]
    ids = np.array(numbers, np.intp)[known.ids]
    return Domains(ids, tuple(number), int((ids < len(number)).sum()) == len(number))


@define(eq=False)
class DomainSums:
    """A sum per domain over the rows that count. ``totals`` has a last entry for all other rows."""

    _ids: list[int]
    _sums: array[int]
    totals: Totals

    @classmethod
    def of(cls, domains: Domains, counting: Mask | None) -> DomainSums:
        """``counting``: the rows that count, None = all."""
        ids = domains.ids if counting is None else np.where(counting, domains.ids, domains.count)
        sums = array("q", [0]) * (domains.count + 1)
        return cls(ids.tolist(), sums, np.frombuffer(sums, np.int64))

    def fill(self, counts: array[int]) -> None:
        """Sum anew. O(nodes)."""
        found = np.bincount(np.array(self._ids, np.intp), np.frombuffer(counts, np.int64), len(self._sums))
        self.totals[:] = found.astype(np.int64)

    def add(self, row: int, amount: int) -> None:
        """Something came to a row."""
        self._sums[self._ids[row]] += amount


class Cells:
    """Rows told apart by kind and by a sum that is never negative: kind k and sum s are the cell ``k * width + s``.

    ``ids``: the cell of each row. ``held``: how many rows each cell holds. ``width`` is above every sum.
    """

    def __init__(self, kinds: NDArray[np.intp], count: int) -> None:
        self.width = 0
        self._kinds = kinds
        self._count = count
        self._sums: array[int] = array("q")
        self._ids: array[int] = array("q", [0]) * len(kinds)
        self._held: array[int] = array("q")
        self.ids: NDArray[np.int64] = np.frombuffer(self._ids, np.int64)

    @property
    def held(self) -> Totals:
        """Valid until something is added."""
        return np.frombuffer(self._held, np.int64)

    def fill(self, counts: array[int]) -> None:
        """Tell them apart anew. O(nodes)."""
        sums = np.frombuffer(counts, np.int64)
        self._sums, self.width = counts, 2 * int(sums.max(initial=0)) + 4
        self.ids[:] = self._kinds * self.width + sums
        self._held = array("q", np.bincount(self.ids, minlength=self._count * self.width).astype(np.int64).tobytes())

    def add(self, row: int, amount: int) -> None:
        """Something came to a row, which counts already."""
        if self._sums[row] >= self.width:
            self.fill(self._sums)
            return
        self._held[self._ids[row]] -= 1
        self._ids[row] += amount
        self._held[self._ids[row]] += 1


class RowSums:
    """The sum of ``measure`` over the pods of each row, and per domain or cell for those who asked.

    ``sparse``: the measure is 0 for pods without affinity terms. All that is read is in step after ``sync``.
    """

    def __init__(self, table: NodeTable, measure: Measure, *, sparse: bool = False) -> None:
        self._table = table
        self._measure = measure
        self._sparse = sparse
        self._log: list[Move] | None = None
        self._position = 0
        self._domains: dict[Hashable, DomainSums] = {}
        self._cells: dict[Hashable, Cells] = {}
        self._classes: NodeClasses | None = None
        self.counts: array[int] = array("q")

    @property
    def amounts(self) -> Totals:
        """``counts`` as numpy sees them, valid until the next ``sync``."""
        return np.frombuffer(self.counts, np.int64)

    def by_domain(self, key: Hashable, domains: Domains, counting: Mask | None = None) -> DomainSums:
        """Sums per domain, made once for each ``key``: it tells ``domains`` and ``counting`` apart."""
        self._keep_up()
        known = self._domains.get(key)
        if known is None:
            known = self._domains[key] = DomainSums.of(domains, counting)
            known.fill(self.counts)
        return known

    def by_cell(self, key: Hashable, kinds: NDArray[np.intp], count: int) -> Cells:
        """Rows by kind, one of ``count``, and sum, made once for each ``key``: it tells ``kinds`` apart."""
        self._keep_up()
        known = self._cells.get(key)
        if known is None:
            known = self._cells[key] = Cells(kinds, count)
            known.fill(self.counts)
        return known

    def _keep_up(self) -> None:
        self.sync()
        if self._classes is not self._table.classes:
            self._classes = self._table.classes
            self._forget()

    def _forget(self) -> None:
        """They are of nodes as they were."""
        self._domains.clear()
        self._cells.clear()

    def sync(self) -> None:
        """Take in what moved since the last time. O(moves), after a new log O(pods)."""
        log = self._table.follow_moves()
        end = len(log)
        if log is not self._log or self._position > end:
            self._fill()
        elif self._position < end:
            self._take_in(log[self._position : end])
        self._log, self._position = log, end

    def _take_in(self, moves: Iterable[Move]) -> None:
        for pod, row, sign in moves:
            if not sign or (self._sparse and not pod.spec.has_affinity):
                continue
            amount = self._measure(pod)
            if amount:
                self.counts[row] += sign * amount
                for domain in self._domains.values():
                    domain.add(row, sign * amount)
                for cells in self._cells.values():
                    cells.add(row, sign * amount)

    def _fill(self) -> None:
        table, measure = self._table, self._measure
        held = table.affinity_pods if self._sparse else {row: pods for row, pods in enumerate(table.pods) if pods}
        self.counts = array("q", [0]) * len(table.pods)
        for row, pods in held.items():
            self.counts[row] = sum(map(measure, pods.values()))
        if self._classes is not table.classes:
            self._forget()
        for domain in self._domains.values():
            domain.fill(self.counts)
        for cells in self._cells.values():
            cells.fill(self.counts)


class SumsCache:
    """The sums of the ``limit`` measures asked for last."""

    def __init__(self, limit: int = 512) -> None:
        self._limit = limit
        self._sums: OrderedDict[Hashable, RowSums] = OrderedDict()

    def of(self, table: NodeTable, key: Hashable, measure: Measure, *, sparse: bool = False) -> RowSums:
        """The sums of ``measure``; ``key`` must be equal exactly for measures of equal meaning."""
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = RowSums(table, measure, sparse=sparse)
            if len(self._sums) > self._limit:
                self._sums.popitem(last=False)
        self._sums.move_to_end(key)
        return sums
