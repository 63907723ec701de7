"""What jobs hold, ask for and were promised, summed by tenant (spec fair-share.md §4.1, P5r-P7r; §4.3, P15r)."""

from __future__ import annotations

from attrs import evolve, frozen

from gangsched_framework.resources import CPU, MEMORY
from gangsched_plugins.fairshare.amounts import NO_AMOUNTS, Amounts
from gangsched_plugins.fairshare.comparisons import exceeding_requested
from gangsched_plugins.fairshare.differences import excess


@frozen
class Demand:
    """Of a job or a tenant. ``request`` includes ``allocated``; ``inqueue`` is promised and not yet allocated;
    ``elastic`` is allocated beyond the minimum resources."""

    allocated: Amounts = NO_AMOUNTS
    request: Amounts = NO_AMOUNTS
    inqueue: Amounts = NO_AMOUNTS
    elastic: Amounts = NO_AMOUNTS

    def plus(self, other: Demand) -> Demand:
        """The demand of both."""
        return Demand(
            self.allocated.plus(other.allocated),
            self.request.plus(other.request),
            self.inqueue.plus(other.inqueue),
            self.elastic.plus(other.elastic),
        )


NO_DEMAND = Demand()


def demand_of_job(allocated: Amounts, pending: Amounts, minimum: Amounts | None, *, admitted: bool) -> Demand:
    """A job's demand. ``minimum``: its MinResources, None = unset. ``admitted``: its PodGroup is Inqueue, or Running
    with at least MinMember tasks allocated (P6r)."""
    demand = Demand(
        allocated,
        allocated.plus(pending),
        elastic=excess(allocated, minimum if minimum is not None else NO_AMOUNTS),
    )
    if minimum is None or not admitted:
        return demand
    return evolve(demand, inqueue=still_promised(minimum, allocated))


def still_promised(minimum: Amounts, allocated: Amounts) -> Amounts:
    """max(minimum - allocated, 0) of every resource ``minimum`` names (P6r)."""
    scalars = {name: max(amount - allocated.get(name), 0) for name, amount in minimum.others.items()}
    return Amounts(
        max(minimum.cpu - allocated.get(CPU), 0),
        max(minimum.memory - allocated.get(MEMORY), 0),
        scalars if minimum.scalars is not None else None,
    )


def beyond_real_capability(minimum: Amounts, tenant: Demand, real: Amounts) -> tuple[str, ...]:
    """The resources for which a job of ``minimum`` cannot be admitted to the tenant; () = it can (P15r).

    Where evictions of the same session left ``elastic`` stale, the difference is floored at 0 (P15r, INFERRED).
    """
    promised = minimum.plus(tenant.allocated).plus(tenant.inqueue)
    return exceeding_requested(excess(promised, tenant.elastic), real, minimum)
