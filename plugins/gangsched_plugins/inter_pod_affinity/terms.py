"""Affinity terms, compiled, and what it means that one matches a pod (spec node-plugins.md §7.10.1)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from weakref import WeakKeyDictionary

from attrs import evolve, frozen

from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Namespace, Pod
from gangsched_framework.pod_spec import PodAffinityTerm, PodSpec, WeightedPodAffinityTerm
from gangsched_plugins.common.labels import joined
from gangsched_plugins.common.row_counts import RowCounts
from gangsched_plugins.common.selectors import LabelMatcher, Labels, SelectorError, compile_label_selector

NO_LABELS: Labels = {}


@frozen(eq=False)
class Term:
    """One term of a pod, seen from its owner. ``namespace_matcher`` None = no namespaceSelector."""

    key: str
    matcher: LabelMatcher
    namespaces: frozenset[str]
    namespace_matcher: LabelMatcher | None
    weight: int

    def matches(self, pod: Pod, namespace_labels: Labels) -> bool:
        """Whether the term is about ``pod``, whose namespace carries ``namespace_labels``."""
        if pod.namespace not in self.namespaces:
            if self.namespace_matcher is None or not self.namespace_matcher.matches(namespace_labels):
                return False
        return self.matcher.matches(pod.labels)

    @property
    def meaning(self) -> Hashable:
        """What tells a resolved term's matches apart from those of others; the topology key does not bear on them."""
        return (self.namespaces, self.namespace_matcher is not None, self.matcher.equal, self.matcher.tests)

    def resolved(self, namespaces: Mapping[str, Namespace]) -> Term:
        """The namespaceSelector replaced by the existing namespaces it selects; ``{}`` stays every namespace."""
        selector = self.namespace_matcher
        if selector is None or selector.everything:
            return self
        selected = (name for name, namespace in namespaces.items() if selector.matches(namespace.labels))
        return evolve(self, namespaces=self.namespaces.union(selected), namespace_matcher=None)


Terms = tuple[Term, ...]


@frozen(eq=False)
class PodTerms:
    """All terms of a pod by kind."""

    required_affinity: Terms = ()
    required_anti: Terms = ()
    preferred_affinity: Terms = ()
    preferred_anti: Terms = ()

    @property
    def required(self) -> bool:
        return bool(self.required_affinity or self.required_anti)

    @property
    def preferred(self) -> bool:
        return bool(self.preferred_affinity or self.preferred_anti)

    def resolved(self, namespaces: Mapping[str, Namespace]) -> PodTerms:
        """The terms as those of an incoming pod: selectors of namespaces looked up once."""
        return PodTerms(
            tuple(term.resolved(namespaces) for term in self.required_affinity),
            tuple(term.resolved(namespaces) for term in self.required_anti),
            tuple(term.resolved(namespaces) for term in self.preferred_affinity),
            tuple(term.resolved(namespaces) for term in self.preferred_anti),
        )


NO_TERMS = PodTerms()


def preferences(terms: PodTerms) -> list[tuple[Term, int]]:
    """The preferred terms with what a match adds to the score."""
    weighted = [(term, term.weight) for term in terms.preferred_affinity]
    return weighted + [(term, -term.weight) for term in terms.preferred_anti]


def compile_terms(spec: PodSpec, namespace: str) -> tuple[PodTerms, str]:
    """The terms of a pod and what is wrong with them; a kind with a malformed selector counts as empty."""
    if not spec.has_affinity:
        return NO_TERMS, ""
    problems: list[str] = []

    def kind(field: str, compile_kind: Callable[[], Terms]) -> Terms:
        try:
            return compile_kind()
        except SelectorError as problem:
            problems.append(f"{field}: {problem}")
            return ()

    affinity, anti = spec.pod_affinity, spec.pod_anti_affinity
    terms = PodTerms(
        kind("requiredAffinityTerms", lambda: _required(affinity.required, namespace)),
        kind("requiredAntiAffinityTerms", lambda: _required(anti.required, namespace)),
        kind("preferredAffinityTerms", lambda: _weighted(affinity.preferred, namespace)),
        kind("preferredAntiAffinityTerms", lambda: _weighted(anti.preferred, namespace)),
    )
    return terms, joined(problems) if problems else ""


def required_terms(terms: Iterable[PodAffinityTerm], owner: str) -> Terms | None:
    """The required terms of a pod of namespace ``owner``; None when a selector of theirs is malformed."""
    try:
        return _required(terms, owner)
    except SelectorError:
        return None


def _required(terms: Iterable[PodAffinityTerm], owner: str) -> Terms:
    return tuple(_compile(term, owner, 0) for term in terms)


def _weighted(terms: Iterable[WeightedPodAffinityTerm], owner: str) -> Terms:
    return tuple(_compile(weighted.term, owner, weighted.weight) for weighted in terms)


def _compile(term: PodAffinityTerm, owner: str, weight: int) -> Term:
    selector = term.namespace_selector
    own = (owner,) if not term.namespaces and selector is None else term.namespaces
    namespace_matcher = compile_label_selector(selector) if selector is not None else None
    return Term(
        term.topology_key, compile_label_selector(term.label_selector), frozenset(own), namespace_matcher, weight
    )


class MatchCounts:
    """Pods that resolved terms match, per row of the node table."""

    def __init__(self) -> None:
        self._rows = RowCounts()

    def column(self, table: NodeTable, terms: Terms) -> Sequence[int]:
        """Pods on each row that match all of ``terms``."""
        key = tuple(term.meaning for term in terms)
        return self._rows.column(table, key, lambda other: matches_all(terms, other))


class TermCache:
    """Compiled terms of running pods. Pods of one template share a spec, so each template is compiled once."""

    def __init__(self) -> None:
        self._terms: WeakKeyDictionary[PodSpec, dict[str, PodTerms]] = WeakKeyDictionary()

    def of(self, pod: Pod) -> PodTerms:
        """The terms of ``pod``; malformed kinds are empty. The same object for the same spec and namespace."""
        by_namespace = self._terms.setdefault(pod.spec, {})
        terms = by_namespace.get(pod.namespace)
        if terms is None:
            terms = by_namespace[pod.namespace] = compile_terms(pod.spec, pod.namespace)[0]
        return terms


def matches_all(terms: Terms, pod: Pod, namespace_labels: Labels = NO_LABELS) -> bool:
    """Whether every term matches; no terms match nothing."""
    return bool(terms) and all(term.matches(pod, namespace_labels) for term in terms)


def matches_any(terms: Terms, pod: Pod, namespace_labels: Labels = NO_LABELS) -> bool:
    """Whether some term matches."""
    return any(term.matches(pod, namespace_labels) for term in terms)
