"""Shapes of configuration values, and the strict reading of a value against its shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from gangsched.config.problems import Problem, dotted, shown
from gangsched_framework.errors import did_you_mean
from gangsched_framework.yaml_lines import ValuePath


@frozen
class Int:
    """A whole number that fits so many bits, sign included."""

    bits: int = 32


@frozen
class Number:
    """Any finite number."""


@frozen
class Bool:
    """true or false."""


@frozen
class Text:
    """Any text."""


@frozen
class OneOf:
    """One of these words."""

    words: tuple[str, ...]


@frozen
class TextMap:
    """Text to text."""


@frozen
class FreeMap:
    """A mapping that is not looked into."""


@frozen
class ListOf:
    """A list of like things."""

    item: Shape


@frozen
class Fields:
    """A mapping with these keys and no others."""

    fields: Mapping[str, Shape]


Shape = Int | Number | Bool | Text | OneOf | TextMap | FreeMap | ListOf | Fields


def read(value: object, shape: Shape, path: ValuePath, problems: list[Problem]) -> Any:
    """The value without the fields that are null, which count as absent (as in Go's decoder). Appends what is wrong."""
    match shape:
        case Fields(fields):
            return _read_fields(value, fields, path, problems)
        case ListOf(item):
            if isinstance(value, list):
                return [read(element, item, (*path, index), problems) for index, element in enumerate(value)]
        case TextMap():
            if isinstance(value, Mapping):
                return {key: read(text, Text(), (*path, key), problems) for key, text in value.items()}
        case FreeMap():
            if isinstance(value, Mapping):
                return dict(value)
        case Int(bits):
            if isinstance(value, int) and not isinstance(value, bool) and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
                return value
        case Number():
            if isinstance(value, int | float) and not isinstance(value, bool):
                return value
        case Bool():
            if isinstance(value, bool):
                return value
        case Text():
            if isinstance(value, str):
                return value
        case OneOf(words):
            if isinstance(value, str) and value in words:
                return value
    hint = did_you_mean(value, shape.words) if isinstance(shape, OneOf) and isinstance(value, str) else ""
    text = f"{dotted(path) or 'document'}: found {_found(value)}, allowed {_allowed(shape)}"
    problems.append(Problem(path, text, hint))
    return None


def _read_fields(value: object, fields: Mapping[str, Shape], path: ValuePath, problems: list[Problem]) -> Any:
    if not isinstance(value, Mapping):
        text = f"{dotted(path) or 'document'}: found {_found(value)}, allowed a mapping"
        problems.append(Problem(path, text))
        return {}
    result = {}
    for key, inner in value.items():
        here = (*path, key)
        if key not in fields:
            problems.append(Problem(here, f'unknown field "{dotted(here)}"', did_you_mean(str(key), fields)))
        elif inner is not None:
            result[key] = read(inner, fields[key], here, problems)
    return result


def _found(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {shown(value)}"
        case str():
            return f"the text {shown(value)}"
        case list():
            return "a list"
        case _:
            return "a mapping"


def _allowed(shape: Shape) -> str:
    match shape:
        case Int(bits):
            return f"a whole number of {bits} bits"
        case Number():
            return "a number"
        case Bool():
            return "true or false"
        case Text():
            return "text"
        case OneOf(words):
            return f"{', '.join(words[:-1])} or {words[-1]}"
        case ListOf():
            return "a list"
        case _:
            return "a mapping"
