"""Label selectors, node selectors and (anti-)affinity terms."""

from __future__ import annotations

from collections.abc import Mapping

from gangsched.manifests.fields import Raw, each, part
from gangsched_framework.pod_spec import (
    LabelSelector,
    NodeAffinity,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredNodeTerm,
    Requirement,
    WeightedPodAffinityTerm,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def requirement(raw: Raw) -> Requirement:
    """One ``key operator values`` line."""
    return Requirement(raw.get("key") or "", raw.get("operator") or "", tuple(raw.get("values") or ()))


def label_selector(raw: Raw) -> LabelSelector:
    """A selector with ``matchLabels`` and ``matchExpressions``."""
    return LabelSelector(match_labels(raw.get("matchLabels")), each(raw, "matchExpressions", requirement))


def match_labels(raw: Mapping[str, str | None] | None) -> tuple[tuple[str, str], ...]:
    """A map of labels in key order."""
    return tuple((key, value or "") for key, value in sorted(raw.items())) if raw else ()


def with_label_keys(
    selector: LabelSelector | None, keys: tuple[str, ...], labels: Mapping[str, str], operator: str
) -> LabelSelector | None:
    """``selector`` with a line for each of ``keys`` the pod has a label of (spec node-plugins.md §3.1.5)."""
    if selector is None or not keys:
        return selector
    added = tuple(Requirement(key, operator, (labels[key],)) for key in keys if key in labels)
    return LabelSelector(selector.match_labels, (*selector.match_expressions, *added))


def node_selector_term(raw: Raw) -> NodeSelectorTerm:
    """A term of ``nodeSelectorTerms`` or the preference of a preferred one."""
    return NodeSelectorTerm(each(raw, "matchExpressions", requirement), each(raw, "matchFields", requirement))


def node_affinity(raw: Raw) -> NodeAffinity:
    """``affinity.nodeAffinity``."""
    required = part(raw, REQUIRED, lambda node_selector: each(node_selector, "nodeSelectorTerms", node_selector_term))
    return NodeAffinity(required, each(raw, PREFERRED, _preferred_node_term))


def _preferred_node_term(raw: Raw) -> PreferredNodeTerm:
    return PreferredNodeTerm(raw.get("weight") or 0, node_selector_term(raw.get("preference") or {}))


def pod_affinity(raw: Raw, labels: Mapping[str, str]) -> PodAffinity:
    """``affinity.podAffinity`` or ``podAntiAffinity``; ``labels`` are those to merge by label keys, maybe none."""

    def term(raw_term: Raw) -> PodAffinityTerm:
        selector = part(raw_term, "labelSelector", label_selector)
        selector = with_label_keys(selector, tuple(raw_term.get("matchLabelKeys") or ()), labels, "In")
        selector = with_label_keys(selector, tuple(raw_term.get("mismatchLabelKeys") or ()), labels, "NotIn")
        return PodAffinityTerm(
            raw_term.get("topologyKey") or "",
            selector,
            tuple(raw_term.get("namespaces") or ()),
            part(raw_term, "namespaceSelector", label_selector),
        )

    def weighted(raw_term: Raw) -> WeightedPodAffinityTerm:
        return WeightedPodAffinityTerm(raw_term.get("weight") or 0, term(raw_term.get("podAffinityTerm") or {}))

    return PodAffinity(each(raw, REQUIRED, term), each(raw, PREFERRED, weighted))
