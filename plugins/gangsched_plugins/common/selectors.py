"""Label selectors and node selectors, compiled once and asked often (spec node-plugins.md §7.4.4-7, §7.9.2, §7.10.1).

A compiled form is immutable and depends on the selector's value alone, so it may be kept and shared.
"""

# ruff: noqa: SIM110 - a generator in any() or all() costs twice the loop, and these run for every node of every pod

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from gangsched_framework.objects import Node
from gangsched_framework.pod_spec import LabelSelector, NodeSelectorTerm, Requirement
from gangsched_framework.words import LABEL_OPERATORS, NODE_OPERATORS
from gangsched_plugins.common.labels import invalid, joined, label_key_errors, label_value_errors, not_supported

Labels = Mapping[str, str]
Test = Callable[[Labels], bool]

NAME_FIELD = "metadata.name"
_INTEGER = re.compile(r"[+-]?[0-9]+")


class SelectorError(ValueError):
    """A malformed selector; the text is what the real scheduler reports."""


def parse_int64(text: str) -> int | None:
    """A signed 64-bit decimal as ``+6`` or ``007``; None for anything else (spec §7.4.6)."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


class LabelMatcher:
    """A compiled label selector: ``equal`` pairs that must stand in the labels, and further ``tests``, all ANDed."""

    __slots__ = ("equal", "tests")

    def __init__(self, equal: Iterable[tuple[str, str]] = (), tests: Iterable[Test] = ()) -> None:
        self.equal = tuple(equal)
        self.tests = tuple(tests)

    def matches(self, labels: Labels) -> bool:
        """Whether every requirement holds."""
        for key, value in self.equal:
            if labels.get(key) != value:
                return False
        for test in self.tests:
            if not test(labels):
                return False
        return True

    @property
    def everything(self) -> bool:
        """Whether it restricts nothing: the empty selector ``{}``."""
        return not self.equal and not self.tests

    def also(self, other: LabelMatcher) -> LabelMatcher:
        """The matcher of both."""
        return LabelMatcher(self.equal + other.equal, self.tests + other.tests)


EVERYTHING = LabelMatcher()
NOTHING = LabelMatcher(tests=(lambda _labels: False,))


@lru_cache(maxsize=4096)
def compile_label_selector(selector: LabelSelector | None) -> LabelMatcher:
    """The matcher of a label selector: absent = nothing, empty = everything. Raises SelectorError when malformed."""
    if selector is None:
        return NOTHING
    if selector.empty:
        return EVERYTHING
    for key, value in selector.match_labels:
        errors = _key_errors("key", key) + _value_errors(f"values[0][{key}]", value)
        if errors:
            raise SelectorError(joined(errors))
    tests: list[Test] = []
    for requirement in selector.match_expressions:
        if requirement.operator not in LABEL_OPERATORS:
            raise SelectorError(f'"{requirement.operator}" is not a valid label selector operator')
        errors = _requirement_errors("", requirement)
        if errors:
            raise SelectorError(joined(errors))
        tests.append(_label_test(requirement))
    return LabelMatcher(selector.match_labels, tests)


# --- node selectors -------------------------------------------------------------------------------------------------


class NodeTerm:
    """A compiled node selector term: ``expressions`` on labels and ``fields``
    (key, value, whether it must be equal), all ANDed.

    ``errors`` is non-empty for a malformed term, which never matches. A term without expressions and fields matches
    nothing either (spec §7.4.5).
    """

    __slots__ = ("empty", "errors", "fields", "tests")

    def __init__(self, term: NodeSelectorTerm, path: str = "") -> None:
        self.empty = not term.match_expressions and not term.match_fields
        self.errors: list[str] = []
        for i, requirement in enumerate(term.match_expressions):
            self.errors += _node_expression_errors(f"{path}matchExpressions[{i}]", requirement)
        for i, requirement in enumerate(term.match_fields):
            self.errors += _node_field_errors(f"{path}matchFields[{i}]", requirement)
        if self.errors:
            self.tests: tuple[Test, ...] = ()
            self.fields: tuple[tuple[str, str, bool], ...] = ()
            return
        self.tests = tuple(_label_test(r) for r in term.match_expressions)
        self.fields = tuple((r.key, r.values[0], r.operator == "In") for r in term.match_fields)

    def matches(self, node: Node) -> bool:
        """Whether the term matches the node's labels and name."""
        if self.empty or self.errors:
            return False
        labels = node.labels
        for test in self.tests:
            if not test(labels):
                return False
        for key, value, want in self.fields:
            # Fields other than the name are unknown and read as the empty text (spec §7.4.7).
            if ((node.name if key == NAME_FIELD else "") == value) is not want:
                return False
        return True


