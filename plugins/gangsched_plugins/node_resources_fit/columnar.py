"""The columnar form of Fit: ``fitting`` and ``strategies`` over whole columns (spec node-plugins.md §7.6.1-7.6.3).

Integers throughout: ``//`` of int64 is the oracle's division for the non-negative amounts that occur here.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from gangsched_framework.columns import FilterColumn, Refusals, ScoreColumn
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, PodRequests
from gangsched_framework.status import Status
from gangsched_framework.values import value
from gangsched_plugins.common.float_columns import FloatColumns
from gangsched_plugins.node_resources_fit.fitting import Demand, refusal_status
from gangsched_plugins.node_resources_fit.strategies import Share, Strategy, least_allocated, most_allocated

Vector = NDArray[np.int64]
_LARGEST = 2**63 // MAX_NODE_SCORE
_LARGEST_SUM = 2**63 - 1


def view(column: array[int]) -> Vector:
    """A numpy view of a table column, valid for the table's epoch."""
    return np.frombuffer(column, np.int64)


@value(eq=False)
class _Check:
    """One resource the pod asks for."""

    name: str
    asked: int
    used: array[int]
    allocatable: array[int]

    def lacks(self) -> NDArray[np.bool_]:
        return self.asked > view(self.allocatable) - view(self.used)


