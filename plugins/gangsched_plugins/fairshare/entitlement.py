"""What a tenant may have at most, and whether it may take more (spec fair-share.md §4.1-§4.3; capacity K2, K6)."""

from __future__ import annotations

from collections.abc import Iterable

from gangsched_plugins.fairshare.amounts import EPSILON, NO_AMOUNTS, Amounts, capability_of
from gangsched_plugins.fairshare.comparisons import exceeding_requested, less_equal
from gangsched_plugins.fairshare.differences import excess, share


def total_of(amounts: Iterable[Amounts]) -> Amounts:
    """Their sum: of the guarantees of **all** tenants (P1r), of the allocatable amounts of all nodes (S2)."""
    total = NO_AMOUNTS
    for each in amounts:
        total = total.plus(each)
    return total


def real_capability(
    total: Amounts, guaranteed: Amounts, guarantee: Amounts, capability: Amounts | None, *, upstream: bool = False
) -> Amounts:
    """What is left of ``total`` after everybody's guarantees, plus the tenant's own, at most its capability (P4r).

    ``guaranteed``: the sum of all guarantees. ``capability`` as written; cpu and memory of 0 there are unlimited (P3r).
    ``upstream``: a scalar of which nothing is left is not named at all (R30), so it does not limit anybody, although
    all of it is guaranteed to others; the default names it with 0.
    """
    own = excess(total, guaranteed).plus(guarantee)
    if not upstream:
        own = Amounts(own.cpu, own.memory, {**dict.fromkeys((*total.others, *guaranteed.others), 0), **own.others})
    return own if capability is None else own.capped_by(capability_of(capability), "infinity")


def share_of_deserved(allocated: Amounts, deserved: Amounts) -> float:
    """max over the resources of ``deserved`` of allocated / deserved; 0 when nothing is deserved (P11r)."""
    return max((share(allocated.get(name), deserved.get(name)) for name in deserved.names()), default=0)


def is_overused(allocated: Amounts, deserved: Amounts) -> bool:
    """Whether **every** resource of ``deserved`` is used up, ``pods`` included (P13r)."""
    return less_equal(deserved, allocated, "zero")


def beyond(allocated: Amounts, request: Amounts, limit: Amounts, *, upstream: bool = False) -> tuple[str, ...]:
    """The requested resources in which ``allocated + request`` would exceed ``limit``; () = it may be taken (P14r, K6).

    ``pods`` is not looked at. ``upstream`` compares strictly, as Volcano does; the default forgives less than ε, or a
    limit that water-filling left 1e-13 short would refuse a task for ever (P21r).
    """
    return exceeding_requested(allocated.plus(request), limit, request, 0 if upstream else EPSILON)
