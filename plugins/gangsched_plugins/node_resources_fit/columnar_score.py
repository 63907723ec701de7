"""The columnar form of Fit's Score: ``strategies`` over whole columns (spec node-plugins.md §7.6.2-7.6.3).

``//`` of int64 is the oracle's division for the non-negative amounts that occur here; so are quotients of exact floats,
cut.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from gangsched_framework.columns import ScoreColumn
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.resources import CPU, MEMORY, PodRequests
from gangsched_plugins.common.by_nodes import ByNodes
from gangsched_plugins.common.float_columns import EXACT, FloatColumns, Floats
from gangsched_plugins.node_resources_fit.columnar import Vector, view
from gangsched_plugins.node_resources_fit.strategies import (
    Strategy,
    Weights,
    asked_of,
    least_allocated,
    most_allocated,
    shares_of,
)

_LARGEST = 2**63 // MAX_NODE_SCORE
_LARGEST_SUM = 2**63 - 1

Free = tuple[int, int, int, int, int]
"""Of a node: the weights of the two resources it has, a hundred times what is free of each, what there is of it."""


@frozen(eq=False)
class Capacities:
    """What the nodes have of the resources of a weighted mean, for one ``classes`` of the table.

    ``parts``: weight, used, capacity. ``divisors``: the weights of the resources a node has, at least 1. ``whole``:
    64-bit arithmetic holds the capacities a hundred times; ``floats``: so do floats.
    """

    parts: tuple[tuple[int, array[int], array[int]], ...]
    divisors: Vector
    whole: bool
    floats: _Floats | None

    @classmethod
    def of(cls, resources: Weights, table: NodeTable) -> Capacities:
        """Those of ``resources``."""
        parts = tuple((weight, *score_columns(name, table)) for name, weight in resources)
        divisors = np.zeros(len(table.names), np.int64)
        for weight, _, capacity in parts:
            divisors += weight * (view(capacity) != 0)
        np.maximum(divisors, 1, out=divisors)
        largest = max((int(view(capacity).max(initial=0)) for _, _, capacity in parts), default=0)
        small = parts and largest * MAX_NODE_SCORE < EXACT
        return cls(parts, divisors, largest < _LARGEST, _Floats(table, parts, divisors) if small else None)

    def facts(self, row: int) -> Free:
        """What is free on a node, of two resources."""
        (weight_a, used_a, capacity_a), (weight_b, used_b, capacity_b) = self.parts
        all_a, all_b = capacity_a[row], capacity_b[row]
        weights = (all_a and weight_a) + (all_b and weight_b)
        free_a, free_b = (all_a - used_a[row]) * MAX_NODE_SCORE, (all_b - used_b[row]) * MAX_NODE_SCORE
        return weights or 1, free_a, all_a, free_b, all_b


class _Floats:
    """The weighted mean by floats, a hundred times each amount at once. Its buffers serve one vector pass."""

    def __init__(self, table: NodeTable, parts: Sequence[tuple[int, array[int], array[int]]], divisors: Vector) -> None:
        used, capacities = [used for _, used, _ in parts], [capacity for _, _, capacity in parts]
        self._free = FloatColumns(table, used, capacities, MAX_NODE_SCORE)
        self._capacities = np.array([view(capacity) for capacity in capacities], np.float64)
        self._divisors = np.maximum(self._capacities, 1.0)
        self._capacities *= MAX_NODE_SCORE
        self._nothing, self._scratch = np.zeros(len(table.names)), np.zeros_like(self._divisors)
        self._weights = [weight for weight, _, _ in parts]
        alike = len(divisors) > 0 and bool((divisors == divisors[0]).all())
        self._weight: int | NDArray[np.int32] = int(divisors[0]) if alike else divisors.astype(np.int32)

    def mean(self, asked: Floats, *, free: bool) -> NDArray[np.int32]:
        """Of the ``free``, or the used, shares with a hundred times ``asked`` more on each node."""
        scores = np.subtract(self._free.now(), asked, out=self._scratch)
        np.maximum(scores, self._nothing, out=scores)
        if not free:
            np.subtract(self._capacities, scores, out=scores)
        scores /= self._divisors
        total: NDArray[np.int32] | None = None
        for score, weight in zip(scores.astype(np.int32), self._weights, strict=True):
            weighed = score if weight == 1 else score * weight
            total = weighed if total is None else np.add(total, weighed, out=total)
        assert total is not None
        total //= self._weight
        return total


def score_column(
    pod: Pod, resources: Weights, strategy: Strategy, table: NodeTable, cache: ByNodes[Weights, Capacities]
) -> ScoreColumn | None:
    """The strategy's weighted mean; None for strategies and amounts that need the per-node form."""
    formula = _FORMULAS.get(strategy)
    amounts = [asked_of(pod, name) for name, _ in resources]
    if 0 in amounts:
        shares = shares_of((pod,), resources)
        resources, amounts = tuple([(share.name, share.weight) for share in shares]), [share.asked for share in shares]
    known = cache.of(resources, table)
    if formula is None or not known.whole:
        return None
    divisors, floats = known.divisors, known.floats
    parts = [(amount, *part) for amount, part in zip(amounts, known.parts, strict=True)]  # weight, used, capacity

    def vector() -> NDArray[np.signedinteger]:
        if floats is not None:
            hundredfold = np.array([[amount * MAX_NODE_SCORE] for amount in amounts], np.float64)
            return floats.mean(hundredfold, free=strategy is least_allocated)
        total = np.zeros(len(divisors), np.int64)
        for asked, weight, used, capacity in parts:
            total += weight * formula(view(used) + asked, view(capacity))
        total //= divisors
        return total

    def one(row: int) -> int:
        total = weights = 0
        for asked, weight, used, capacities in parts:
            capacity = capacities[row]
            if capacity:
                total += weight * strategy(used[row] + asked, capacity)
                weights += weight
        return total // weights if weights else 0

    def ahead(chosen: Rows, steps: Vector) -> Vector:
        total = np.zeros(steps.shape, np.int64)
        for (name, _), (asked, weight, used, capacity) in zip(resources, parts, strict=True):
            then = view(used)[chosen] + steps * _growth(name, pod.incoming)
            total += weight * formula(then + asked, view(capacity)[chosen])
        total //= divisors[chosen]
        return total

    if strategy is least_allocated and len(parts) == 2:
        return ScoreColumn(vector, _least_of_two(amounts, known), ahead=ahead, facts=known.facts)
    return ScoreColumn(vector, one, ahead=ahead)