def filter_column(demand: Demand, table: NodeTable) -> FilterColumn:
    """Which nodes have room for another pod of this demand."""
    pods_used, pods_allocatable = table.column(PODS)
    checks = [_Check(name, asked, *table.column(name)) for name, asked in _asked(demand)]
    triples = [(check.asked, check.used, check.allocatable) for check in checks]

    def mask() -> NDArray[np.bool_]:
        passes = view(pods_used) < view(pods_allocatable)
        for check in checks:
            passes &= view(check.allocatable) - view(check.used) >= check.asked
        return passes

    def test(row: int) -> bool:
        if pods_used[row] >= pods_allocatable[row]:
            return False
        for asked, used, allocatable in triples:  # noqa: SIM110 - a generator costs twice, for every repaired row
            if asked > allocatable[row] - used[row]:
                return False
        return True

    def reason(row: int) -> int:
        code = int(pods_used[row] >= pods_allocatable[row])
        for at, (asked, used, allocatable) in enumerate(triples, start=1):
            if asked > allocatable[row] - used[row]:
                code |= 1 << at
        return code

    def refusals(rows: Rows) -> Refusals:
        code = np.zeros(len(rows), np.int64)  # bit 0: too many pods; then two bits a resource: lacking, hopeless
        code |= (view(pods_used)[rows] >= view(pods_allocatable)[rows]).astype(np.int64)
        for at, check in enumerate(checks):
            lacks = check.lacks()[rows]
            hopeless = lacks & (check.asked > view(check.allocatable)[rows])
            code |= (lacks.astype(np.int64) << (2 * at + 1)) | (hopeless.astype(np.int64) << (2 * at + 2))
        if len(code) and np.minimum.reduce(code) == np.maximum.reduce(code):
            if code[0]:
                yield _status(int(code[0]), checks), rows
            return
        for number in np.unique(code):
            if number:
                yield _status(int(number), checks), rows[code == number]

    def room(rows: Rows) -> Vector:
        left = (view(pods_allocatable) - view(pods_used))[rows]
        for check in checks:
            left = np.minimum(left, (view(check.allocatable) - view(check.used))[rows] // check.asked)
        return left

    def beside(row: int, others: Sequence[Pod]) -> bool:
        if pods_used[row] + len(others) >= pods_allocatable[row]:
            return False
        for check in checks:
            theirs = sum(other.usage.requested.get(check.name) for other in others)
            if check.asked > check.allocatable[row] - check.used[row] - theirs:
                return False
        return True

    return FilterColumn(mask, refusals, test, room=room, beside=beside, reason=reason)


def _asked(demand: Demand) -> Iterable[tuple[str, int]]:
    if demand.milli_cpu:
        yield CPU, demand.milli_cpu
    if demand.memory:
        yield MEMORY, demand.memory
    if demand.ephemeral_storage:
        yield EPHEMERAL_STORAGE, demand.ephemeral_storage
    yield from demand.scalars


def _status(code: int, checks: Sequence[_Check]) -> Status:
    reasons = ["Too many pods"] if code & 1 else []
    reasons += [f"Insufficient {check.name}" for at, check in enumerate(checks) if code >> (2 * at + 1) & 1]
    hopeless = any(code >> (2 * at + 2) & 1 for at in range(len(checks)))
    return refusal_status(tuple(reasons), hopeless)


# --- Score ----------------------------------------------------------------------------------------------------------


@value(eq=False)
class _Part:
    """One resource of the weighted mean. ``used`` and ``capacity`` are columns of the table.

    ``grows``: what a pod that has come to a node adds to ``used``, which may be more than it asks (spec §3.5).
    """

    asked: int
    grows: int
    weight: int
    used: array[int]
    capacity: array[int]


Floats = NDArray[np.float64]
_EXACT_FLOATS = 2**53


@frozen(eq=False)
class _Capacities:
    """What the nodes have of the resources of a weighted mean, for one ``classes`` of the table.

    ``divisors``: the weights of the resources a node has, at least 1, also as floats. ``floats``: the same amounts, at
    least 1, where floats hold a hundred times each exactly; ``free``: what is left. ``whole``: 64-bit arithmetic
    holds them a hundred times. ``scratch`` is for one vector pass.
    """

    capacities: tuple[Vector, ...]
    divisors: Vector
    float_divisors: Floats
    floats: tuple[Floats, ...] | None
    free: FloatColumns
    whole: bool
    scratch: tuple[Floats, Floats]

    @classmethod
    def of(cls, resources: Sequence[tuple[str, int]], table: NodeTable) -> _Capacities:
        """``resources``: names and weights."""
        rows = len(table.names)
        weights = np.zeros(rows, np.int64)
        columns = [score_columns(name, table) for name, _ in resources]
        capacities = [view(capacity) for _, capacity in columns]
        for (_, weight), capacity in zip(resources, capacities, strict=True):
            weights += weight * (capacity != 0)
        largest = max((int(c.max(initial=0)) for c in capacities), default=0)
        small = largest * MAX_NODE_SCORE < _EXACT_FLOATS
        floats = tuple(np.maximum(c, 1).astype(np.float64) for c in capacities) if small else None
        free = FloatColumns(table, [used for used, _ in columns], [capacity for _, capacity in columns])
        scratch = (np.zeros(rows), np.zeros(rows))
        divisors = np.maximum(weights, 1)
        whole = largest < _LARGEST
        return cls(tuple(capacities), divisors, divisors.astype(np.float64), floats, free, whole, scratch)


class CapacityCache:
    """Capacities by resources and weights, as long as the nodes stay as they are."""

    def __init__(self) -> None:
        self._classes: NodeClasses | None = None
        self._known: dict[tuple[tuple[str, int], ...], _Capacities] = {}

    def of(self, resources: tuple[tuple[str, int], ...], table: NodeTable) -> _Capacities:
        """Those of ``resources``, names and weights."""
        if self._classes is not table.classes:
            self._known.clear()
            self._classes = table.classes
        known = self._known.get(resources)
        if known is None:
            known = self._known[resources] = _Capacities.of(resources, table)
        return known


def score_column(
    shares: Sequence[Share], strategy: Strategy, table: NodeTable, requests: PodRequests, cache: CapacityCache
) -> ScoreColumn | None:
    """The strategy's weighted mean; None for strategies and amounts that need the per-node form."""
    formula = _FORMULAS.get(strategy)
    parts = [
        _Part(share.asked, _growth(share.name, requests), share.weight, *score_columns(share.name, table))
        for share in shares
    ]
    known = cache.of(tuple((share.name, share.weight) for share in shares), table)
    if formula is None or not known.whole:
        return None
    capacities, divisors, floats = known.capacities, known.divisors, known.floats

    def vector() -> Vector:
        if floats is not None:
            return _by_floats(parts, known, floats, strategy is least_allocated)
        total = np.zeros(len(table.names), np.int64)
        for part, capacity in zip(parts, capacities, strict=True):
            total += part.weight * formula(view(part.used) + part.asked, capacity)
        mean: Vector = total // divisors
        return mean

    rows = [(part.asked, part.weight, part.used, part.capacity) for part in parts]

    def one(row: int) -> int:
        total = weights = 0
        for asked, weight, used, capacities in rows:
            capacity = capacities[row]
            if capacity:
                total += weight * strategy(used[row] + asked, capacity)
                weights += weight
        return total // weights if weights else 0

    def one_least(row: int) -> int:  # the same, in line: it is asked for every repaired row
        total = weights = 0
        for asked, weight, used, capacities in rows:
            capacity = capacities[row]
            if capacity:
                weights += weight
                free = capacity - used[row] - asked
                if free > 0:
                    total += free * MAX_NODE_SCORE // capacity * weight
        return total // weights if weights else 0

    def ahead(chosen: Rows, steps: Vector) -> Vector:
        total = np.zeros(steps.shape, np.int64)
        for part, capacity in zip(parts, capacities, strict=True):
            used = view(part.used)[chosen][:, None] + steps * part.grows
            total += part.weight * formula(used + part.asked, capacity[chosen][:, None])
        mean: Vector = total // np.broadcast_to(divisors, len(table.names))[chosen][:, None]
        return mean

    return ScoreColumn(vector, one_least if strategy is least_allocated else one, ahead=ahead)


def _by_floats(parts: Sequence[_Part], known: _Capacities, floats: Sequence[Floats], free: bool) -> Vector:
    """The weighted mean of the ``free``, or the used, shares: quotients of exact floats, cut, are those of integers."""
    total, other = known.scratch
    if not parts:
        total.fill(0)
    score = total
    for part, left, whole, capacity in zip(parts, known.free.now(), floats, known.capacities, strict=True):
        np.subtract(left, float(part.asked), out=score)
        np.maximum(score, 0.0, out=score)
        if not free:
            np.subtract(capacity, score, out=score)
        score *= MAX_NODE_SCORE
        score /= whole
        np.floor(score, out=score)
        if part.weight != 1:
            score *= part.weight
        if score is other:
            total += score
        score = other
    total /= known.float_divisors
    return total.astype(np.int64)


def _growth(resource: str, requests: PodRequests) -> int:
    if resource == CPU:
        return requests.nonzero_milli_cpu
    if resource == MEMORY:
        return requests.nonzero_memory
    return requests.requested.get(resource)


def exact_sum(column: array[int], rows: Rows) -> int:
    """The sum of a column's non-negative amounts over ``rows``, however large."""
    amounts = view(column)[rows]
    if len(rows) and np.maximum.reduce(amounts) > _LARGEST_SUM // len(rows):
        return sum(amounts.tolist())
    return int(np.add.reduce(amounts))


def score_columns(resource: str, table: NodeTable) -> tuple[array[int], array[int]]:
    """(used, allocatable) of a resource as scores see it: containers that ask no cpu or memory count with defaults."""
    used, allocatable = table.column(resource)
    if resource == CPU:
        return table.nonzero_cpu, allocatable
    if resource == MEMORY:
        return table.nonzero_memory, allocatable
    return used, allocatable


def _least(total: Vector, capacity: Vector) -> Vector:
    free = np.maximum(capacity - total, 0)
    score: Vector = free * MAX_NODE_SCORE // np.maximum(capacity, 1)
    return score


def _most(total: Vector, capacity: Vector) -> Vector:
    score: Vector = np.minimum(total, capacity) * MAX_NODE_SCORE // np.maximum(capacity, 1)
    return score


_FORMULAS: dict[Strategy, Callable[[Vector, Vector], Vector]] = {least_allocated: _least, most_allocated: _most}
