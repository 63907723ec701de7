"""What each tenant deserves: weighted water-filling with guarantees and limits (spec fair-share.md §4.2, P8r).

In rounds, what remains is offered to all tenants not yet met, by weight. A tenant keeps of its offer what its real
capability and its request allow, but never less than its guarantee; what it did not take is offered again. This is the
readable form; ``deserved_columns`` computes the same, bit for bit, for many tenants at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from gangsched_plugins.fairshare.amounts import NO_AMOUNTS, Amounts
from gangsched_plugins.fairshare.comparisons import less_equal
from gangsched_plugins.fairshare.differences import difference, excess


@frozen
class Claim:
    """What one tenant brings to the division. ``weight`` is taken as it is: 0 and negative ones too (P10r)."""

    name: str
    weight: int
    request: Amounts
    real_capability: Amounts
    guarantee: Amounts = NO_AMOUNTS


@frozen
class Round:
    """One round: what was offered to whom by which sum of weights, and who was met by it."""

    offered: Amounts
    weights: int
    deserved: Mapping[str, Amounts]
    met: tuple[str, ...]


@frozen
class Division:
    """``deserved`` by name; ``remaining`` is what nobody wanted or was allowed to take."""

    deserved: Mapping[str, Amounts]
    remaining: Amounts
    rounds: tuple[Round, ...]


def divide(total: Amounts, claims: Sequence[Claim]) -> Division:
    """Water-fill ``total``. Give the claims by name: their order moves last bits of sums (P9r).

    A last bit may cost a round more, which moves less than ε of anything but ``pods``, for which no round waits (R10).
    """
    deserved = {claim.name: NO_AMOUNTS for claim in claims}
    unmet = list(claims)
    remaining = total
    rounds: list[Round] = []
    while weights := sum(claim.weight for claim in unmet):
        offered = remaining
        given, returned = NO_AMOUNTS, NO_AMOUNTS
        met: list[str] = []
        for claim in unmet:
            before = deserved[claim.name]
            after = _take(claim, before, offered.times(claim.weight / weights))
            deserved[claim.name] = after
            if less_equal(claim.request, after, "zero") or after == before:
                met.append(claim.name)
            increase, decrease = difference(after, before, "zero")
            given, returned = given.plus(increase), returned.plus(decrease)
        unmet = [claim for claim in unmet if claim.name not in met]
        rounds.append(Round(offered, weights, dict(deserved), tuple(met)))
        remaining = excess(offered.plus(returned), given)
        if remaining.is_empty or remaining == offered:
            break
    return Division(deserved, remaining, tuple(rounds))


def _take(claim: Claim, before: Amounts, offer: Amounts) -> Amounts:
    """Steps a-d of a round: the guarantee comes last, so it may exceed the request and even the capability."""
    after = before.plus(offer)
    after = after.capped_by(claim.real_capability, "infinity")
    return after.capped_by(claim.request, "zero").raised_to(claim.guarantee)
