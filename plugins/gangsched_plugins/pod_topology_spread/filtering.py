"""Counts per topology domain for the hard constraints, kept in step with pods added in thought (§7.9.4-7.9.7)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define

from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Node, Pod
from gangsched_plugins.pod_topology_spread.constraints import Constraint, NodeInclusion, has_keys


class DomainCounts:
    """Pods per domain value of one constraint."""

    __slots__ = ("_minimum", "counts")

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts
        self._minimum: int | None = None

    def add(self, domain: str, amount: int) -> None:
        """Change the count of a domain; an unknown one comes into being."""
        self.counts[domain] = self.counts.get(domain, 0) + amount
        self._minimum = None

    def minimum(self, min_domains: int) -> int:
        """The smallest count, 0 while there are fewer than ``min_domains`` domains."""
        if len(self.counts) < min_domains:
            return 0
        if self._minimum is None:
            self._minimum = min(self.counts.values())
        return self._minimum

    def copy(self) -> DomainCounts:
        copy = DomainCounts(self.counts.copy())
        copy._minimum = self._minimum
        return copy


@define(eq=False)
class FilterState:
    """What PreFilter leaves for Filter: the incoming pod's hard constraints and their counts, in step."""

    pod: Pod
    constraints: tuple[Constraint, ...]
    inclusion: NodeInclusion
    counts: list[DomainCounts]
    own: tuple[int, ...]
    """Per constraint 1 if the pod matches its own selector."""

    @classmethod
    def of(
        cls,
        pod: Pod,
        constraints: tuple[Constraint, ...],
        inclusion: NodeInclusion,
        nodes: Sequence[NodeInfo],
        columns: Sequence[Sequence[int]],
    ) -> FilterState:
        """Add up ``columns`` (per constraint, matching pods by row) over ``nodes``. O(nodes)."""
        keys = [constraint.key for constraint in constraints]
        counts: list[dict[str, int]] = [{} for _ in constraints]
        parts = [
            (constraint, inclusion.unlimited(constraint), domains, column)
            for constraint, domains, column in zip(constraints, counts, columns, strict=True)
        ]
        for node in nodes:
            labels, row = node.labels, node.row
            try:
                values = [labels[key] for key in keys]
            except KeyError:
                continue  # a node without one of the keys counts for no constraint (spec §7.9.3)
            for (constraint, unlimited, domains, column), value in zip(parts, values, strict=True):
                if unlimited or inclusion.admits(constraint, node.node):
                    domains[value] = domains.get(value, 0) + column[row]
        own = tuple(int(constraint.matcher.matches(pod.labels)) for constraint in constraints)
        return cls(pod, constraints, inclusion, [DomainCounts(domains) for domains in counts], own)

    def clone(self) -> FilterState:
        counts = [domains.copy() for domains in self.counts]
        return FilterState(self.pod, self.constraints, self.inclusion, counts, self.own)

    def change(self, other: Pod, node: Node, amount: int) -> None:
        """A pod comes (+1) to a node or leaves it (−1).

        Terminating pods and the selector ``{}`` count here, unlike in ``of`` (spec §7.9.7).
        """
        if other.namespace != self.pod.namespace or not has_keys(self.constraints, node.labels):
            return
        for constraint, domains in zip(self.constraints, self.counts, strict=True):
            if constraint.matcher.matches(other.labels) and self.inclusion.admits(constraint, node):
                domains.add(node.labels[constraint.key], amount)

    def violation(self, node: NodeInfo) -> str | None:
        """``missing`` label or ``skew`` of the first constraint that keeps the pod off the node (spec §7.9.5)."""
        labels = node.labels
        for constraint, domains, own in zip(self.constraints, self.counts, self.own, strict=True):
            domain = labels.get(constraint.key)
            if domain is None:
                return "missing"
            skew = domains.counts.get(domain, 0) + own - domains.minimum(constraint.min_domains)
            if skew > constraint.max_skew:
                return "skew"
        return None
