"""NodeAffinity: node selector and node affinity of the pod, and of the profile (spec node-plugins.md §7.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from gangsched_framework.columns import Columns, filter_by_class, score_by_class
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.errors import ConfigurationError
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node, Pod
from gangsched_framework.pod_spec import NodeAffinity as NodeAffinityRules
from gangsched_framework.pod_spec import NodeSelectorTerm, PodSpec, PreferredNodeTerm, Requirement
from gangsched_framework.status import Code, Status, error, skip, unresolvable
from gangsched_plugins.common.labels import joined
from gangsched_plugins.common.normalize import normalize_by_maximum
from gangsched_plugins.common.selectors import (
    NAME_FIELD,
    NodeTerm,
    compile_node_terms,
    matches_any,
    matches_selector,
    some_malformed,
)
from gangsched_plugins.names import NODE_AFFINITY

_FILTER_STATE = f"PreFilter{NODE_AFFINITY}"
_SCORE_STATE = f"PreScore{NODE_AFFINITY}"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_CONFLICT = unresolvable("pod affinity terms conflict", plugin=NODE_AFFINITY)
_ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity", plugin=NODE_AFFINITY)
_REFUSED = unresolvable("node(s) didn't match Pod's node affinity/selector", plugin=NODE_AFFINITY)

Preferences = tuple[tuple[int, NodeTerm], ...]
"""(weight, compiled term) of every preference that can score."""


@frozen
class _Rules:
    """What a pod requires of a node: selector pairs, and terms (None = no required affinity)."""

    selector: tuple[tuple[str, str], ...]
    terms: tuple[NodeTerm, ...] | None

    @classmethod
    def of(cls, spec: PodSpec) -> _Rules:
        affinity = spec.node_affinity
        required = affinity.required if affinity is not None else None
        terms = compile_node_terms(required) if required is not None else None
        return cls(tuple((spec.node_selector or {}).items()), terms)

    def match(self, node: Node) -> bool:
        if not matches_selector(self.selector, node.labels):
            return False
        return self.terms is None or matches_any(self.terms, node)


class NodeAffinity:
    """PreFilter, Filter, PreScore, Score. Argument ``addedAffinity``: a node affinity that holds for every pod."""

    name = NODE_AFFINITY
    locality = "node"
    ignores_requests = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        added = _read_affinity(args.get("addedAffinity") or {})
        self._added_terms = None if added.required is None else compile_node_terms(added.required)
        self._has_added_preferences = bool(added.preferred)
        self._added_label_terms = (*(added.required or ()), *(preference.term for preference in added.preferred))
        self._added_preferences, errors = _compile_preferences(added.preferred)
        if errors:
            raise ConfigurationError(f"parsing addedAffinity.{_PREFERRED}: {errors}")
        malformed = [text for i, term in enumerate(added.required or ()) for text in NodeTerm(term, f"[{i}].").errors]
        if malformed:
            raise ConfigurationError(f"parsing addedAffinity.{_REQUIRED}: {joined(malformed)}")

    # --- Filter -----------------------------------------------------------------------------------------------------

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """Skip for a pod without rules; narrow to the nodes that the terms name, when every term names some."""
        affinity = pod.spec.node_affinity
        required = affinity.required if affinity is not None else None
        if required is None and pod.spec.node_selector is None and self._added_terms is None:
            return None, skip()
        state.write(_FILTER_STATE, _Rules.of(pod.spec))
        names = _named_nodes(required or ())
        if names is not None and not names:
            return None, _CONFLICT
        return names, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Refuse a node that the profile's affinity, the node selector or the required terms exclude."""
        return self._verdict(state.read(_FILTER_STATE) or _Rules.of(pod.spec), node.node)

    def _verdict(self, rules: _Rules, node: Node) -> Status | None:
        if self._added_terms is not None and not matches_any(self._added_terms, node):
            return _ENFORCED
        return None if rules.match(node) else _REFUSED

    # --- Score ------------------------------------------------------------------------------------------------------

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Skip without preferences; a malformed preference is an Error of the whole attempt (spec §7.4.8)."""
        affinity = pod.spec.node_affinity
        preferred = affinity.preferred if affinity is not None else ()
        if not preferred and not self._has_added_preferences:
            return skip()
        preferences, errors = _compile_preferences(preferred)
        if errors:
            return error(errors, plugin=self.name)
        state.write(_SCORE_STATE, self._added_preferences + preferences)
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Sum of the weights of the matching preferences."""
        if state.read(_SCORE_STATE) is None:  # the profile disables PreScore
            refused = self.pre_score(state, pod, ())
            if refused is not None:
                return 0 if refused.code is Code.SKIP else refused
        return _weight_of(state.read(_SCORE_STATE), node.node)

    def normalize_score(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]
    ) -> Status | None:
        """Per cent of the highest sum."""
        normalize_by_maximum(scores)
        return None

    # --- columns ----------------------------------------------------------------------------------------------------

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """One verdict and one sum per combination of the labels the rules ask about.

        Rules about the node's name narrow the search, and a malformed preference is an Error: both are left to the
        per-node form.
        """
        affinity = pod.spec.node_affinity
        required = (affinity.required if affinity is not None else None) or ()
        preferred = affinity.preferred if affinity is not None else ()
        terms = (*required, *(preference.term for preference in preferred), *self._added_label_terms)
        preferences, errors = _compile_preferences(preferred)
        if errors or any(term.match_fields for term in terms):
            return None
        keys = {r.key: None for term in terms for r in term.match_expressions}
        keys.update(dict.fromkeys(pod.spec.node_selector or ()))
        classes = table.classes.by_labels(tuple(keys))
        rules, preferences = _Rules.of(pod.spec), self._added_preferences + preferences
        score = None
        if preferred or self._has_added_preferences:
            score = score_by_class(classes, lambda node: _weight_of(preferences, node), "max")
        return Columns(filter_by_class(classes, lambda node: self._verdict(rules, node)), score)

    # --- hints ------------------------------------------------------------------------------------------------------

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """A node that begins to match."""
        node = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        yield ClusterEventWithHint(node, self._after_node_change)

    def _after_node_change(self, pod: Pod, old: object, new: object) -> Hint:
        assert isinstance(new, Node)
        if self._added_terms is not None and not matches_any(self._added_terms, new):
            return Hint.SKIP
        rules = _Rules.of(pod.spec)
        if not rules.match(new):
            return Hint.QUEUE if _fails(pod.spec, rules, new) else Hint.SKIP
        return Hint.SKIP if isinstance(old, Node) and rules.match(old) else Hint.QUEUE


