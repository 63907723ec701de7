"""The node affinity that NodeAffinity's arguments may add to every pod: shape and checks (spec §7.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gangsched.config.problems import Problem, dotted, invalid, shown, unsupported
from gangsched.config.schema import Fields, Int, ListOf, Text
from gangsched_framework.words import NODE_OPERATORS
from gangsched_framework.yaml_lines import ValuePath
from gangsched_plugins.common.labels import label_key_errors, label_value_errors

_REQUIREMENTS = ListOf(Fields({"key": Text(), "operator": Text(), "values": ListOf(Text())}))
_TERM = Fields({"matchExpressions": _REQUIREMENTS, "matchFields": _REQUIREMENTS})
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

SHAPE = Fields(
    {
        _REQUIRED: Fields({"nodeSelectorTerms": ListOf(_TERM)}),
        _PREFERRED: ListOf(Fields({"weight": Int(32), "preference": _TERM})),
    }
)

_FIELD_OPERATORS = ("In", "NotIn")


def problems(affinity: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the affinity, with paths that begin inside it."""
    for index, term in enumerate(affinity.get(_REQUIRED, {}).get("nodeSelectorTerms", ())):
        at: ValuePath = (_REQUIRED, "nodeSelectorTerms", index)
        yield from (problem.under(at) for problem in _term_problems(term))
    for index, preferred in enumerate(affinity.get(_PREFERRED, ())):
        for problem in _term_problems(preferred.get("preference", {})):
            # the real text leaves "preference" out
            text = f"{dotted((_PREFERRED, index))}.{problem.text}"
            yield Problem((_PREFERRED, index, "preference", *problem.path), text, problem.hint)


def _term_problems(term: Mapping[str, Any]) -> Iterator[Problem]:
    for index, item in enumerate(term.get("matchExpressions", ())):
        yield from (problem.under(("matchExpressions", index)) for problem in _expression_problems(item))
    for index, item in enumerate(term.get("matchFields", ())):
        at: ValuePath = ("matchFields", index)
        if item.get("operator", "") not in _FIELD_OPERATORS:
            yield unsupported((*at, "operator"), item.get("operator", ""), _FIELD_OPERATORS)
        elif len(item.get("values", ())) != 1:
            yield invalid((*at, "values"), item.get("values", []), "must have one element")


def _expression_problems(item: Mapping[str, Any]) -> Iterator[Problem]:
    key, operator, values = item.get("key", ""), item.get("operator", ""), item.get("values", [])
    if operator not in NODE_OPERATORS:
        yield unsupported(("operator",), operator, NODE_OPERATORS)
        return
    if wrong := label_key_errors(key):
        yield invalid(("key",), key, "; ".join(wrong))
    if operator in ("In", "NotIn") and not values:
        yield invalid(("values",), values, "for 'in', 'notin' operators, values set can't be empty")
    elif operator in ("Exists", "DoesNotExist") and values:
        yield invalid(("values",), values, "values set must be empty for exists and does not exist")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield invalid(("values",), values, "for 'Gt', 'Lt' operators, exactly one value is required")
        elif not _is_int64(values[0]):
            yield invalid(("values", 0), values[0], "for 'Gt', 'Lt' operators, the value must be an integer")
    for index, value in enumerate(values):
        if wrong := label_value_errors(value):
            at: ValuePath = ("values", index)
            yield Problem(at, f"{dotted(at)}[{key}]: Invalid value: {shown(value)}: {'; '.join(wrong)}")


def _is_int64(text: str) -> bool:
    digits = text[1:] if text[:1] in ("+", "-") else text
    return digits.isascii() and digits.isdigit() and len(digits) < 20 and -(2**63) <= int(text) < 2**63
