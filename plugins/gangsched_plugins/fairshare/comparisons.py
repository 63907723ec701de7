"""When one amount is less than another (spec fair-share.md §1.4).

The rules differ in what a missing scalar counts as, whether ε is allowed, and which resources are looked at. None
tests ``pods`` where a list of requested resources is given.
"""

from __future__ import annotations

from collections.abc import Iterator

from gangsched_framework.resources import CPU, MEMORY, PODS
from gangsched_plugins.fairshare.amounts import EPSILON, Amounts, Missing


def at_most(a: float, b: float) -> bool:
    """``a ≤ b`` with tolerance ε, which itself is outside (§1.4)."""
    return a < b or abs(a - b) < EPSILON


def less_equal(left: Amounts, right: Amounts, missing: Missing) -> bool:
    """Every resource at most, with ε (R20). ``infinity``: a scalar only the right names makes it false."""
    if missing == "infinity" and any(name not in left.others for name in right.others):
        return False
    return not exceeding(left, right, missing)


def exceeding(left: Amounts, right: Amounts, missing: Missing) -> tuple[str, ...]:
    """The resources in which the left is above the right, with ε; scalars only the right names are ignored (R22)."""
    return tuple(name for name, a, b in _common(left, right, missing) if not at_most(a, b))


def less(left: Amounts, right: Amounts, missing: Missing) -> bool:
    """Every resource strictly less, without ε (R21)."""
    if missing == "infinity" and any(name not in left.others for name in right.others):
        return False
    return all(a < b for _, a, b in _common(left, right, missing))


def less_partly(left: Amounts, right: Amounts, missing: Missing) -> bool:
    """Some resource strictly less, without ε (R24)."""
    return _one_sided(left, right, missing) or any(a < b for _, a, b in _common(left, right, missing))


def less_equal_partly(left: Amounts, right: Amounts, missing: Missing) -> bool:
    """Some resource at most, with ε (R25)."""
    return _one_sided(left, right, missing) or any(at_most(a, b) for _, a, b in _common(left, right, missing))


def exceeding_requested(left: Amounts, right: Amounts, requested: Amounts, tolerance: float = 0) -> tuple[str, ...]:
    """The requested resources in which the left is above the right, by default strictly and without ε (R23).

    ``tolerance`` EPSILON accepts what is above by less than that (the remedy of P21r).
    """
    wanted = [name for name in _requested(requested) if name in (CPU, MEMORY) or left.scalars is not None]
    return tuple(name for name in wanted if _above(left.get(name), right.get(name), tolerance))


def _above(a: float, b: float, tolerance: float) -> bool:
    return a > b and (tolerance == 0 or a - b >= tolerance)


def less_equal_partly_requested(left: Amounts, right: Amounts, requested: Amounts) -> bool:
    """Some requested resource at most, with ε, among those in which not both sides are nothing (R26, zero filtered)."""
    pairs = ((left.get(name), right.get(name)) for name in _requested(requested))
    return any(at_most(a, b) for a, b in pairs if a >= EPSILON or b >= EPSILON)


def greater_partly_requested(left: Amounts, right: Amounts, requested: Amounts) -> bool:
    """Some requested resource strictly greater (R27)."""
    return any(left.get(name) > right.get(name) for name in _requested(requested))


def greater_partly_relevant(left: Amounts, right: Amounts, requested: Amounts) -> bool:
    """As before, among resources the right speaks of: cpu and memory of at least ε, scalars it names (R27)."""
    spoken_of = {name for name in (CPU, MEMORY) if right.get(name) >= EPSILON} | right.others.keys()
    relevant = (name for name in _requested(requested) if name in spoken_of)
    return any(left.get(name) > right.get(name) for name in relevant)


def equal(left: Amounts, right: Amounts) -> bool:
    """Equal within ε in cpu, memory and the **left's** scalars only (R28)."""
    names = (CPU, MEMORY, *left.others)
    return all(abs(left.get(name) - right.get(name)) < EPSILON for name in names)


def _common(left: Amounts, right: Amounts, missing: Missing) -> Iterator[tuple[str, float, float]]:
    """(resource, left, right) of cpu, memory and the left's scalars; for ``infinity`` those the right names too."""
    yield CPU, left.cpu, right.cpu
    yield MEMORY, left.memory, right.memory
    others = right.others
    for name, amount in sorted(left.others.items()):
        if missing == "zero" or name in others:
            yield name, amount, others.get(name, 0)


def _one_sided(left: Amounts, right: Amounts, missing: Missing) -> bool:
    """Whether a scalar named on one side only makes the left less in part (R24)."""
    if missing == "zero":
        return any(name not in left.others for name in right.others)
    return any(name not in right.others for name in left.others)


def _requested(requested: Amounts) -> Iterator[str]:
    for name in (CPU, MEMORY, *sorted(requested.others)):
        if name != PODS and requested.get(name) > 0:
            yield name
