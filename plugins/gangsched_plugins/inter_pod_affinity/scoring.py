"""Scores of preferred terms, those of the incoming pod and those of running pods (spec node-plugins.md §7.10.4)."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_plugins.common.selectors import Labels
from gangsched_plugins.inter_pod_affinity.terms import MatchCounts, PodTerms, TermCache, preferences

Sums = dict[str, dict[str, int]]
"""Topology key -> node's value -> sum of weights."""


class Opinions:
    """What the terms of running pods say about one incoming pod; asked once per template."""

    def __init__(self, pod: Pod, namespace_labels: Labels, hard_weight: int, cache: TermCache) -> None:
        self._pod = pod
        self._namespace_labels = namespace_labels
        self._hard_weight = hard_weight
        self._cache = cache
        self._known: dict[int, list[tuple[str, int]]] = {}  # by identity of the compiled terms

    def of(self, other: Pod) -> list[tuple[str, int]]:
        """(topology key, weight) of every term of ``other`` that is about the incoming pod."""
        terms = self._cache.of(other)
        weights = self._known.get(id(terms))
        if weights is None:
            weighted = preferences(terms)
            if self._hard_weight > 0:
                weighted += [(term, self._hard_weight) for term in terms.required_affinity]
            pod, labels = self._pod, self._namespace_labels
            weights = [(term.key, weight) for term, weight in weighted if term.matches(pod, labels)]
            self._known[id(terms)] = weights
        return weights


class Weigher:
    """Sums the weights per domain. Nodes without any label do not count (spec §7.10.4): they have no domain."""

    def __init__(self) -> None:
        self.sums: Sums = {}

    def add_own(self, terms: PodTerms, nodes: Sequence[NodeInfo], table: NodeTable, counts: MatchCounts) -> None:
        """The preferred terms of the incoming pod, resolved, over the pods they are about. O(terms × nodes)."""
        for term, weight in preferences(terms):
            column = counts.column(table, (term,))
            for node in nodes:
                if column[node.row]:
                    self._add(term.key, node.labels, weight * column[node.row])

    def add_theirs(self, opinions: Opinions, nodes: Sequence[NodeInfo]) -> None:
        """The terms of the running pods of ``nodes``. O(pods with terms)."""
        for node in nodes:
            for other in node.pods_with_affinity.values():
                for key, weight in opinions.of(other):
                    self._add(key, node.labels, weight)

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
