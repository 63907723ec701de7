"""The columnar form of Fit's Filter: ``fitting`` over whole columns (spec node-plugins.md §7.6.1)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gangsched_framework.columns import FilterColumn, Refusals
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from gangsched_framework.status import Status
from gangsched_framework.values import value
from gangsched_plugins.common.by_nodes import ByNodes
from gangsched_plugins.common.float_columns import EXACT, FloatColumns
from gangsched_plugins.node_resources_fit.fitting import Demand, refusal_status

Vector = NDArray[np.int64]


def view(column: array[int]) -> Vector:
    """A numpy view of a table column, valid for the table's epoch."""
    return np.frombuffer(column, np.int64)


Left = tuple[int, int, int, int]
"""A row, and how many pods, how much cpu and memory it still takes."""
_ANY = -(2**64)
"""Less than can be left: for what is not asked, which is not compared."""


@value(eq=False)
class Room:
    """What is used and allocatable of the resources that some pods ask for; ``left`` of them, where floats hold it."""

    pods: tuple[array[int], array[int]]
    columns: tuple[tuple[array[int], array[int]], ...]
    left: FloatColumns | None

    @classmethod
    def of(cls, resources: tuple[str, ...], table: NodeTable) -> Room:
        """Valid for one ``classes`` of the table."""
        columns = tuple(table.column(name) for name in resources)
        used, allocatable = [used for used, _ in columns], [allocatable for _, allocatable in columns]
        exact = all(int(view(column).max(initial=0)) < EXACT for column in allocatable)
        return cls(table.column(PODS), columns, FloatColumns(table, used, allocatable) if exact else None)

    def facts(self, row: int) -> Left:
        """What is left on a node, in the room of cpu and memory."""
        pods_used, pods_allocatable = self.pods
        (cpu_used, cpu_allocatable), (memory_used, memory_allocatable) = self.columns
        return (
            row,
            pods_allocatable[row] - pods_used[row],
            cpu_allocatable[row] - cpu_used[row],
            memory_allocatable[row] - memory_used[row],
        )


def filter_column(demand: Demand, table: NodeTable, rooms: ByNodes[tuple[str, ...], Room]) -> FilterColumn:
    """Which nodes have room for another pod of this demand."""
    asked = _asked(demand)
    names, amounts = tuple(asked), tuple(asked.values())
    room, usual = rooms.of(names, table), rooms.of((CPU, MEMORY), table)
    (pods_used, pods_allocatable), columns, left = room.pods, room.columns, room.left
    checks = [(amount, *column) for amount, column in zip(amounts, columns, strict=True)]

    def mask() -> NDArray[np.bool_]:
        passes = view(pods_used) < view(pods_allocatable)
        if left is not None:
            for amount, floats in zip(amounts, left.now(), strict=True):
                passes &= floats >= amount
        else:
            for amount, used, allocatable in checks:
                passes &= view(allocatable) - view(used) >= amount
        return passes

    cpu, memory = (asked.get(name, _ANY) for name in (CPU, MEMORY))
    others = [check for name, check in zip(names, checks, strict=True) if name not in (CPU, MEMORY)]

    def test(facts: Left) -> bool:
        row, left_pods, left_cpu, left_memory = facts
        if left_pods < 1 or left_cpu < cpu or left_memory < memory:
            return False
        for amount, used, allocatable in others:  # noqa: SIM110 - a generator costs twice, for every repaired row
            if amount > allocatable[row] - used[row]:
                return False
        return True

    def reason(row: int) -> int:
        code = int(pods_used[row] >= pods_allocatable[row])
        for at, (amount, used, allocatable) in enumerate(checks, start=1):
            if amount > allocatable[row] - used[row]:
                code |= 1 << at
        return code

    def open_for(rows: Rows) -> Vector:
        left = (view(pods_allocatable) - view(pods_used))[rows]
        for amount, used, allocatable in checks:
            left = np.minimum(left, (view(allocatable) - view(used))[rows] // amount)
        return left

    def beside(row: int, others: Sequence[Pod]) -> bool:
        if pods_used[row] + len(others) >= pods_allocatable[row]:
            return False
        for name, (amount, used, allocatable) in zip(names, checks, strict=True):
            theirs = sum(other.usage.requested.get(name) for other in others)
            if amount > allocatable[row] - used[row] - theirs:
                return False
        return True

    def refusals(rows: Rows) -> Refusals:
        return _refusals(rows, room.pods, names, checks)

    return FilterColumn(mask, refusals, test, room=open_for, beside=beside, reason=reason, facts=usual.facts)


def _asked(demand: Demand) -> dict[str, int]:
    """The resources that are asked for, and how much of each."""
    asked: dict[str, int] = {}
    if demand.milli_cpu:
        asked[CPU] = demand.milli_cpu
    if demand.memory:
        asked[MEMORY] = demand.memory
    if demand.ephemeral_storage:
        asked[EPHEMERAL_STORAGE] = demand.ephemeral_storage
    asked.update(demand.scalars)
    return asked


def _refusals(
    rows: Rows,
    pods: tuple[array[int], array[int]],
    names: Sequence[str],
    checks: Sequence[tuple[int, array[int], array[int]]],
) -> Refusals:
    at_rows = slice(None) if len(rows) == len(pods[0]) else rows
    pods_used, pods_allocatable = (view(column)[at_rows] for column in pods)
    code = (pods_used >= pods_allocatable).astype(np.int64)  # bit 0: too many pods; then two a resource
    for at, (amount, used, allocatable) in enumerate(checks):
        whole = view(allocatable)[at_rows]
        lacks = amount > whole - view(used)[at_rows]
        hopeless = lacks & (amount > whole)
        code |= (lacks.astype(np.int64) << (2 * at + 1)) | (hopeless.astype(np.int64) << (2 * at + 2))
    if len(code) and np.minimum.reduce(code) == np.maximum.reduce(code):
        if code[0]:
            yield _status(int(code[0]), names), rows
        return
    for number in np.unique(code):
        if number:
            yield _status(int(number), names), rows[code == number]


def _status(code: int, names: Sequence[str]) -> Status:
    reasons = ["Too many pods"] if code & 1 else []
    reasons += [f"Insufficient {name}" for at, name in enumerate(names) if code >> (2 * at + 1) & 1]
    hopeless = any(code >> (2 * at + 2) & 1 for at in range(len(names)))
    return refusal_status(tuple(reasons), hopeless)
