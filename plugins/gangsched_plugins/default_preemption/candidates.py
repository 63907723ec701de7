"""Which node to empty: the order among candidate nodes (spec node-plugins.md §8.3, podgroup-scheduling.md §5.8.5)."""

from __future__ import annotations

from functools import cached_property

from attrs import frozen

from gangsched_framework.node_info import NodeInfo
from gangsched_plugins.default_preemption.units import Unit, started

_LOWEST_PRIORITY = -(2**31)


@frozen(eq=False)
class Candidate:
    """A node that takes the preemptor once ``victims`` (most important first, not empty) are gone."""

    node: NodeInfo
    victims: tuple[Unit, ...]
    violations: int

    @cached_property
    def rank(self) -> tuple[int, int, int, int, int]:
        """Sort key, best first; every number counts pods, not units.

        Fewest budget violations, lowest top priority, smallest sum of priorities (each counted from the lowest
        possible, so that more victims never weigh less), fewest victims, youngest among the most important ones.
        """
        top = max(unit.priority for unit in self.victims)
        total = sum(len(unit.pods) * (unit.priority - _LOWEST_PRIORITY) for unit in self.victims)
        count = sum(len(unit.pods) for unit in self.victims)
        oldest = min(started(pod) for unit in self.victims if unit.priority == top for pod, _ in unit.pods)
        return (self.violations, top, total, count, -oldest)

    @property
    def text(self) -> str:
        """What the rank looks at first, for a trace."""
        violations, top, _, count, _ = self.rank
        return f"budget violations {violations}, highest priority {top}, victims {count}"
