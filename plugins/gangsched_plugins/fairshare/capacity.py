"""Fixed quotas: what a tenant deserves is written down, nothing is water-filled (spec fair-share.md §4.6, K2-K4)."""

from __future__ import annotations

from gangsched_plugins.fairshare.amounts import Amounts
from gangsched_plugins.fairshare.entitlement import share_of_deserved

CapacityRank = tuple[float, bool]
"""(share, whether nothing is deserved): smaller is served first."""


def quota(deserved: Amounts, real_capability: Amounts, guarantee: Amounts) -> Amounts:
    """What a tenant deserves: as written, at most its real capability, at least its guarantee (K2).

    Its request does not limit it; weights are not used.
    """
    return deserved.capped_by(real_capability, "infinity").raised_to(guarantee)


def capacity_share(allocated: Amounts, deserved: Amounts) -> float:
    """As the share of Proportion, but always 1 for a tenant that deserves nothing (K3)."""
    return 1 if deserved.is_empty else share_of_deserved(allocated, deserved)


def capacity_rank(allocated: Amounts, deserved: Amounts) -> CapacityRank:
    """Lower share first; of equal ones the tenant that deserves something (K4)."""
    return capacity_share(allocated, deserved), deserved.is_empty
