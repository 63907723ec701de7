"""Capacity, live: written quotas, of single tenants or of a hierarchy (spec fair-share.md §4.6)."""

from __future__ import annotations

from collections.abc import Hashable

from gangsched_framework.account import JobAccount, TenantAccount
from gangsched_framework.accounts import Accounts
from gangsched_framework.fair_order import Key
from gangsched_framework.resources import CPU, MEMORY, PODS
from gangsched_framework.vectors import Vector, plus
from gangsched_plugins.fairshare.amounts import EPSILON, NO_AMOUNTS, Amounts
from gangsched_plugins.fairshare.book import Book, readable
from gangsched_plugins.fairshare.capacity import quota
from gangsched_plugins.fairshare.capacity_tree import ROOT, Branch, NotReady, Quota, build_tree, order_key
from gangsched_plugins.fairshare.demand import Demand
from gangsched_plugins.fairshare.entitlement import real_capability, total_of


class CapacityBook(Book):
    """What each tenant deserves and may have at most; both change with Queues and nodes only.

    ``hierarchical``: quotas form a tree by ``parent``, ancestors count what is below them. An ancestor's share is
    always that of its present allocation (upstream's is stale, K13).
    """

    def __init__(self, accounts: Accounts, *, hierarchical: bool) -> None:
        super().__init__(accounts)
        self.hierarchical = hierarchical
        self._branches: dict[str, Branch] | None = None
        self._not_ready = ""
        self._touched: dict[str, None] = {}
        accounts.on_allocated.append(self._on_allocated)
        accounts.on_requested.append(self._on_requested)
        accounts.on_total.append(self._start_anew)
        accounts.on_queue.append(self._start_anew)

    # --- what happened ----------------------------------------------------------------------------------------------

    def _on_allocated(self, job: JobAccount, grew: bool) -> None:
        self._touch(job.tenant.name, not grew)

    def _on_requested(self, job: JobAccount) -> None:
        branch = (self._branches or {}).get(job.tenant.name)
        if self._not_ready or (self.hierarchical and branch is not None and branch.children):
            self._branches = None  # jobs in an inner queue break the hierarchy (K12)

    def _start_anew(self) -> None:
        self._branches = None

    def _touch(self, name: str, grew: bool) -> None:
        """What a tenant holds moves itself; in a hierarchy its ancestors too, and so all who stand below these.

        The root's share orders nobody, so those outside its child are concerned only if its capability frees room.
        """
        self._touched[name] = None
        branch = (self._branches or {}).get(name)
        path = branch.path() if self.hierarchical and branch is not None else []
        limited = bool(path) and path[0].quota.capability is not None
        top = path[0 if grew and limited else 1] if len(path) > 1 else None
        for each in _names_below(top) if top is not None else [name]:
            self.accounts.moved.note(each, grew)

    # --- answers ----------------------------------------------------------------------------------------------------

    def key(self, tenant: str) -> Key:
        """Priority, then the share of its quota; in a hierarchy that of each ancestor first (K4)."""
        branch = self.branches().get(tenant) or Branch(Quota(tenant))  # pods may name a Queue that does not exist
        if self.hierarchical:
            return order_key(branch)
        return (-branch.quota.priority, *branch.rank)

    def refusal(self, tenant: str) -> str:
        """Why nobody is served, or this tenant is not (K6, K12); '' = it is."""
        branch = self.branches().get(tenant)
        if self._not_ready:
            return f"the hierarchy of queues is not ready: {self._not_ready}"
        return f"queue {tenant} is not a leaf of the hierarchy" if branch is not None and branch.children else ""

    def beyond(self, tenant: TenantAccount, request: Vector, *, tentative: bool = False) -> str:
        """Why a tenant may not take ``request``: it or an ancestor would exceed its real capability (K6)."""
        branch = self.branches().get(tenant.name)
        if branch is None:
            return ""
        # a tree has one tenant
        asked = plus(request, self.accounts.tentative.of(tenant.name)) if tentative else request
        for each in reversed(branch.path()) if self.hierarchical else [branch]:
            held, most = each.demand.allocated, each.real_capability
            for name, wanted, more in zip(self.accounts.names, request, asked, strict=False):
                limit = most.get(name) if name in ("cpu", "memory") or name in most.others else None
                total = held.get(name) + more
                if wanted > 0 and name != PODS and limit is not None and total - limit >= EPSILON:
                    shown = readable(name, total), readable(name, limit)
                    return f"queue {each.name}: {name} {shown[0]} would exceed capability {shown[1]}"
        return ""

    def sates(self, tenant: TenantAccount) -> bool:
        """Quotas do not look at what is asked for."""
        return False

    def room(self, tenant: str) -> Hashable:
        """What a tenant and its ancestors hold and may hold: all that ``beyond`` looks at, tentative amounts aside."""
        branch = self.branches().get(tenant)
        path = [] if branch is None else branch.path() if self.hierarchical else [branch]
        return tuple((each.name, self._row(each.demand.allocated), self._row(each.real_capability)) for each in path)

    def _row(self, amounts: Amounts) -> tuple[float | None, ...]:
        """An amount of each resource, None of scalars that are not named."""
        fixed = {CPU: amounts.cpu, MEMORY: amounts.memory}
        return tuple(fixed.get(name, amounts.others.get(name)) for name in self.accounts.names)

    # --- bringing up to date ----------------------------------------------------------------------------------------

    def branches(self) -> dict[str, Branch]:
        """Every Queue with its quota, what it holds and what it may hold."""
        if self._branches is None:
            self._branches = self._build()
            self._touched.clear()
            for name in (*self.accounts.tenants, *self._branches):  # one may wait whose pods count nowhere any more
                self.accounts.moved.note(name, grew=True)
        elif self._touched:
            touched, self._touched = self._touched, {}
            for name in touched:
                self._recount(name)
        return self._branches

    def settle(self) -> None:
        """Bring the quotas up to date; everybody moves when they were read anew."""
        self.branches()

    def _build(self) -> dict[str, Branch]:
        quotas = [
            Quota(
                account.name,
                account.queue.parent,
                Amounts.written(account.queue.capability),
                Amounts.written(account.queue.deserved) or NO_AMOUNTS,
                Amounts.written(account.queue.guarantee) or NO_AMOUNTS,
                account.queue.priority,
            )
            for account in self.accounts.tenants.values()
            if account.queue is not None
        ]
        total = self.total()
        self._not_ready = ""
        if not self.hierarchical:
            return self._flat(quotas, total)
        if all(each.name != ROOT for each in quotas):
            quotas.append(Quota(ROOT))
        known = {each.name for each in quotas}
        demands = {name: self._demand(name) for name, a in self.accounts.tenants.items() if a.pods and name in known}
        try:
            return build_tree(quotas, demands, total)
        except NotReady as problem:
            self._not_ready = str(problem)
            return {each.name: Branch(each) for each in quotas}

    def _flat(self, quotas: list[Quota], total: Amounts) -> dict[str, Branch]:
        guaranteed = total_of(each.guarantee for each in quotas)
        branches = {}
        for each in quotas:
            real = real_capability(total, guaranteed, each.guarantee, each.capability)
            branches[each.name] = Branch(
                each,
                demand=self._demand(each.name),
                guarantee=each.guarantee,
                deserved=quota(each.deserved, real, each.guarantee),
                real_capability=real,
            )
        return branches

    def _demand(self, name: str) -> Demand:
        account = self.accounts.tenants[name] if name in self.accounts.tenants else TenantAccount(name)
        return Demand(self.amounts(account.allocated))

    def _recount(self, name: str) -> None:
        """What a tenant holds now, in it and in its ancestors."""
        branch = (self._branches or {}).get(name)
        if branch is None:
            return
        new, old = self._demand(name).allocated, branch.demand.allocated
        for each in branch.path() if self.hierarchical else [branch]:
            each.demand = Demand(each.demand.allocated.minus(old).plus(new))


def _names_below(branch: Branch) -> list[str]:
    below = [name for child in branch.children.values() for name in _names_below(child)]
    return [branch.name, *below]
