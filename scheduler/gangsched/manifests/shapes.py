"""The shape of the API: which fields an object has and of which type (architecture.md §7).

``kubernetes_fields.txt`` lists the fields of every type. A shape checks a decoded document: unknown fields and wrong
types are errors; ``null`` stands for an absent field, as in Kubernetes. Nothing here knows what a field means.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from gangsched.manifests.amounts import amount_of
from gangsched.manifests.errors import InputError, describe, found, printable, unknown_field
from gangsched.manifests.times import epoch_nanoseconds

Check = Callable[[Any], None]
"""Raises InputError, with a path from the value down, when the value is not of the type."""

_TABLES = ("kubernetes_fields.txt", "workload_fields.txt")


class Shape:
    """One object type: its fields and their checks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: dict[str, Check] = {}

    def check(self, value: Any) -> None:
        """Raise InputError unless ``value`` is an object with known fields of the right types, all the way down."""
        if value.__class__ is not dict and not isinstance(value, Mapping):  # the first test spares most the second
            raise found(describe(value), "an object")
        fields = self.fields
        for key, item in value.items():
            try:
                check = fields[key]
            except (KeyError, TypeError):
                raise unknown_field(key, self.name, fields) from None
            if item is not None and not (check is _text and item.__class__ is str):  # texts are most of what there is
                try:
                    check(item)
                except InputError as error:
                    raise error.under(key) from None


@cache
def shape(name: str) -> Shape:
    """The shape of type ``name``; KeyError when no table lists it."""
    return _shapes()[name]


@cache
def _shapes() -> Mapping[str, Shape]:
    lines = [line for table in _TABLES for line in _lines(table)]
    shapes = {name: Shape(name) for name, _ in lines}
    for name, listed in lines:
        for item in listed.split():
            key, _, kind = item.partition("=")
            shapes[name].fields[key] = _check_of(kind, shapes)
    return shapes


def _lines(table: str) -> list[tuple[str, str]]:
    text = files("gangsched.manifests").joinpath(table).read_text(encoding="utf-8")
    rows = (line.partition(":") for line in text.splitlines() if line and not line.startswith("#"))
    return [(name, listed) for name, _, listed in rows]


def _check_of(kind: str, shapes: Mapping[str, Shape]) -> Check:
    if kind[0] == "[":
        return _list_of(_check_of(kind[1:-1], shapes))
    if kind[0] == "{":
        return _map_of(_check_of(kind[1:-1], shapes))
    return _SCALARS[kind] if kind in _SCALARS else shapes[kind].check


def _list_of(check: Check) -> Check:
    def check_list(value: object) -> None:
        if not isinstance(value, list | tuple):
            raise found(describe(value), "a list")
        for index, item in enumerate(value):
            try:
                check(item)
            except InputError as error:
                raise error.under(index) from None

    return check_list


def _map_of(check: Check) -> Check:
    def check_map(value: Any) -> None:
        if value.__class__ is not dict and not isinstance(value, Mapping):
            raise found(describe(value), "an object")
        for key, item in value.items():
            if not isinstance(key, str):
                raise found(describe(key), "a text key", printable(key))
            if item is None:
                continue  # in a map of the API null reads as the type's zero value: "" or 0
            if check is _text and item.__class__ is str:
                continue
            try:
                check(item)
            except InputError as error:
                raise error.under(key) from None

    return check_map


def _text(value: object) -> None:
    if not isinstance(value, str):
        hint = f'"{str(value).lower()}" in quotes' if isinstance(value, bool | int | float) else ""
        raise found(describe(value), "text", hint=hint)


def _boolean(value: object) -> None:
    if not isinstance(value, bool):
        raise found(describe(value), "true or false")


def _integer(bits: int) -> Check:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

    def check_integer(value: object) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise found(describe(value), f"a whole number of {bits} bits")

    return check_integer


def _number(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise found(describe(value), "a number")


def _quantity(value: object) -> None:
    amount_of(value)


def _time(value: object) -> None:
    if not isinstance(value, str):
        raise found(describe(value), "a time such as 2026-01-01T00:00:00Z")
    epoch_nanoseconds(value)


def _number_or_text(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise found(describe(value), "a whole number or text")


def _anything(value: object) -> None:
    """A field the scheduler never looks into."""


_SCALARS: Mapping[str, Check] = {
    "str": _text,
    "bool": _boolean,
    "int": _integer(32),
    "int64": _integer(64),
    "num": _number,
    "qty": _quantity,
    "time": _time,
    "intstr": _number_or_text,
    "any": _anything,
}