@lru_cache(maxsize=4096)
def compile_node_terms(terms: tuple[NodeSelectorTerm, ...]) -> tuple[NodeTerm, ...]:
    """Required terms, ORed by ``matches_any``; malformed and empty ones are left out, for they never match."""
    compiled = (NodeTerm(term) for term in terms)
    return tuple(term for term in compiled if not term.empty and not term.errors)


@lru_cache(maxsize=4096)
def some_malformed(terms: tuple[NodeSelectorTerm, ...]) -> bool:
    """Whether a required term is malformed: where none matches, that is an error and no refusal."""
    return any(NodeTerm(term).errors for term in terms if term.match_expressions or term.match_fields)


def matches_any(terms: Iterable[NodeTerm], node: Node) -> bool:
    """Whether some term matches; no terms match nothing."""
    for term in terms:
        if term.matches(node):
            return True
    return False


def matches_selector(selector: Iterable[tuple[str, str]], labels: Labels) -> bool:
    """``spec.nodeSelector`` as pairs: each label exists with exactly that value (spec §7.4.4)."""
    for key, value in selector:
        if labels.get(key) != value:
            return False
    return True


# --- requirements ---------------------------------------------------------------------------------------------------


def _label_test(requirement: Requirement) -> Test:
    key, operator = requirement.key, requirement.operator
    if operator == "Exists":
        return lambda labels: key in labels
    if operator == "DoesNotExist":
        return lambda labels: key not in labels
    if operator in ("Gt", "Lt"):
        bound, sign = int(requirement.values[0]), 1 if operator == "Gt" else -1

        def compare(labels: Labels) -> bool:
            number = parse_int64(labels.get(key, ""))
            return number is not None and (number - bound) * sign > 0

        return compare
    if operator == "In" and len(requirement.values) == 1:
        value = requirement.values[0]
        return lambda labels: labels.get(key) == value
    values = frozenset(requirement.values)
    if operator == "In":
        return lambda labels: labels.get(key) in values
    return lambda labels: labels.get(key) not in values  # NotIn holds for an absent label too


def _requirement_errors(prefix: str, requirement: Requirement) -> list[str]:
    """Complaints about one requirement on labels whose operator is known; ``prefix`` ends in a dot or is empty."""
    path, values = f"{prefix}values", requirement.values
    errors = _key_errors(f"{prefix}key", requirement.key)
    if requirement.operator in ("In", "NotIn"):
        if not values:
            errors.append(invalid(path, values, "for 'in', 'notin' operators, values set can't be empty"))
    elif requirement.operator in ("Exists", "DoesNotExist"):
        if values:
            errors.append(invalid(path, values, "values set must be empty for exists and does not exist"))
    else:
        if len(values) != 1:
            errors.append(invalid(path, values, "for 'Gt', 'Lt' operators, exactly one value is required"))
        for i, value in enumerate(values):
            if parse_int64(value) is None:
                detail = "for 'Gt', 'Lt' operators, the value must be an integer"
                errors.append(invalid(f"{path}[{i}]", value, detail))
    for i, value in enumerate(values):
        errors += _value_errors(f"{path}[{i}][{requirement.key}]", value)
    return errors


def _node_expression_errors(path: str, requirement: Requirement) -> list[str]:
    if requirement.operator not in NODE_OPERATORS:
        return [not_supported(f"{path}.operator", requirement.operator, NODE_OPERATORS)]
    return _requirement_errors(f"{path}.", requirement)


def _node_field_errors(path: str, requirement: Requirement) -> list[str]:
    if requirement.operator not in ("In", "NotIn"):
        return [not_supported(f"{path}.operator", requirement.operator, ("In", "NotIn"))]
    if len(requirement.values) != 1:
        return [invalid(f"{path}.values", requirement.values, "must have one element")]
    return []


def _key_errors(path: str, key: str) -> list[str]:
    errors = label_key_errors(key)
    return [invalid(path, key, "; ".join(errors))] if errors else []


def _value_errors(path: str, value: str) -> list[str]:
    errors = label_value_errors(value)
    return [invalid(path, value, "; ".join(errors))] if errors else []
