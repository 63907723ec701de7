"""Amounts of resources as fair sharing counts them (spec fair-share.md §1.1-§1.3).

cpu in milli, memory in bytes, every other resource in milli, except ``pods`` in whole units (R1, R3). All are doubles;
whole numbers may be ints. "No map of scalars" and "an empty map" are equal, but some rules tell them apart (R2).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from gangsched_framework.pod_requests import is_scalar
from gangsched_framework.quantity import MILLI, UNIT, round_away
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources
from gangsched_framework.vectors import stored_amounts

EPSILON = 0.1
"""The least amount that counts, in any stored unit."""
UNLIMITED = sys.float_info.max

Missing = Literal["zero", "infinity"]
"""What a scalar counts as that one side of a comparison does not name."""


@frozen(unsafe_hash=False)
class Amounts:
    """An amount of each resource; ``scalars`` None = no map at all."""

    cpu: float = 0
    memory: float = 0
    scalars: Mapping[str, float] | None = field(default=None, eq=lambda scalars: scalars or {})

    @classmethod
    def of(cls, resources: Resources, pods: int = 0) -> Amounts:
        """Integer resources in the units of this module (R3). ``pods``: what a task adds to its request (R8)."""
        return cls.named(stored_amounts(resources, pods))

    @classmethod
    def named(cls, amounts: Mapping[str, float]) -> Amounts:
        """Amounts by name, in the units of this module."""
        scalars = {name: amount for name, amount in amounts.items() if name not in (CPU, MEMORY)}
        return cls(amounts.get(CPU, 0), amounts.get(MEMORY, 0), scalars or None)

    @classmethod
    def written(cls, nano_units: Mapping[str, int] | None) -> Amounts | None:
        """What an API object says, in nano-units by name (R3); None = nothing."""
        if nano_units is None:
            return None
        amounts: dict[str, float] = {}
        for name, nano in nano_units.items():
            if name in (MEMORY, PODS):
                amounts[name] = round_away(nano, UNIT)
            elif name in (CPU, EPHEMERAL_STORAGE) or (is_scalar(name) and not name.startswith("count/")):
                amounts[name] = round_away(nano, MILLI)
        return cls.named(amounts)

    def get(self, name: str) -> float:
        """The amount of resource ``name``, 0 when it is missing (R6)."""
        if name == CPU:
            return self.cpu
        if name == MEMORY:
            return self.memory
        return self.scalars.get(name, 0) if self.scalars else 0

    @property
    def others(self) -> Mapping[str, float]:
        """The scalars, empty when there is no map."""
        return self.scalars or {}

    def names(self) -> tuple[str, ...]:
        """Resources of at least ε: cpu, memory, then scalars by name (R5)."""
        fixed = [(CPU, self.cpu), (MEMORY, self.memory), *sorted(self.others.items())]
        return tuple(name for name, amount in fixed if amount >= EPSILON)

    @property
    def is_empty(self) -> bool:
        """Whether nothing counts; ``pods`` is not looked at (R10)."""
        return (
            self.cpu < EPSILON
            and self.memory < EPSILON
            and all(amount < EPSILON for name, amount in self.others.items() if name != PODS)
        )

    # --- arithmetic -------------------------------------------------------------------------------------------------

    def plus(self, other: Amounts) -> Amounts:
        """The sum of every resource (R12)."""
        scalars = dict(self.others)
        for name, amount in other.others.items():
            scalars[name] = scalars.get(name, 0) + amount
        named = self.scalars is not None or bool(other.scalars)
        return Amounts(self.cpu + other.cpu, self.memory + other.memory, scalars if named else None)

    def minus(self, other: Amounts) -> Amounts:
        """The difference, which may be negative; without a map of its own, ``other``'s scalars are ignored (R14)."""
        scalars = self.scalars
        if scalars is not None and other.scalars:
            scalars = dict(scalars)
            for name, amount in other.scalars.items():
                scalars[name] = scalars.get(name, 0) - amount
        return Amounts(self.cpu - other.cpu, self.memory - other.memory, scalars)

    def times(self, factor: float) -> Amounts:
        """Every resource scaled (R15)."""
        scalars = self.scalars and {name: amount * factor for name, amount in self.scalars.items()}
        return Amounts(self.cpu * factor, self.memory * factor, scalars)

    def capped_by(self, limit: Amounts, missing: Missing) -> Amounts:
        """The minimum of every resource (R18).

        cpu and memory missing in ``limit`` really are 0; a scalar missing there is 0, or no limit for ``infinity``.
        """
        scalars = self.scalars
        if scalars:
            limits = limit.others
            absent = 0 if missing == "zero" else UNLIMITED
            scalars = {name: min(amount, limits.get(name, absent)) for name, amount in scalars.items()}
        return Amounts(min(self.cpu, limit.cpu), min(self.memory, limit.memory), scalars)

    def raised_to(self, floor: Amounts) -> Amounts:
        """The maximum of every resource; negative scalars are dropped (R19)."""
        cpu, memory = max(self.cpu, floor.cpu), max(self.memory, floor.memory)
        if self.scalars is None and floor.scalars is None:
            return Amounts(cpu, memory)
        highest = dict(self.others)
        for name, amount in floor.others.items():
            highest[name] = max(amount, highest.get(name, amount))
        return Amounts(cpu, memory, {name: amount for name, amount in highest.items() if amount >= 0})


NO_AMOUNTS = Amounts()


def capability_of(written: Amounts) -> Amounts:
    """A capability as it limits: cpu and memory of 0 or less, or absent, are unlimited (P3r)."""
    cpu = written.cpu if written.cpu > 0 else UNLIMITED
    return Amounts(cpu, written.memory if written.memory > 0 else UNLIMITED, written.scalars)
