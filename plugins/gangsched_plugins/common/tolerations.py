"""Which taints a pod tolerates (spec node-plugins.md §7.3.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gangsched_framework.objects import Taint
from gangsched_framework.pod_spec import Toleration

HARD_EFFECTS = ("NoSchedule", "NoExecute")
SOFT_EFFECT = "PreferNoSchedule"
_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def comparison_operators(feature_gates: Mapping[str, bool]) -> bool:
    """Whether the operators ``Gt`` and ``Lt`` of tolerations are on (alpha, off by default)."""
    return feature_gates.get("TaintTolerationComparisonOperators", False)


def tolerates(toleration: Toleration, taint: Taint, comparison: bool = False) -> bool:
    """Whether one toleration covers one taint. ``comparison``: the operators ``Gt`` and ``Lt`` are on."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    operator = toleration.operator
    if operator in ("", "Equal"):
        return toleration.value == taint.value
    if operator == "Exists":
        return True
    if operator in ("Gt", "Lt") and comparison:
        wanted, actual = _integer(toleration.value), _integer(taint.value)
        if wanted is None or actual is None:
            return False
        return actual > wanted if operator == "Gt" else actual < wanted
    return False


def tolerated(taint: Taint, tolerations: Iterable[Toleration], comparison: bool = False) -> bool:
    """Whether any of the tolerations covers the taint."""
    return any(tolerates(toleration, taint, comparison) for toleration in tolerations)


def untolerated_hard_taint(
    taints: Iterable[Taint], tolerations: Sequence[Toleration], comparison: bool = False
) -> Taint | None:
    """The first NoSchedule or NoExecute taint that nothing covers, None when the pod may run beside all of them."""
    for taint in taints:
        if taint.effect in HARD_EFFECTS and not tolerated(taint, tolerations, comparison):
            return taint
    return None


def untolerated_soft_taints(
    taints: Iterable[Taint], tolerations: Sequence[Toleration], comparison: bool = False
) -> int:
    """Number of PreferNoSchedule taints that nothing covers."""
    return sum(taint.effect == SOFT_EFFECT and not tolerated(taint, tolerations, comparison) for taint in taints)


def _integer(text: str) -> int | None:
    """A 64-bit decimal in canonical form: no plus sign, no leading zeros, no ``-0``."""
    if not _CANONICAL_INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
