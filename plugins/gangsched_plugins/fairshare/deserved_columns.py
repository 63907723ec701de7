"""Water-filling for many tenants at once: ``deserved`` over numpy columns, bit for bit (spec fair-share.md §4.2, P8r).

Rows are tenants in name order, columns resources. Whether a scalar is named at all matters to one rule (an amount that
did not change means "met"), so a mask goes with every matrix; what is not named is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from gangsched_framework.resources import CPU, MEMORY, PODS
from gangsched_plugins.fairshare.amounts import EPSILON, NO_AMOUNTS, UNLIMITED, Amounts
from gangsched_plugins.fairshare.deserved import Claim

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]


@define(eq=False)
class DeservedTable:
    """The claims of all tenants and what they deserve, which is worked out again only when it can have changed.

    ``names``: the resources, cpu and memory first; a claim may name no others. ``claims``: one a tenant.
    """

    names: tuple[str, ...]
    total: Amounts
    claims: Sequence[Claim]
    rows: dict[str, int] = field(init=False)
    request: Matrix = field(init=False)
    _weights: NDArray[np.int64] = field(init=False)
    _real: Matrix = field(init=False)
    _guarantee: Matrix = field(init=False)
    _guaranteed: Mask = field(init=False)
    _present: Mask = field(init=False)
    _any_guarantee: bool = field(init=False)
    _total: Matrix = field(init=False)
    _fixed: Mask = field(init=False)
    """cpu and memory, which every amount names."""
    _counted: Mask = field(init=False)
    """All but ``pods``: what is left of them does not keep the rounds going (R10)."""
    _named_at_first: tuple[Mask, Mask] = field(init=False)
    """What the total names, and what tenants do before the first round."""
    _deserved: Matrix = field(init=False)
    _most: Matrix = field(init=False)
    _at_once: bool = field(init=False, default=False)
    """All were met by the first round, and nobody by a guarantee: then ``_most`` is what each was offered."""
    _stale: bool = field(init=False, default=True)

    def __attrs_post_init__(self) -> None:
        self.claims = sorted(self.claims, key=lambda claim: claim.name)
        self.rows = {claim.name: row for row, claim in enumerate(self.claims)}
        shape = len(self.claims), len(self.names)
        self.request = self._matrix([claim.request for claim in self.claims])
        self._weights = np.array([claim.weight for claim in self.claims], np.int64)
        self._real = self._matrix([claim.real_capability for claim in self.claims], UNLIMITED)
        self._guarantee = self._matrix([claim.guarantee for claim in self.claims])
        self._guaranteed = np.array([self._named(claim.guarantee) for claim in self.claims], np.bool_).reshape(shape)
        self._any_guarantee = any(claim.guarantee != NO_AMOUNTS for claim in self.claims)
        self._total = self._matrix([self.total])[0]
        self._fixed = np.array([name in (CPU, MEMORY) for name in self.names], np.bool_)
        self._counted = np.array([name != PODS for name in self.names], np.bool_)
        self._named_at_first = self._named(self.total) | self._fixed, np.tile(self._fixed, (shape[0], 1))
        self._deserved = self._most = np.zeros(shape)
        self._present = np.ones(shape[0], np.bool_)

    def set_request(self, tenant: str, request: Sequence[float] | None) -> bool:
        """What a tenant asks for changes; None = it takes no part, and deserves nothing. True = its row alone changed.

        A change far above all it was ever offered changes nothing for anybody: before and after, the offer is what
        counts, and the tenant is not met. So under contention arrivals cost nothing. Where all are met by the first
        round, a tenant deserves what it asks for, and nobody else is concerned.
        """
        row = self.rows[tenant]
        present = request is not None
        self._stale = self._stale or present != self._present[row]
        self._present[row] = present
        if request is None:
            return False
        alone = False
        if not self._stale:
            limits = self._most[row].tolist()
            amounts = zip(self.request[row].tolist(), request, limits, strict=True)
            if any(old != new and (old < most + 1 or new < most + 1) for old, new, most in amounts):
                alone = self._at_once and all(new <= most for new, most in zip(request, limits, strict=True))
                self._stale = not alone
        self.request[row] = request
        if alone:
            self._deserved[row] = request
        return alone

    def deserved(self) -> Matrix:
        """What each tenant deserves of each resource; not to be changed."""
        if self._stale:
            self._divide()
            self._stale = False
        return self._deserved

    # --- the rounds -------------------------------------------------------------------------------------------------

    def _divide(self) -> None:
        fixed, shape = self._fixed, self.request.shape
        self._deserved, self._most = np.zeros(shape), np.full(shape, -UNLIMITED)
        remaining, (remaining_named, named) = self._total, self._named_at_first
        named = named.copy()
        rows = np.flatnonzero(self._present)
        first, self._at_once = True, False
        while weights := int(self._weights[rows].sum()):
            offered, offered_named = remaining, remaining_named
            before, before_named = self._deserved[rows], named[rows]
            part = offered * (self._weights[rows] / weights)[:, None]
            limited = np.minimum(before + part, self._real[rows])
            after, after_named = self._raise(
                np.minimum(limited, self.request[rows]), before_named | offered_named, rows, fixed
            )
            self._deserved[rows], named[rows] = after, after_named
            self._most[rows] = np.maximum(self._most[rows], np.maximum(limited, after))
            unchanged = ((after == before) & (after_named == before_named)).all(axis=1)
            met = self._met(rows, after) | unchanged
            given = _sum(np.maximum(after - before, 0))
            returned = _sum(np.maximum(before - after, 0))
            remaining = np.maximum((offered + returned) - given, 0)
            remaining_named = (remaining > 0) | fixed  # a difference names what is left of something only (R30)
            rows = rows[~met]
            self._at_once = first and not rows.size and not self._any_guarantee
            first = False
            if not (remaining[self._counted] >= EPSILON).any():
                break
            if (remaining == offered).all() and (remaining_named == offered_named).all():
                break

    def _raise(self, after: Matrix, named: Mask, rows: NDArray[np.intp], fixed: Mask) -> tuple[Matrix, Mask]:
        """Step d: the maximum with the guarantee, where negative scalars are dropped (R19)."""
        if not self._any_guarantee:
            return np.maximum(after, 0), named & ((after >= 0) | fixed)
        floor, floor_named = self._guarantee[rows], self._guaranteed[rows]
        raised = np.where(floor_named & named, np.maximum(after, floor), np.where(floor_named, floor, after))
        raised = np.where(fixed, np.maximum(after, floor), raised)
        named = (named | floor_named) & ((raised >= 0) | fixed)
        return np.where(named, raised, 0), named

    def _met(self, rows: NDArray[np.intp], after: Matrix) -> Mask:
        request = self.request[rows]
        at_most: Mask = (request < after) | (np.abs(request - after) < EPSILON)
        return np.asarray(at_most.all(axis=1))

    def _matrix(self, amounts: Sequence[Amounts], missing: float = 0) -> Matrix:
        """Rows of amounts; ``missing`` stands for scalars they do not name."""
        rows = [
            [each.get(name) if name in (CPU, MEMORY) else each.others.get(name, missing) for name in self.names]
            for each in amounts
        ]
        return np.array(rows, np.float64).reshape(len(amounts), len(self.names))

    def _named(self, amounts: Amounts) -> Mask:
        return np.array([name in amounts.others for name in self.names])


def _sum(matrix: Matrix) -> NDArray[np.float64]:
    """Column sums, row after row: numpy's own sum may add in another order and differ in the last bit."""
    total: NDArray[np.float64] = np.add.accumulate(matrix, axis=0)[-1]
    return total
