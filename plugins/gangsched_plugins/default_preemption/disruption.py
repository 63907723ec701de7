"""Disruption budgets: which units cannot go without breaking one (spec podgroup-scheduling.md §5.8.3)."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_framework.objects import Pod, PodDisruptionBudget
from gangsched_plugins.common.selectors import LabelMatcher, SelectorError, compile_label_selector
from gangsched_plugins.default_preemption.units import Unit


class Budgets:
    """The budgets by namespace, compiled once per preemption attempt."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget]) -> None:
        self._budgets: dict[str, list[tuple[LabelMatcher, int]]] = {}
        for budget in budgets:
            try:
                matcher = compile_label_selector(budget.selector)
            except SelectorError:
                continue  # a malformed budget protects nobody
            if not matcher.everything:
                self._budgets.setdefault(budget.namespace, []).append((matcher, budget.disruptions_allowed))

    @property
    def any(self) -> bool:
        """Whether there are budgets at all."""
        return bool(self._budgets)

    def split(self, units: Sequence[Unit]) -> tuple[list[Unit], list[Unit]]:
        """(units that violate a budget, the others), each in the given order: the most important draws first."""
        if not self._budgets:
            return [], list(units)
        left = {namespace: [allowed for _, allowed in budgets] for namespace, budgets in self._budgets.items()}
        violating: list[Unit] = []
        others: list[Unit] = []
        for unit in units:
            violates = False
            for pod, _ in unit.pods:
                violates = self._draw(pod, left) or violates
            (violating if violates else others).append(unit)
        return violating, others

    def _draw(self, pod: Pod, left: dict[str, list[int]]) -> bool:
        """Take one disruption from every budget of the pod; True when one had none left."""
        violates = False
        for i, (matcher, _) in enumerate(self._budgets.get(pod.namespace, ())):
            if matcher.matches(pod.labels):
                left[pod.namespace][i] -= 1
                violates = violates or left[pod.namespace][i] < 0
        return violates
