"""NodeResourcesBalancedAllocation: prefer nodes whose resources stay evenly used (spec node-plugins.md §7.7)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.handle import Handle
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Resources
from gangsched_framework.status import Status, skip
from gangsched_plugins.names import NODE_RESOURCES_BALANCED_ALLOCATION

_STATE = f"PreScore{NODE_RESOURCES_BALANCED_ALLOCATION}"
_FIXED = (CPU, MEMORY, EPHEMERAL_STORAGE)
_MIDDLE = MAX_NODE_SCORE // 2

Asked = tuple[tuple[str, int], ...]
"""(resource, amount the pod asks) for each resource that counts, in configured order."""


class NodeResourcesBalancedAllocation:
    """PreScore and Score. Argument ``resources``: the resources compared (``[{name, weight: 1}]``), cpu and memory."""

    name = NODE_RESOURCES_BALANCED_ALLOCATION
    locality = "node"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._resources: tuple[str, ...] = tuple(r["name"] for r in args.get("resources") or ()) or (CPU, MEMORY)

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
        before: list[float] = []
        after: list[float] = []
        allocatable = node.allocatable
        for resource, amount in asked:
            capacity = _amount(allocatable, resource)
            if capacity:
                used = node.requested(resource)
                before.append(1.0 if used >= capacity else float(used) / float(capacity))
                used += amount
                after.append(1.0 if used >= capacity else float(used) / float(capacity))
        return _MIDDLE + (_MIDDLE + _balance(after) - _balance(before)) // 2

    def _asked(self, pod: Pod) -> Asked:
        requested = pod.incoming.requested
        asked = ((resource, _amount(requested, resource)) for resource in self._resources)
        return tuple((resource, amount) for resource, amount in asked if amount or resource in _FIXED)


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
