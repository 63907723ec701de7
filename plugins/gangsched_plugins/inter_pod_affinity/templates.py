"""The kinds of affinity terms that running pods have, and what they say about an incoming pod (§7.10.2, §7.10.4).

Pods of one template share their terms, so a cluster has few kinds; each is matched against an incoming pod's namespace
and labels once, not once per running pod (spec node-plugins.md §7.10.7).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from weakref import WeakKeyDictionary

from attrs import frozen

from gangsched_framework.node_table import Move, NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.pod_spec import PodSpec
from gangsched_plugins.common.selectors import Labels
from gangsched_plugins.inter_pod_affinity.terms import PodTerms, Term, TermCache, preferences

MAX_KNOWN = 4096
"""Answers kept, by namespace and labels of the incoming pod."""

Amounts = tuple[tuple[str, int], ...]
"""(topology key, amount)."""


@frozen
class Regard:
    """What the terms of one template say about an incoming pod.

    ``repelling``: how many required anti-affinity terms are about it, by key; ``weights``: what its terms add to the
    score, by key.
    """

    template: int
    repelling: Amounts
    weights: Amounts


class Templates:
    """Templates of the pods on nodes; one whose last pod has gone may stay for a while, its sums are 0.

    ``version`` changes when there is a new one. ``hard_weight`` is what required affinity terms count in scores.
    """

    def __init__(self, cache: TermCache, hard_weight: int) -> None:
        self.version = 0
        self._cache = cache
        self._hard_weight = hard_weight
        self._numbers: dict[Hashable, int] = {}
        self._of_spec: WeakKeyDictionary[PodSpec, dict[str, int]] = WeakKeyDictionary()
        self._active: dict[int, PodTerms] = {}
        self._log: list[Move] | None = None
        self._position = 0
        self._known: dict[Hashable, tuple[Regard, ...]] = {}

    def sync(self, table: NodeTable) -> None:
        """Take in the pods that came since the last time."""
        log = table.follow_moves()
        end = len(log)
        if log is not self._log or self._position > end:
            self._active.clear()
            self._note(pod for pods in table.affinity_pods.values() for pod in pods.values())
            self.version += 1
        elif self._position < end:
            self._note(pod for pod, _, _ in log[self._position : end] if pod.spec.has_affinity)
        self._log, self._position = log, end

    def _note(self, pods: Iterable[Pod]) -> None:
        for pod in pods:
            number = self.number(pod)
            if number not in self._active:
                self._active[number] = self._cache.of(pod)
                self.version += 1

    def number(self, pod: Pod) -> int:
        """The number of the pod's template: equal terms, equal number."""
        by_namespace = self._of_spec.setdefault(pod.spec, {})
        number = by_namespace.get(pod.namespace)
        if number is None:
            meaning = meaning_of(self._cache.of(pod))
            number = by_namespace[pod.namespace] = self._numbers.setdefault(meaning, len(self._numbers))
        return number

    def regards(self, pod: Pod, namespace_labels: Labels) -> tuple[Regard, ...]:
        """What the templates that are about ``pod`` say about it. O(templates), then O(labels)."""
        if not self._active:
            return ()
        labels = (tuple(sorted(pod.labels.items())), tuple(sorted(namespace_labels.items())))
        key = (self.version, pod.namespace, *labels)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            found = (self._regard(number, terms, pod, namespace_labels) for number, terms in self._active.items())
            known = self._known[key] = tuple(regard for regard in found if regard.repelling or regard.weights)
        return known

    def _regard(self, number: int, terms: PodTerms, pod: Pod, namespace_labels: Labels) -> Regard:
        weighted = preferences(terms)
        if self._hard_weight > 0:
            weighted += [(term, self._hard_weight) for term in terms.required_affinity]
        about = [(term.key, weight) for term, weight in weighted if term.matches(pod, namespace_labels)]
        repelling = [(term.key, 1) for term in terms.required_anti if term.matches(pod, namespace_labels)]
        return Regard(number, _by_key(repelling), _by_key(about))


def _by_key(amounts: Iterable[tuple[str, int]]) -> Amounts:
    sums: dict[str, int] = {}
    for key, amount in amounts:
        sums[key] = sums.get(key, 0) + amount
    return tuple((key, amount) for key, amount in sums.items() if amount)


def meaning_of(terms: PodTerms) -> Hashable:
    """Equal exactly for terms that say the same about every pod."""
    kinds = (terms.required_affinity, terms.required_anti, terms.preferred_affinity, terms.preferred_anti)
    return tuple(tuple(_meaning(term) for term in kind) for kind in kinds)


def _meaning(term: Term) -> Hashable:
    selector = term.namespace_matcher
    namespaces = None if selector is None else (selector.equal, selector.tests)
    return (term.key, term.weight, namespaces, term.meaning)
