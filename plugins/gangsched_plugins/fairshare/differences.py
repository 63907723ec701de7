"""How far two amounts are apart, and ratios (spec fair-share.md §1.5)."""

from __future__ import annotations

from gangsched_plugins.fairshare.amounts import Amounts, Missing

ABSENT = -1.0
"""Marks a scalar that one side does not name, when a missing one counts as infinity (R30)."""


def difference(left: Amounts, right: Amounts, missing: Missing) -> tuple[Amounts, Amounts]:
    """(increase, decrease) from right to left; both always hold a map of scalars (R30)."""
    more: dict[str, float] = {}
    less: dict[str, float] = {}
    for name in sorted({**left.others, **right.others}):
        if missing == "infinity" and name not in left.others:
            more[name] = ABSENT
        elif missing == "infinity" and name not in right.others:
            less[name] = ABSENT
        elif left.get(name) > right.get(name):
            more[name] = left.get(name) - right.get(name)
        else:
            less[name] = right.get(name) - left.get(name)
    cpu, memory = left.cpu - right.cpu, left.memory - right.memory
    return (
        Amounts(max(cpu, 0), max(memory, 0), more),
        Amounts(max(-cpu, 0), max(-memory, 0), less),
    )


def excess(left: Amounts, right: Amounts) -> Amounts:
    """What the left has above the right, never negative (R31)."""
    return difference(left, right, "zero")[0]


def share(part: float, whole: float) -> float:
    """``part / whole``; of nothing, nothing is 0 and anything is 1 (R33)."""
    if whole == 0:
        return 0 if part == 0 else 1
    return part / whole
