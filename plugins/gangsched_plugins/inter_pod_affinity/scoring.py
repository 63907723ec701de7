"""Scores of preferred terms, those of the incoming pod and those of running pods (spec node-plugins.md §7.10.4)."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_plugins.common.selectors import Labels
from gangsched_plugins.inter_pod_affinity.terms import NO_LABELS, PodTerms, TermCache

Sums = dict[str, dict[str, int]]
"""Topology key -> node's value -> sum of weights."""


class Weigher:
    """Sums the weights that running pods bring to the domains of their nodes, for one incoming pod."""

    def __init__(
        self, pod: Pod, terms: PodTerms, namespace_labels: Labels, *, hard_weight: int, cache: TermCache
    ) -> None:
        self.sums: Sums = {}
        self._pod = pod
        self._namespace_labels = namespace_labels
        self._hard_weight = hard_weight
        self._cache = cache
        own = [(term, term.weight) for term in terms.preferred_affinity]
        self._own = [*own, *((term, -term.weight) for term in terms.preferred_anti)]
        self._theirs: dict[int, list[tuple[str, int]]] = {}

    def visit(self, nodes: Sequence[NodeInfo], *, everybody: bool) -> None:
        """Take in the pods of ``nodes``: all of them, or only those with terms. Nodes without labels do not count."""
        for node in nodes:
            if not node.labels:
                continue
            for other in (node.pods if everybody else node.pods_with_affinity).values():
                self._take(other, node.labels)

    def _take(self, other: Pod, labels: Labels) -> None:
        for term, weight in self._own:
            if term.matches(other, NO_LABELS):
                self._add(term.key, labels, weight)
        if other.spec.has_affinity:
            for key, weight in self._weights_of(other):
                self._add(key, labels, weight)

    def _weights_of(self, other: Pod) -> list[tuple[str, int]]:
        """What the terms of a running pod say about the incoming one; one answer per template."""
        terms = self._cache.of(other)
        weights = self._theirs.get(id(terms))
        if weights is None:
            weighted = [(term, term.weight) for term in terms.preferred_affinity]
            weighted += [(term, -term.weight) for term in terms.preferred_anti]
            if self._hard_weight > 0:
                weighted += [(term, self._hard_weight) for term in terms.required_affinity]
            pod, labels = self._pod, self._namespace_labels
            weights = [(term.key, weight) for term, weight in weighted if term.matches(pod, labels)]
            self._theirs[id(terms)] = weights
        return weights

    def _add(self, key: str, labels: Labels, weight: int) -> None:
        value = labels.get(key)
        if value is not None:
            domains = self.sums.setdefault(key, {})
            domains[value] = domains.get(value, 0) + weight


def score(sums: Sums, labels: Labels) -> int:
    """Sum of the weights in the node's domains; may be negative."""
    return sum(domains.get(labels[key], 0) for key, domains in sums.items() if key in labels)


def normalize(scores: list[int]) -> None:
    """Map the smallest to 0 and the largest to 100, in place; all equal = all 0."""
    lowest, highest = min(scores, default=0), max(scores, default=0)
    spread = highest - lowest
    for i, value in enumerate(scores):
        # float64 in this order of operations, truncated: 29 of 100 becomes 28 (spec row 199)
        scores[i] = int(MAX_NODE_SCORE * ((value - lowest) / spread)) if spread else 0
