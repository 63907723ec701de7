"""What the live forms of the policies have in common: they listen to the accounts and note what to work out anew."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_framework.accounts import Accounts, JobAccount, TenantAccount
from gangsched_framework.fair_order import Moved
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
    """A listener that keeps nothing. A policy overrides what it looks at, and ``settle``."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        self._moved = Moved({}, {})
        accounts.listeners.append(self)

    def on_allocated(self, job: JobAccount, grew: bool) -> None:
        """A pod was placed or gave its place back."""

    def on_requested(self, job: JobAccount) -> None:
        """A pod came or went."""

    def on_total(self) -> None:
        """Nodes changed."""

    def on_queue(self, tenant: TenantAccount) -> None:
        """A Queue changed."""

    def settle(self) -> None:
        """Bring everything up to date with the accounts."""

    def moved(self) -> Moved | None:
        """Tenants and jobs whose key may have changed since the last call."""
        self.settle()
        if not (self._moved.tenants or self._moved.jobs or self._moved.branches):
            return None
        moved, self._moved = self._moved, Moved({}, {})
        return moved

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
