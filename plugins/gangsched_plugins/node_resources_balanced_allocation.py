"""NodeResourcesBalancedAllocation: prefer nodes whose resources stay evenly used (spec node-plugins.md §7.7)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsched_framework.columns import SILENT, Columns, ScoreColumn
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.handle import Handle
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Resources
from gangsched_framework.status import Status, skip
from gangsched_plugins.common.by_nodes import ByNodes
from gangsched_plugins.common.float_columns import EXACT, MANY, FloatColumns
from gangsched_plugins.names import NODE_RESOURCES_BALANCED_ALLOCATION

_STATE = f"PreScore{NODE_RESOURCES_BALANCED_ALLOCATION}"
_FIXED = (CPU, MEMORY, EPHEMERAL_STORAGE)
_MIDDLE = MAX_NODE_SCORE // 2

Asked = tuple[tuple[str, int], ...]
"""(resource, amount the pod asks) for each resource that counts, in configured order."""
Standing = tuple[float, float, float, float, int]
"""Of a node: what is used of two resources, what there is of them, and 150 less its balance."""


class NodeResourcesBalancedAllocation:
    """PreScore and Score. Argument ``resources``: the resources compared (``[{name, weight: 1}]``), cpu and memory."""

    name = NODE_RESOURCES_BALANCED_ALLOCATION
    locality = "node"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._resources: tuple[str, ...] = tuple(r["name"] for r in args.get("resources") or ()) or (CPU, MEMORY)
        self._pairs = ByNodes(_Pair)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Skip for a pod that asks none of the resources."""
        asked = self._asked(pod)
        if not any(amount for _, amount in asked):
            return skip()
        state.write(_STATE, asked)
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """75 = the pod leaves the balance as it is, up to 100 = improves it, down to 50 = worsens it."""
        asked: Asked | None = state.read(_STATE)
        if asked is None:
            asked = self._asked(pod)
            if not any(amount for _, amount in asked):
                return 0
        allocatable = node.allocatable
        return _score((node.requested(r), amount, _amount(allocatable, r)) for r, amount in asked)

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """Silent for a pod that asks none of the resources; two resources that every node has are vectorised."""
        asked = self._asked(pod)
        if not any(amount for _, amount in asked):
            return SILENT
        if len(asked) == 2:
            (first, asked_a), (second, asked_b) = asked
            pair = self._pairs.of((first, second), table)
            if pair.holds:
                return Columns(score=pair.column(asked_a, asked_b))
        parts = [(amount, *table.column(resource)) for resource, amount in asked]

        def one(row: int) -> int:
            return _score((used[row], amount, capacity[row]) for amount, used, capacity in parts)

        rows = len(table.names)
        return Columns(score=ScoreColumn(lambda: np.fromiter(map(one, range(rows)), np.int64, rows), one))

    def _asked(self, pod: Pod) -> Asked:
        requested, asked = pod.incoming.requested, []
        for resource in self._resources:
            amount = _amount(requested, resource)
            if amount or resource in _FIXED:
                asked.append((resource, amount))
        return tuple(asked)


def _score(parts: Iterable[tuple[int, int, int]]) -> int:
    """From (used, asked, capacity) of each resource; one the node has not is left out."""
    before: list[float] = []
    after: list[float] = []
    for used, amount, capacity in parts:
        if capacity:
            before.append(1.0 if used >= capacity else float(used) / float(capacity))
            used += amount
            after.append(1.0 if used >= capacity else float(used) / float(capacity))
    return _MIDDLE + (_MIDDLE + _balance(after) - _balance(before)) // 2


def _on_every_node(capacity: array[int]) -> bool:
    """Whether every node has some of the resource, and no more than floats hold exactly."""
    amounts = np.frombuffer(capacity, np.int64)
    return len(amounts) > 0 and int(amounts.min()) > 0 and int(amounts.max()) < EXACT


