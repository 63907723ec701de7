"""Reads the shares of tenants and jobs off the books of the policies, for people to look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gangsched_framework.account import TenantAccount
from gangsched_framework.accounts import Accounts
from gangsched_framework.fair_order import queue_refusal
from gangsched_framework.objects import Queue
from gangsched_framework.resources import CPU, MEMORY, PODS
from gangsched_framework.shares import JobShare, Natural, QueueShare, ShareRound, SharesView, TreeShare
from gangsched_framework.vectors import Vector
from gangsched_plugins.fairshare.amounts import EPSILON, NO_AMOUNTS, UNLIMITED, Amounts
from gangsched_plugins.fairshare.capacity_book import CapacityBook
from gangsched_plugins.fairshare.capacity_tree import UNLIMITED_SCALAR
from gangsched_plugins.fairshare.dominant_book import DominantBook
from gangsched_plugins.fairshare.hdrf import HdrfNode
from gangsched_plugins.fairshare.hdrf_book import HdrfBook
from gangsched_plugins.fairshare.proportion_book import ProportionBook


class ShareWatch:
    """Reads shares off the books of ``plugins``; makes books of its own where a profile has none."""

    def __init__(self, accounts: Accounts, plugins: Iterable[object]) -> None:
        self.accounts = accounts
        tiers = list(plugins)
        books = [book for plugin in tiers for book in vars(plugin).values()]
        self._capacity = next((book for book in books if isinstance(book, CapacityBook)), None)
        self._hdrf = next((book for book in books if isinstance(book, HdrfBook)), None)
        proportion = next((book for book in books if isinstance(book, ProportionBook)), None)
        self._ordered = bool(tiers)
        self._limits = proportion is not None
        self.decides = self._limits or self._capacity is not None or self._hdrf is not None
        self._proportion = proportion or ProportionBook(accounts)
        dominant = next((book for book in books if isinstance(book, DominantBook)), None)
        self._dominant = dominant or DominantBook(accounts)

    @property
    def policy(self) -> str:
        if self._capacity is not None:
            return "Capacity"
        return "HDRF" if self._hdrf is not None and self.decides else "Proportion"

    # --- one tenant -------------------------------------------------------------------------------------------------

    def deserved(self, tenant: str) -> list[float]:
        """What a tenant deserves, in stored units, in the order of the accounts' resources."""
        if self._capacity is None:
            return self._proportion.deserved(tenant)
        branch = self._capacity.branches().get(tenant)
        deserved = branch.deserved if branch is not None else NO_AMOUNTS
        return [deserved.get(name) for name in self.accounts.names]

    def share(self, tenant: TenantAccount) -> float:
        """allocated / deserved, of the worst resource."""
        if self._capacity is None:
            return self._proportion.share(tenant)
        branch = self._capacity.branches().get(tenant.name)
        return branch.rank[0] if branch is not None else 1

    def refusal(self, tenant: TenantAccount) -> str:
        """Why nothing of a tenant may be popped now; '' = something may."""
        if not self._ordered:
            return ""
        reason = queue_refusal(tenant.name, tenant.queue)
        if self._capacity is not None:
            return reason or self._capacity.refusal(tenant.name)
        if self._hdrf is not None:
            reason = reason or self._hdrf.refusal(tenant.name)
        return reason or (self._proportion.overused(tenant) if self._limits else "")

    # --- everything -------------------------------------------------------------------------------------------------

    def view(self) -> SharesView:
        """Everything by name; O(tenants + jobs)."""
        accounts = self.accounts
        jobs = sorted(accounts.jobs.values(), key=lambda job: job.key)
        shares = {job.key: self._dominant.dominant(job.key) for job in jobs}
        return SharesView(
            self.policy if self.decides else f"none ({self.policy} measures)",
            self.natural(accounts.total),
            tuple(self._queue(accounts.tenants[name]) for name in sorted(accounts.tenants)),
            tuple(
                JobShare(
                    str(job.key),
                    job.tenant.name,
                    job.pods,
                    shares[job.key].share,
                    shares[job.key].resource,
                    self.natural(job.allocated),
                    self.natural(job.request),
                )
                for job in jobs
            ),
            self._rounds() if self._capacity is None else (),
            self._tree(self._hdrf.tree.root) if self._hdrf is not None else None,
        )

    def natural(self, vector: Sequence[float] | Vector) -> Natural:
        """A vector of stored units in natural ones."""
        return _natural(dict(zip(self.accounts.names, vector, strict=False)))

    def _queue(self, tenant: TenantAccount) -> QueueShare:
        queue = tenant.queue if tenant.queue is not None else Queue(tenant.name, state="")
        refusal = self.refusal(tenant)
        return QueueShare(
            name=tenant.name,
            state=queue.state,
            weight=queue.weight,
            priority=queue.priority,
            parent=queue.parent,
            pods=tenant.pods,
            deserved=self.natural(self.deserved(tenant.name)),
            allocated=self.natural(tenant.allocated),
            request=self.natural(tenant.request),
            guarantee=_written(queue.guarantee),
            capability=_written(queue.capability),
            share=self.share(tenant),
            overused=self._capacity is None and self._is_overused(tenant),
            refusal=refusal if tenant.pods else "",
        )

    def _is_overused(self, tenant: TenantAccount) -> bool:
        return tenant.queue is not None and bool(tenant.pods) and bool(self._proportion.overused(tenant))

    def _rounds(self) -> tuple[ShareRound, ...]:
        return tuple(
            ShareRound(
                _of(each.offered), each.weights, {name: _of(part) for name, part in each.deserved.items()}, each.met
            )
            for each in self._proportion.division().rounds
        )

    def _tree(self, node: HdrfNode) -> TreeShare:
        inner = [child for child in node.children.values() if not child.is_job]
        return TreeShare(
            node.name,
            node.weight,
            node.share,
            self.accounts.names[node.dominant] if node.dominant >= 0 else "",
            node.saturated,
            self.natural(node.allocated),
            len(node.children) - len(inner),
            tuple(self._tree(child) for child in inner),
        )


def _written(amounts: Mapping[str, int] | None) -> Natural:
    return _of(Amounts.written(amounts) or NO_AMOUNTS)


def _of(amounts: Amounts) -> Natural:
    return _natural({CPU: amounts.cpu, MEMORY: amounts.memory, **amounts.others})


def _natural(stored: Mapping[str, float]) -> Natural:
    return {
        name: amount if name in (MEMORY, PODS) else amount / 1000
        for name, amount in stored.items()
        if EPSILON <= amount < min(UNLIMITED, UNLIMITED_SCALAR)
    }
