"""Validation of label selectors, node selectors and affinity terms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gangsched.manifests.errors import describe, found, missing, not_one_of
from gangsched.manifests.fields import Raw, each, need, part
from gangsched.manifests.names import DNS_LABEL, LABEL_VALUE, require_qualified, validate_labels
from gangsched.manifests.selectors import PREFERRED, REQUIRED
from gangsched_framework.words import LABEL_OPERATORS, NODE_OPERATORS

_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)


def validate_label_selector(raw: Raw) -> None:
    """``matchLabels`` and ``matchExpressions``."""
    if raw.get("matchLabels"):
        validate_labels(raw["matchLabels"], "matchLabels")
    each(raw, "matchExpressions", _validate_label_line)


def validate_node_affinity(raw: Raw) -> None:
    """``affinity.nodeAffinity``."""
    part(raw, REQUIRED, validate_node_selector)
    each(raw, PREFERRED, _validate_preferred)


def validate_pod_affinity(raw: Raw) -> None:
    """``affinity.podAffinity`` or ``podAntiAffinity``."""
    each(raw, REQUIRED, _validate_term)
    each(raw, PREFERRED, _validate_weighted)


def validate_node_selector(raw: Raw) -> None:
    """At least one term, each of valid lines."""
    if not raw.get("nodeSelectorTerms"):
        raise missing("nodeSelectorTerms", "at least one term")
    each(raw, "nodeSelectorTerms", _validate_node_term)


def validate_label_keys(raw: Raw, name: str, selector_field: str = "labelSelector") -> None:
    """``matchLabelKeys`` and its like: only with a selector, each a label key, none of the selector's own."""
    keys = raw.get(name) or ()
    selector = raw.get(selector_field)
    if keys and selector is None:
        raise found(f"no {selector_field}", f"{name} only with a {selector_field}", name)
    # Lines of matchExpressions may name the keys: a pod read back from the API server has them merged in.
    used = (selector or {}).get("matchLabels") or {}
    for index, key in enumerate(keys):
        require_qualified(key, name)
        if key in used or key in keys[:index]:
            raise found(describe(key), "keys that are not named twice", name, index)


def _validate_label_line(raw: Raw) -> None:
    require_qualified(need(raw, "key", "a label key"), "key")
    _validate_operator(raw, LABEL_OPERATORS)
    each(raw, "values", LABEL_VALUE.require)


def _validate_node_term(raw: Raw) -> None:
    each(raw, "matchExpressions", _validate_node_line)
    each(raw, "matchFields", _validate_field_line)


def _validate_node_line(raw: Raw) -> None:
    require_qualified(need(raw, "key", "a label key"), "key")
    operator = _validate_operator(raw, NODE_OPERATORS)
    values: Sequence[str] = raw.get("values") or ()
    if operator in ("Gt", "Lt"):
        if len(values) != 1 or not _INTEGER.fullmatch(values[0]):
            raise found(_values(values), f"one whole number for {operator}", "values")


def _validate_field_line(raw: Raw) -> None:
    key = need(raw, "key", "metadata.name")
    if key != "metadata.name":
        raise not_one_of(key, ("metadata.name",), "key")
    if raw.get("operator") not in ("In", "NotIn"):
        raise not_one_of(raw.get("operator") or "", ("In", "NotIn"), "operator")
    if len(raw.get("values") or ()) != 1:
        raise found(_values(raw.get("values") or ()), "one node name", "values")


def _validate_operator(raw: Raw, operators: tuple[str, ...]) -> str:
    operator = str(need(raw, "operator", ", ".join(operators)))
    if operator not in operators:
        raise not_one_of(operator, operators, "operator")
    values = raw.get("values") or ()
    if operator in ("In", "NotIn") and not values:
        raise missing("values", f"at least one value for {operator}")
    if operator in ("Exists", "DoesNotExist") and values:
        raise found(_values(values), f"no values for {operator}", "values")
    return operator


def _validate_preferred(raw: Raw) -> None:
    _validate_weight(raw)
    need(raw, "preference", "a node selector term")
    part(raw, "preference", _validate_node_term)


def _validate_weighted(raw: Raw) -> None:
    _validate_weight(raw)
    need(raw, "podAffinityTerm", "a term")
    part(raw, "podAffinityTerm", _validate_term)


def _validate_weight(raw: Raw) -> None:
    weight = raw.get("weight")
    if weight is None or not 1 <= weight <= 100:
        raise found("nothing" if weight is None else describe(weight), "1 to 100", "weight")


def _validate_term(raw: Raw) -> None:
    require_qualified(need(raw, "topologyKey", "a node label key"), "topologyKey")
    part(raw, "labelSelector", validate_label_selector)
    part(raw, "namespaceSelector", validate_label_selector)
    each(raw, "namespaces", DNS_LABEL.require)
    validate_label_keys(raw, "matchLabelKeys")
    validate_label_keys(raw, "mismatchLabelKeys")


def _values(values: Sequence[str]) -> str:
    return "1 value" if len(values) == 1 else f"{len(values)} values"
