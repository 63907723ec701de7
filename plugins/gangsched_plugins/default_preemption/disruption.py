"""Disruption budgets: which units cannot go without breaking one (spec podgroup-scheduling.md §5.8.3)."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_framework.objects import Pod, PodDisruptionBudget
from gangsched_plugins.common.selectors import LabelMatcher, SelectorError, compile_label_selector
from gangsched_plugins.default_preemption.units import Unit


class Budgets:
    """The budgets by namespace, compiled once per preemption attempt."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget]) -> None:
        self._budgets: dict[str, list[tuple[LabelMatcher, PodDisruptionBudget]]] = {}
        for budget in budgets:
            try:
                matcher = compile_label_selector(budget.selector)
            except SelectorError:
                continue  # a malformed budget protects nobody
            if not matcher.everything:
                self._budgets.setdefault(budget.namespace, []).append((matcher, budget))

    @property
    def any(self) -> bool:
        """Whether there are budgets at all."""
        return bool(self._budgets)

    def split(self, units: Sequence[Unit]) -> tuple[dict[Unit, int], list[Unit]]:
        """(units that violate a budget -> how many of their pods do, the others), each in the given order.

        The most important draws first.
        """
        if not self._budgets:
            return {}, list(units)
        left = {
            namespace: [each.disruptions_allowed for _, each in known] for namespace, known in self._budgets.items()
        }
        violating: dict[Unit, int] = {}
        others: list[Unit] = []
        for unit in units:
            count = sum(self._draw(pod, left) for pod, _ in unit.pods)
            if count:
                violating[unit] = count
            else:
                others.append(unit)
        return violating, others

    def _draw(self, pod: Pod, left: dict[str, list[int]]) -> bool:
        """Take one disruption from each budget of the pod, up to one that has none left: True if there is one.

        A budget has no say about a pod it knows to be gone, and none at all about one without labels [1.37].
        """
        if not pod.labels:
            return False
        allowed = left.get(pod.namespace, [])
        for i, (matcher, budget) in enumerate(self._budgets.get(pod.namespace, ())):
            if pod.name not in budget.disrupted and matcher.matches(pod.labels):
                allowed[i] -= 1
                if allowed[i] < 0:
                    return True
        return False
