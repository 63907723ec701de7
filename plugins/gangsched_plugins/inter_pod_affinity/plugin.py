"""The plugin: the calls of each extension point."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from gangsched_framework.columns import Columns
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import ClusterEventWithHint
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.status import SKIP, Status, error, unresolvable, unschedulable
from gangsched_plugins import names
from gangsched_plugins.common.selectors import Labels
from gangsched_plugins.inter_pod_affinity import hints, scoring
from gangsched_plugins.inter_pod_affinity.columnar import AffinitySums, Rules, filter_column, score_column
from gangsched_plugins.inter_pod_affinity.filtering import HOSTNAME, FilterState
from gangsched_plugins.inter_pod_affinity.scoring import Opinions, Weigher
from gangsched_plugins.inter_pod_affinity.templates import Templates, meaning_of
from gangsched_plugins.inter_pod_affinity.terms import NO_LABELS, MatchCounts, TermCache, compile_terms, matches_all

_AFFINITY = unresolvable("node(s) didn't match pod affinity rules", plugin=names.INTER_POD_AFFINITY)
_ANTI = unschedulable("node(s) didn't match pod anti-affinity rules", plugin=names.INTER_POD_AFFINITY)
_EXISTING = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules", plugin=names.INTER_POD_AFFINITY)
_FILTER, _SCORE = "InterPodAffinity/filter", "InterPodAffinity/score"


class InterPodAffinity:
    """Arguments: ``hardPodAffinityWeight`` (0-100) and ``ignorePreferredTermsOfExistingPods``."""

    name = names.INTER_POD_AFFINITY
    locality = "domain"
    ignores_requests = True
    unprepared: ClassVar[Mapping[str, str]] = {"filter": "error reading", "score": "failed to read"}

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle
        self._hard_weight: int = args.get("hardPodAffinityWeight", 1)
        self._ignore_existing: bool = args.get("ignorePreferredTermsOfExistingPods", False)
        self._fast_path = handle.feature_gates.get("InterPodAffinityHostnameFastPath", False)
        self._cache = TermCache()
        self._counts = MatchCounts()
        self._templates = Templates(self._cache, self._hard_weight)
        self._sums = AffinitySums(self._templates)

    def _namespace_labels(self, pod: Pod) -> Labels:
        namespace = self._handle.namespaces.get(pod.namespace)
        return namespace.labels if namespace is not None else NO_LABELS

    # --- filtering --------------------------------------------------------------------------------------------------

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """Count the pods the terms are about; Skip when no required term, own or foreign, bears on the pod.

        O(pods with terms), and O(nodes) when the pod has required ones.
        """
        compiled, problem = compile_terms(pod.spec, pod.namespace)
        if problem:
            return None, unresolvable(f"parsing pod: {problem}")
        with_affinity = self._handle.snapshot.nodes_with_affinity_pods()
        if not with_affinity and not compiled.required:
            return None, SKIP
        terms = compiled.resolved(self._handle.namespaces)
        data = FilterState.of(pod, terms, self._namespace_labels(pod), fast_path=self._fast_path)
        data.count_foreign(with_affinity, self._cache)
        data.count_own(nodes, self._handle.snapshot.table, self._counts)
        if not data.existing_anti and not compiled.required and not self._watches_hostnames(with_affinity):
            return None, SKIP
        state.write(_FILTER, data)
        return None, None

    def _watches_hostnames(self, nodes: Sequence[NodeInfo]) -> bool:
        """With the fast path, any anti-affinity term on the hostname keeps Filter awake (spec §7.10.6)."""
        return self._fast_path and any(
            term.key == HOSTNAME
            for node in nodes
            for other in node.pods_with_affinity.values()
            for term in self._cache.of(other).required_anti
        )

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeInfo) -> Status | None:
        """Count ``other`` in."""
        self._read(state).change(other, self._cache.of(other), node.labels, 1)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeInfo) -> Status | None:
        """Count ``other`` out."""
        self._read(state).change(other, self._cache.of(other), node.labels, -1)
        return None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Own affinity first, then own anti-affinity, then that of running pods (spec §7.10.3)."""
        data = self._read(state)
        labels = node.labels
        if not data.satisfies_affinity(labels):
            return _AFFINITY
        if not data.satisfies_anti(labels):
            return _ANTI
        return None if data.satisfies_existing_anti(labels) else _EXISTING

    def _read(self, state: CycleState) -> FilterState:
        data = state.read(_FILTER)
        assert isinstance(data, FilterState)
        return data

    # --- columns ----------------------------------------------------------------------------------------------------

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """Over domains; malformed terms are left to the per-node form."""
        compiled, problem = compile_terms(pod.spec, pod.namespace)
        if problem:
            return None
        terms = compiled.resolved(self._handle.namespaces)
        labels = self._namespace_labels(pod)
        regards = self._templates.regards(pod, labels)
        near = terms.required_affinity
        rules = Rules(
            self._sums.matching(table, near, (term.key for term in near)) if near else (),
            matches_all(near, pod, labels),
            self._fast_path and all(term.key == HOSTNAME for term in near),
            [count for term in terms.required_anti for count in self._sums.matching(table, (term,), (term.key,))],
            self._sums.repelling(table, regards),
        )
        scored = not self._ignore_existing or compiled.preferred
        counts = self._sums.weights(table, terms, regards) if scored else ()
        return Columns(filter_column(rules, _AFFINITY, _ANTI, _EXISTING), score_column(counts))

    def column_key(self, pod: Pod, table: NodeTable) -> Hashable:
        """The pod's terms and those of running pods that are about it; None when there are none of either."""
        compiled, problem = compile_terms(pod.spec, pod.namespace)
        if problem:
            return self.name
        labels = self._namespace_labels(pod)
        regards = self._templates.regards(pod, labels)
        if not pod.spec.has_affinity:
            # with the fast path, nominated pods may repel the pod although no running one does (spec §7.10.6)
            return regards or (self._fast_path and bool(table.affinity_pods)) or None
        terms = compiled.resolved(self._handle.namespaces)
        return (meaning_of(terms), matches_all(terms.required_affinity, pod, labels), regards)

    def column_version(self, table: NodeTable) -> Hashable:
        """Pods of a new template bear on others; so do the labels of namespaces."""
        if table.affinity_pods:
            self._templates.sync(table)
        return (self._templates.version, self._handle.lister_version, self._fast_path and bool(table.affinity_pods))

    # --- scoring ----------------------------------------------------------------------------------------------------

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Sum weights per domain over all nodes, beyond the placement, too; Skip when nothing bears on the pod."""
        compiled, problem = compile_terms(pod.spec, pod.namespace)
        if problem:
            return error(f"parsing pod: {problem}")
        if self._ignore_existing and not compiled.preferred:
            return SKIP
        snapshot = self._handle.snapshot
        terms = compiled.resolved(self._handle.namespaces)
        weigher = Weigher()
        weigher.add_own(terms, snapshot.all_nodes, snapshot.table, self._counts)
        theirs = Opinions(pod, self._namespace_labels(pod), self._hard_weight, self._cache)
        weigher.add_theirs(theirs, snapshot.nodes_with_affinity_pods())
        if not weigher.sums:
            return SKIP
        state.write(_SCORE, weigher.sums)
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Weights in the node's domains; may be negative."""
        return scoring.score(state.read(_SCORE), node.labels)

    def normalize_score(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]
    ) -> Status | None:
        """Spread the scores over 0…100."""
        scoring.normalize(scores)
        return None

    # --- hints ------------------------------------------------------------------------------------------------------

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """Pods that come, go or change labels, node labels, and the pod's own labels."""
        return hints.registrations()
