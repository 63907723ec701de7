"""What the live forms of the policies have in common: the accounts, and amounts by name."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_framework.accounts import Accounts
from gangsched_framework.objects import EntityKey
from gangsched_framework.resources import MEMORY, PODS
from gangsched_framework.vectors import Vector
from gangsched_plugins.fairshare.amounts import Amounts


def readable(name: str, amount: float) -> str:
    """A stored amount as people write it: cpus, gibibytes, units."""
    if name == MEMORY:
        return f"{amount / 2**30:g}Gi"
    return f"{amount if name == PODS else amount / 1000:g}"


class Book:
    """Reads and translates the accounts. A policy listens to what it looks at, and keeps what it derives from it."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts

    # --- between vectors and amounts --------------------------------------------------------------------------------

    def amounts(self, vector: Sequence[float]) -> Amounts:
        """A vector as amounts by name."""
        return Amounts.named(dict(zip(self.accounts.names, vector, strict=False)))

    def total(self) -> Amounts:
        """What all nodes have together; a resource of which they have nothing is not named (some rules ask that)."""
        return Amounts.named({name: a for name, a in zip(self.accounts.names, self.accounts.total, strict=False) if a})

    def padded(self, vector: Vector) -> list[float]:
        """A vector with an amount for every resource."""
        return [*vector, *[0] * (len(self.accounts.names) - len(vector))]

    def jobs_holding(self) -> dict[EntityKey, None]:
        """Jobs with anything allocated."""
        return {key: None for key, job in self.accounts.jobs.items() if any(job.allocated)}