class _Pair:
    """Two resources with capacity on every node, for one ``classes`` of the table: the same float operations in the
    same order, for all nodes at once.

    How balanced the nodes are as they stand is all one to the pod: it is kept, and followed row by row.
    """

    def __init__(self, resources: tuple[str, str], table: NodeTable) -> None:
        self._table = table
        (self._used_a, self._capacity_a), (self._used_b, self._capacity_b) = map(table.column, resources)
        capacities = self._capacity_a, self._capacity_b
        self.holds = all(map(_on_every_node, capacities))
        self._whole = np.array([_view(capacity) for capacity in capacities], np.float64)
        self._all_a, self._all_b = (array("d", amounts.tobytes()) for amounts in self._whole)
        self._used = FloatColumns(table, (self._used_a, self._used_b))
        self._scratch, self._one = np.zeros_like(self._whole), np.ones(len(table.names))
        self._log: list[int] = []
        self._position = -1
        self._before: array[int] = array("i", [0]) * len(table.names)  # 150 less the balance of the node as it stands

    def column(self, asked_a: int, asked_b: int) -> ScoreColumn:
        """The score for a pod that asks so much."""

        asked = np.array([[asked_a], [asked_b]], np.float64)

        def vector() -> NDArray[np.int32]:
            self._follow()
            score = self._balances(asked)
            score += np.frombuffer(self._before, np.int32)
            score >>= 1  # rounded down: 50 + (50 + after - before) // 2
            return score

        def ahead(rows: Rows, steps: NDArray[np.int64]) -> NDArray[np.int64]:
            now_a, now_b = (_view(used)[rows] for used in (self._used_a, self._used_b))
            all_a, all_b = self._whole[:, rows]

            def balance(total_a: NDArray[np.int64], total_b: NDArray[np.int64]) -> NDArray[np.int64]:
                deviation = np.abs(np.minimum(total_a / all_a, 1.0) - np.minimum(total_b / all_b, 1.0)) / 2
                whole: NDArray[np.int64] = ((1 - deviation) * float(MAX_NODE_SCORE)).astype(np.int64)
                return whole

            now_a, now_b = now_a + steps * asked_a, now_b + steps * asked_b
            return _MIDDLE + (_MIDDLE + balance(now_a + asked_a, now_b + asked_b) - balance(now_a, now_b)) // 2

        more_a, more_b = float(asked_a), float(asked_b)

        def one(facts: Standing) -> int:
            now_a, now_b, all_a, all_b, before = facts
            a = (now_a + more_a) / all_a
            b = (now_b + more_b) / all_b
            if a > 1.0:
                a = 1.0
            if b > 1.0:
                b = 1.0
            a -= b
            if a < 0.0:
                a = -a
            return (before + int((2.0 - a) * _MIDDLE)) >> 1  # as ``vector``

        return ScoreColumn(vector, one, ahead=ahead, facts=self.facts)

    def facts(self, row: int) -> Standing:
        """How a node stands."""
        now_a, now_b = float(self._used_a[row]), float(self._used_b[row])
        all_a, all_b = self._all_a[row], self._all_b[row]
        a = now_a / all_a if now_a < all_a else 1.0
        b = now_b / all_b if now_b < all_b else 1.0
        return now_a, now_b, all_a, all_b, 3 * _MIDDLE - int((2.0 - abs(a - b)) * _MIDDLE)

    def _follow(self) -> None:
        """Bring the balance of the nodes as they stand up to date. O(touched rows), or one vector pass."""
        log = self._table.touched
        end = len(log)
        if log is not self._log or not 0 <= self._position <= end or end - self._position > MANY:
            np.subtract(3 * _MIDDLE, self._balances(np.zeros((2, 1))), out=np.frombuffer(self._before, np.int32))
        else:
            for row in log[self._position :]:
                self._before[row] = self.facts(row)[-1]
        self._log, self._position = log, end

    def _balances(self, asked: NDArray[np.float64]) -> NDArray[np.int32]:
        """How balanced each node would be with so much more on it."""
        shares = np.add(self._used.now(), asked, out=self._scratch)
        shares /= self._whole
        np.minimum(shares, self._one, out=shares)
        a, b = shares
        a -= b
        np.abs(a, out=a)
        # (1 - a / 2) * 100, bit for bit: halving and doubling are exact
        np.subtract(2.0, a, out=a)
        a *= _MIDDLE
        balances: NDArray[np.int32] = a.astype(np.int32)
        return balances


def _view(column: array[int]) -> NDArray[np.int64]:
    return np.frombuffer(column, np.int64)


def _amount(resources: Resources, name: str) -> int:
    # `pods` is no resource one can ask for, so it never counts.
    return resources.get(name) if name in _FIXED else resources.scalars.get(name, 0)


def _balance(fractions: Sequence[float]) -> int:
    """100 × (1 − deviation) of the used fractions, truncated; every operation in upstream's order (spec §7.7.6)."""
    deviation = 0.0
    if len(fractions) == 2:
        deviation = abs(fractions[0] - fractions[1]) / 2
    elif len(fractions) > 2:
        mean = _sum(fractions) / len(fractions)
        deviation = math.sqrt(_sum([(f - mean) * (f - mean) for f in fractions]) / len(fractions))
    return int((1 - deviation) * MAX_NODE_SCORE)


def _sum(numbers: Sequence[float]) -> float:
    # Plain additions in list order: the built-in sum compensates rounding since Python 3.12.
    total = 0.0
    for number in numbers:
        total += number
    return total
