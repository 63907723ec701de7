"""Proportion, live: what tenants deserve by water-filling, and what they may still take (spec fair-share.md §4)."""

from __future__ import annotations

from collections.abc import Hashable
from math import inf
from operator import le, truediv

from gangsched_framework.account import JobAccount, TenantAccount
from gangsched_framework.accounts import Accounts
from gangsched_framework.resources import PODS
from gangsched_framework.vectors import Vector, plus
from gangsched_plugins.fairshare.amounts import EPSILON, NO_AMOUNTS, Amounts
from gangsched_plugins.fairshare.book import Book, readable
from gangsched_plugins.fairshare.deserved import Claim, Division, divide
from gangsched_plugins.fairshare.deserved_columns import DeservedTable, Matrix
from gangsched_plugins.fairshare.entitlement import real_capability, total_of

_MOST_REQUESTS = 10_000


class ProportionBook(Book):
    """Deserved amounts and shares of every tenant with a Queue and pods; others deserve nothing (P2r).

    Binding changes what a tenant holds and neither its request nor the division, so a bind costs one tenant's share.
    The division is made anew when a request changed in a way that matters (``DeservedTable.set_request``), when nodes
    or Queues changed, and then only when somebody looks.
    """

    def __init__(self, accounts: Accounts) -> None:
        super().__init__(accounts)
        self._table: DeservedTable | None = None
        self._requested: dict[str, None] = {}
        self._matrix: Matrix | None = None
        self._deserved: dict[str, list[float]] = {}
        self._divisors: dict[str, list[float]] = {}
        """The same, where a share is of something; less than ε makes no share."""
        self._of_request: dict[Vector, tuple[tuple[int, int], ...]] = {}
        self._settled = False
        accounts.on_requested.append(self._on_requested)
        accounts.on_total.append(self._start_anew)
        accounts.on_queue.append(self._start_anew)

    # --- what happened ----------------------------------------------------------------------------------------------

    def _on_requested(self, job: JobAccount) -> None:
        self._requested[job.tenant.name] = None
        self._settled = False

    def _start_anew(self) -> None:
        self._table = None
        self._settled = False

    # --- answers ----------------------------------------------------------------------------------------------------

    def share(self, tenant: TenantAccount) -> float:
        """max over what is deserved of allocated / deserved (P11r)."""
        if not self._settled:
            self.settle()
        divisors = self._divisors.get(tenant.name)
        held = tenant.allocated
        return max(map(truediv, held, divisors)) if held and divisors else 0.0

    def deserved(self, tenant: str) -> list[float]:
        """In the order of the accounts' resources."""
        if not self._settled:
            self.settle()
        return self._deserved.get(tenant) or self.padded(())

    def overused(self, tenant: TenantAccount) -> str:
        """Why a tenant is overused: everything it deserves is used up, ``pods`` included (P13r); '' = it is not."""
        name, deserved, held = tenant.name, self.deserved(tenant.name), tenant.allocated
        count, shown = len(held), -1
        for index, most in enumerate(deserved):
            if most - (held[index] if index < count else 0) >= EPSILON:
                return ""
            if shown < 0 and most >= EPSILON:
                shown = index
        if shown < 0:
            return f"queue {name} is overused: it deserves nothing"
        resource = self.accounts.names[shown]
        used, part = readable(resource, held[shown]), readable(resource, deserved[shown])
        return f"queue {name} is overused: {resource} {used} of deserved {part}"

    def beyond(self, tenant: TenantAccount, request: Vector, *, tentative: bool = False) -> str:
        """Why a tenant may not take ``request``: in some resource it would exceed what it deserves (P14r); '' = it may.

        ``tentative``: the steps of the running cycle count too.
        """
        deserved, held = self.deserved(tenant.name), tenant.allocated
        if tentative:
            held = plus(held, self.accounts.tentative.of(tenant.name))
        count = len(held)
        for index, total in self._wanted(request):
            if index < count:
                total += held[index]
            if total - deserved[index] >= EPSILON:
                name = self.accounts.names[index]
                shown = readable(name, total), readable(name, deserved[index])
                return f"queue {tenant.name}: {name} {shown[0]} would exceed deserved {shown[1]}"
        return ""

    def _wanted(self, request: Vector) -> tuple[tuple[int, int], ...]:
        """(resource, amount) of what is requested; ``pods`` is never looked at (R23)."""
        found = self._of_request.get(request)
        if found is None:
            if len(self._of_request) > _MOST_REQUESTS:
                self._of_request.clear()
            pods = self.accounts.names.index(PODS) if PODS in self.accounts.names else -1
            found = tuple((index, amount) for index, amount in enumerate(request) if amount > 0 and index != pods)
            self._of_request[request] = found
        return found

    def sates(self, tenant: TenantAccount) -> bool:
        """Whether the tenant deserves all it asks for."""
        return all(map(le, tenant.request, self.deserved(tenant.name)))

    def room(self, tenant: str) -> Hashable:
        """What a tenant holds and deserves: all that ``beyond`` looks at, tentative amounts aside."""
        account = self.accounts.tenants.get(tenant)
        return account.allocated if account is not None else (), tuple(self.deserved(tenant))

    # --- bringing up to date ----------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Bring what tenants deserve up to date; who deserves something else than before has moved."""
        if self._settled:
            return
        self._settled = True
        table = self._table
        if table is None:
            table = self._table = DeservedTable(tuple(self.accounts.names), self.total(), self.claims())
            self._requested = dict.fromkeys(self.accounts.tenants)
        alone = []
        if self._requested:
            requested, self._requested = self._requested, {}
            for name in requested:
                if name in table.rows:
                    account = self.accounts.tenants.get(name)
                    taking_part = account is not None and account.pods
                    if table.set_request(name, self.padded(account.request) if account and taking_part else None):
                        alone.append(name)
        matrix = table.deserved()
        if matrix is not self._matrix:
            self._matrix = matrix
            rows: list[list[float]] = matrix.tolist()
            deserved = {name: rows[row] for name, row in table.rows.items()}
            for name in {**self._deserved, **deserved}:
                self._deserve(name, deserved.get(name))
        else:
            for name in alone:
                self._deserve(name, matrix[table.rows[name]].tolist())

    def _deserve(self, name: str, after: list[float] | None) -> None:
        """Note it when a tenant deserves something else than before; None = nothing, for it is not there."""
        before = self._deserved.get(name)
        if before == after:
            return
        if after is None:
            del self._deserved[name], self._divisors[name]
        else:
            self._deserved[name] = after
            self._divisors[name] = [most if most >= EPSILON else inf for most in after]
        known = before is not None and after is not None and len(before) == len(after)
        grew = not known or any(b > a for a, b in zip(before or (), after or (), strict=True))
        self.accounts.moved.note(name, grew)

    def claims(self) -> list[Claim]:
        """One of each Queue; whether it takes part is said by its request."""
        accounts = [account for account in self.accounts.tenants.values() if account.queue is not None]
        guarantees = {a.name: Amounts.written(a.queue.guarantee) or NO_AMOUNTS for a in accounts if a.queue}
        guaranteed, total = total_of(guarantees.values()), self.total()
        claims = []
        for account in accounts:
            queue, guarantee = account.queue, guarantees[account.name]
            assert queue is not None
            real = real_capability(total, guaranteed, guarantee, Amounts.written(queue.capability))
            claims.append(Claim(account.name, queue.weight, self.amounts(account.request), real, guarantee))
        return sorted(claims, key=lambda claim: claim.name)

    def division(self) -> Division:
        """The division worked out anew in the readable form, with its rounds."""
        pods = {name: account.pods for name, account in self.accounts.tenants.items()}
        claims = [claim for claim in self.claims() if pods[claim.name]]
        return divide(self.total(), claims)