def _least_of_two(amounts: Sequence[int], capacities: Capacities) -> Callable[[Free], int]:
    """The usual strategy in line, over the usual two resources: it is asked for every repaired row."""
    asked_a, asked_b = (amount * MAX_NODE_SCORE for amount in amounts)
    weight_a, weight_b = (weight for weight, _, _ in capacities.parts)

    def one(facts: Free) -> int:
        weights, free_a, all_a, free_b, all_b = facts
        free_a -= asked_a
        free_b -= asked_b
        total = free_a // all_a * weight_a if free_a > 0 else 0
        if free_b > 0:
            total += free_b // all_b * weight_b
        return total // weights

    return one


def _growth(resource: str, requests: PodRequests) -> int:
    """What a pod that has come to a node adds to its used amount, which may be more than it asks (spec §3.5)."""
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


def with_capacity(allocatable: array[int], rows: Rows) -> Rows | None:
    """Those of ``rows`` that have any of a resource; None = all of them."""
    held = view(allocatable)[rows] > 0
    return None if held.all() else rows[held]


def score_columns(resource: str, table: NodeTable) -> tuple[array[int], array[int]]:
    """(used, allocatable) of a resource as scores see it: containers that ask no cpu or memory count with defaults."""
    if resource == CPU:
        return table.nonzero_cpu, table.allocatable[CPU]
    if resource == MEMORY:
        return table.nonzero_memory, table.allocatable[MEMORY]
    return table.column(resource)


def _least(total: Vector, capacity: Vector) -> Vector:
    free = np.maximum(capacity - total, 0)
    score: Vector = free * MAX_NODE_SCORE // np.maximum(capacity, 1)
    return score


def _most(total: Vector, capacity: Vector) -> Vector:
    score: Vector = np.minimum(total, capacity) * MAX_NODE_SCORE // np.maximum(capacity, 1)
    return score


_FORMULAS: dict[Strategy, Callable[[Vector, Vector], Vector]] = {least_allocated: _least, most_allocated: _most}
