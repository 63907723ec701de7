"""Counts of matching pods per topology domain, kept in step with pods added in thought (§7.10.2, §7.10.3)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define

from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_plugins.common.selectors import Labels
from gangsched_plugins.inter_pod_affinity.terms import NO_LABELS, MatchCounts, PodTerms, TermCache, Terms, matches_all

HOSTNAME = "kubernetes.io/hostname"
Domain = tuple[str, str]
Counts = dict[Domain, int]
"""Pods per (topology key, node's value); domains without pods are absent."""


@define(eq=False)
class FilterState:
    """What PreFilter leaves for Filter.

    ``terms`` are the incoming pod's, resolved; ``namespace_labels`` its namespace's. ``matching`` counts the pods that
    match all affinity terms, domain or not: it matters with the hostname fast path only (spec §7.10.6).
    """

    pod: Pod
    terms: PodTerms
    namespace_labels: Labels
    fast_path: bool
    existing_anti: Counts
    affinity: Counts
    anti: Counts
    matching: int = 0

    @classmethod
    def of(cls, pod: Pod, terms: PodTerms, namespace_labels: Labels, *, fast_path: bool) -> FilterState:
        """No counts yet. ``fast_path``: its gate is on."""
        fast = fast_path and all(term.key == HOSTNAME for term in terms.required_affinity)
        return cls(pod, terms, namespace_labels, fast, {}, {}, {})

    def count_foreign(self, with_affinity: Sequence[NodeInfo], cache: TermCache) -> None:
        """Take in the anti-affinity of running pods. O(pods with terms)."""
        repelling: dict[int, Terms] = {}  # by identity of the compiled terms: one answer per template
        for node in with_affinity:
            for other in node.pods_with_affinity.values():
                theirs = cache.of(other)
                matched = repelling.get(id(theirs))
                if matched is None:
                    matched = repelling[id(theirs)] = self._repelling(theirs)
                for term in matched:
                    _count(self.existing_anti, term.key, node.labels, 1)

    def count_own(self, nodes: Sequence[NodeInfo], table: NodeTable, counts: MatchCounts) -> None:
        """Take in the pods that the own required terms are about. O(nodes)."""
        affinity, anti = self.terms.required_affinity, self.terms.required_anti
        if affinity:
            column = counts.column(table, affinity)
            for node in nodes:
                if column[node.row]:
                    self._add_affinity(node.labels, column[node.row])
        for term in anti:
            column = counts.column(table, (term,))
            for node in nodes:
                if column[node.row]:
                    _count(self.anti, term.key, node.labels, column[node.row])

    def clone(self) -> FilterState:
        return FilterState(
            self.pod,
            self.terms,
            self.namespace_labels,
            self.fast_path,
            self.existing_anti.copy(),
            self.affinity.copy(),
            self.anti.copy(),
            self.matching,
        )

    def change(self, other: Pod, theirs: PodTerms, labels: Labels, amount: int) -> None:
        """A pod comes (+1) to a node with ``labels`` or leaves it (−1)."""
        for term in self._repelling(theirs):
            _count(self.existing_anti, term.key, labels, amount)
        if matches_all(self.terms.required_affinity, other):
            self._add_affinity(labels, amount)
        for own in self.terms.required_anti:
            if own.matches(other, NO_LABELS):
                _count(self.anti, own.key, labels, amount)

    def _repelling(self, theirs: PodTerms) -> Terms:
        """The required anti-affinity terms of another pod that are about the incoming one."""
        return tuple(term for term in theirs.required_anti if term.matches(self.pod, self.namespace_labels))

    def _add_affinity(self, labels: Labels, amount: int) -> None:
        self.matching += amount
        for term in self.terms.required_affinity:
            _count(self.affinity, term.key, labels, amount)

    def satisfies_affinity(self, labels: Labels) -> bool:
        """Whether every affinity term has a match in the node's domains, or the pod is the first of its group."""
        satisfied = True
        for term in self.terms.required_affinity:
            value = labels.get(term.key)
            if value is None:
                return False
            satisfied = satisfied and self.affinity.get((term.key, value), 0) > 0
        return satisfied or self._first_of_group()

    def _first_of_group(self) -> bool:
        # "nobody matches" is about the map, so a match outside every domain does not count (spec §7.10.3)
        nobody = not self.affinity and not (self.fast_path and self.matching)
        return nobody and matches_all(self.terms.required_affinity, self.pod, self.namespace_labels)

    def satisfies_anti(self, labels: Labels) -> bool:
        """Whether no own anti-affinity term has a match in the node's domains."""
        for term in self.terms.required_anti:
            value = labels.get(term.key)
            if value is not None and self.anti.get((term.key, value), 0) > 0:
                return False
        return True

    def satisfies_existing_anti(self, labels: Labels) -> bool:
        """Whether no pod in the node's domains keeps the incoming one away."""
        counts = self.existing_anti
        return not counts or not any(counts.get(domain, 0) > 0 for domain in labels.items())


def _count(counts: Counts, key: str, labels: Labels, amount: int) -> None:
    value = labels.get(key)
    if value is None:
        return
    total = counts.get((key, value), 0) + amount
    if total:
        counts[key, value] = total
    else:
        counts.pop((key, value), None)