def _fails(spec: PodSpec, rules: _Rules, node: Node) -> bool:
    """Whether asking about a node that does not match is an error: a malformed term could not be asked.

    A hint that fails counts as Queue (spec podgroup-scheduling.md §2.7.1).
    """
    affinity = spec.node_affinity
    if affinity is None or not affinity.required or not matches_selector(rules.selector, node.labels):
        return False
    return some_malformed(affinity.required)


def _weight_of(preferences: Preferences, node: Node) -> int:
    total = 0
    for weight, term in preferences:
        if term.matches(node):
            total += weight
    return total


def _named_nodes(terms: Iterable[NodeSelectorTerm]) -> frozenset[str] | None:
    """Union over the terms of the node names each allows; None when there is no term or one allows any name."""
    union: frozenset[str] | None = None
    for term in terms:
        lists = [r.values for r in term.match_fields if r.key == NAME_FIELD and r.operator == "In"]
        if not lists:
            return None
        names = frozenset(lists[0]).intersection(*lists[1:])
        union = names if union is None else union | names
    return union


def _compile_preferences(preferred: Sequence[PreferredNodeTerm]) -> tuple[Preferences, str]:
    """The preferences that can score, and the complaints about malformed ones as one text ('' = none)."""
    compiled = [
        (preference.weight, NodeTerm(preference.term, f"[{i}]."))
        for i, preference in enumerate(preferred)
        if preference.weight
    ]
    errors = [text for _, term in compiled for text in term.errors]
    if errors:
        return (), joined(errors)
    return tuple((weight, term) for weight, term in compiled if not term.empty), ""


# --- arguments ------------------------------------------------------------------------------------------------------


def _read_affinity(written: Mapping[str, Any]) -> NodeAffinityRules:
    """A core/v1 NodeAffinity as it stands in a configuration file."""
    required = written.get(_REQUIRED)
    preferred = written.get(_PREFERRED) or ()
    return NodeAffinityRules(
        None if required is None else tuple(_read_term(t) for t in required.get("nodeSelectorTerms") or ()),
        tuple(PreferredNodeTerm(p.get("weight", 0), _read_term(p.get("preference") or {})) for p in preferred),
    )


def _read_term(written: Mapping[str, Any]) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        tuple(_read_requirement(r) for r in written.get("matchExpressions") or ()),
        tuple(_read_requirement(r) for r in written.get("matchFields") or ()),
    )


def _read_requirement(written: Mapping[str, Any]) -> Requirement:
    return Requirement(written.get("key", ""), written.get("operator", ""), tuple(written.get("values") or ()))
