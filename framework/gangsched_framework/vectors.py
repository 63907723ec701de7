"""Amounts of many resources as tuples of integers: the unit is fair sharing's (fair-share.md §1.1)."""

from __future__ import annotations

from functools import lru_cache
from itertools import repeat, zip_longest
from operator import add, mul, sub

from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

Vector = tuple[int, ...]
"""An amount of each resource, in the order of ``Accounts.names``; a shorter one ends in zeros."""


def stored_amounts(resources: Resources, pods: int = 0) -> dict[str, int]:
    """Amounts by name in the units of fair sharing: milli-CPU, bytes, pods, thousandths of everything else (R3).

    ``pods``: what a pod adds to its request (R8). Names of quota counts are dropped.
    """
    amounts = {CPU: resources.milli_cpu, MEMORY: resources.memory}
    if resources.ephemeral_storage:
        amounts[EPHEMERAL_STORAGE] = resources.ephemeral_storage * 1000
    if resources.pods or pods:
        amounts[PODS] = resources.pods + pods
    for name, amount in resources.scalars.items():
        if not name.startswith("count/"):
            amounts[name] = amount * 1000
    return amounts


def plus(left: Vector, right: Vector) -> Vector:
    """The sum of every resource."""
    if len(left) == len(right):
        return (*map(add, left, right),)  # a fifth less than tuple(…)
    if not left:
        return right
    return tuple(a + b for a, b in zip_longest(left, right, fillvalue=0))


def minus(left: Vector, right: Vector) -> Vector:
    """The difference of every resource, which may be negative."""
    if len(left) == len(right):
        return (*map(sub, left, right),)
    if not right:
        return left
    return tuple(a - b for a, b in zip_longest(left, right, fillvalue=0))


@lru_cache(1024)
def times(vector: Vector, count: int) -> Vector:
    """``count`` times every resource."""
    return (*map(mul, vector, repeat(count)),)
