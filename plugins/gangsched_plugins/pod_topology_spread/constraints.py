"""Spread constraints of a pod, compiled: its own, or the profile's defaults (spec node-plugins.md §7.9.1-7.9.3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node, Pod, SelectorOwner
from gangsched_framework.pod_spec import PodSpec, TopologySpreadConstraint
from gangsched_plugins.common.row_counts import RowCounts
from gangsched_plugins.common.selectors import (
    EVERYTHING,
    LabelMatcher,
    SelectorError,
    compile_label_selector,
    compile_node_terms,
    matches_any,
    matches_selector,
)
from gangsched_plugins.common.tolerations import untolerated_hard_taint

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"

SYSTEM_DEFAULTS = (TopologySpreadConstraint(3, HOSTNAME, SOFT), TopologySpreadConstraint(5, ZONE, SOFT))
_CONTROLLERS = ("ReplicationController", "ReplicaSet", "StatefulSet")


@frozen(eq=False)
class Constraint:
    """One constraint as the pod means it; ``matcher`` tells which pods it counts."""

    key: str
    max_skew: int
    min_domains: int
    matcher: LabelMatcher
    honors_affinity: bool
    honors_taints: bool

    def meaning(self, pod: Pod) -> tuple[Hashable, ...]:
        """All that the constraint means for ``pod``, but for the node inclusion, which its spec tells."""
        selector = (self.matcher.everything, self.matcher.equal, self.matcher.tests, self.matcher.matches(pod.labels))
        return (self.key, self.max_skew, self.min_domains, self.honors_affinity, self.honors_taints, *selector)


def compile_constraints(
    specs: Iterable[TopologySpreadConstraint], action: str, pod: Pod, default: LabelMatcher | None = None
) -> tuple[Constraint, ...]:
    """The constraints with ``whenUnsatisfiable`` = ``action``, in the order written.

    ``default`` is the selector of default constraints, which have none of their own. Raises SelectorError.
    """
    compiled: list[Constraint] = []
    for spec in specs:
        if spec.when_unsatisfiable != action:
            continue
        matcher = default if default is not None else _matcher(spec, pod)
        compiled.append(
            Constraint(
                spec.topology_key,
                spec.max_skew,
                spec.min_domains or 1,
                matcher,
                spec.node_affinity_policy == "Honor",
                spec.node_taints_policy == "Honor",
            )
        )
    return tuple(compiled)


def _matcher(spec: TopologySpreadConstraint, pod: Pod) -> LabelMatcher:
    matcher = compile_label_selector(spec.label_selector)
    keys = [(key, pod.labels[key]) for key in spec.match_label_keys if key in pod.labels]
    return matcher.also(LabelMatcher(keys)) if keys else matcher


def parse_defaults(args: Mapping[str, Any]) -> tuple[TopologySpreadConstraint, ...]:
    """``defaultConstraints`` of the plugin's arguments."""
    return tuple(
        TopologySpreadConstraint(item["maxSkew"], item["topologyKey"], item["whenUnsatisfiable"])
        for item in args.get("defaultConstraints") or ()
    )


def default_matcher(pod: Pod, owners: Iterable[SelectorOwner]) -> LabelMatcher:
    """What default constraints count: the pod's services and its controller, ANDed; everything = no defaults.

    A malformed selector of an owner is passed over: it is not the pod's fault.
    """
    merged = EVERYTHING
    for owner in owners:
        if owner.namespace != pod.namespace or owner.selector is None:
            continue
        if owner.kind in _CONTROLLERS and pod.owner != (owner.kind, owner.name):
            continue
        try:
            matcher = compile_label_selector(owner.selector)
        except SelectorError:
            continue
        if owner.kind in _CONTROLLERS or matcher.matches(pod.labels):
            merged = merged.also(matcher)
    return merged


class NodeInclusion:
    """Which nodes a constraint counts pods on, apart from having the keys (spec §7.9.3)."""

    def __init__(self, pod: Pod, comparison: bool) -> None:
        spec = pod.spec
        self._spec = spec
        self._comparison = comparison
        self._restricted = bool(spec.node_selector) or (
            spec.node_affinity is not None and spec.node_affinity.required is not None
        )

    def unlimited(self, constraint: Constraint) -> bool:
        """Whether every node counts for the constraint."""
        return not (constraint.honors_taints or (constraint.honors_affinity and self._restricted))

    def admits(self, constraint: Constraint, node: Node) -> bool:
        """Whether the constraint's policies let ``node`` count. ``spec.unschedulable`` is not looked at."""
        if constraint.honors_affinity and self._restricted and not _fits_affinity(self._spec, node):
            return False
        return not (
            constraint.honors_taints
            and untolerated_hard_taint(node.taints, self._spec.tolerations, self._comparison) is not None
        )


def _fits_affinity(spec: PodSpec, node: Node) -> bool:
    if spec.node_selector and not matches_selector(spec.node_selector.items(), node.labels):
        return False
    affinity = spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return matches_any(compile_node_terms(affinity.required), node)


def has_keys(constraints: Iterable[Constraint], labels: Mapping[str, str]) -> bool:
    """Whether a node has the labels of all constraints; true without constraints."""
    return all(constraint.key in labels for constraint in constraints)


class MatchCounts:
    """Pods that a selector counts, per row: its namespace, not terminating. ``{}`` counts nobody (spec §7.9.2)."""

    def __init__(self) -> None:
        self._rows = RowCounts()

    def column(self, table: NodeTable, namespace: str, matcher: LabelMatcher) -> Sequence[int]:
        """Matching pods on each row of the table as it stands."""
        if matcher.everything:
            return bytes(len(table.pods))

        def counts(other: Pod) -> bool:
            return other.namespace == namespace and other.deletion_timestamp is None and matcher.matches(other.labels)

        return self._rows.column(table, (namespace, matcher.equal, matcher.tests), counts)
