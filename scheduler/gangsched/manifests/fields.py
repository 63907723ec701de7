"""Walking a checked manifest: helpers that keep the field path for errors and read ``null`` as absent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gangsched.manifests.errors import InputError, found, missing, not_one_of

T = TypeVar("T")
Raw = Mapping[str, Any]
"""An object of a manifest whose shape has been checked."""


def part(raw: Raw, name: str, decode: Callable[[Any], T]) -> T | None:
    """``decode`` of field ``name``, None when it is absent."""
    value = raw.get(name)
    if value is None:
        return None
    try:
        return decode(value)
    except InputError as error:
        raise error.under(name) from None


def each(raw: Raw, name: str, decode: Callable[[Any], T]) -> tuple[T, ...]:
    """``decode`` of every item of the list ``name``."""
    items = raw.get(name)
    if not items:
        return ()
    decoded: list[T] = []
    for index, item in enumerate(items):
        try:
            decoded.append(decode(item))
        except InputError as error:
            raise error.under(name, index) from None
    return tuple(decoded)


def texts(raw: Raw, name: str) -> dict[str, str]:
    """The map of texts ``name``; null values read as empty text."""
    value = raw.get(name)
    if not value:
        return {}
    return {key: text or "" for key, text in value.items()} if None in value.values() else dict(value)


def need(raw: Raw, name: str, what: str) -> Any:
    """Field ``name``, which must be there and not be empty text."""
    value = raw.get(name)
    if value is None or value == "":
        raise missing(name, what)
    return value


def one_of(raw: Raw, name: str, words: tuple[str, ...]) -> None:
    """Refuse a field ``name`` that is set, not empty, and none of ``words``."""
    value = raw.get(name)
    if value and value not in words:
        raise not_one_of(value, words, name)


def unique(raw: Raw, name: str, key: Callable[[Any], Any], field: str = "") -> None:
    """Refuse two items of the list ``name`` with one ``key``; ``field`` is the part of the item to point at."""
    seen: dict[Any, None] = {}
    for index, item in enumerate(raw.get(name) or ()):
        value = key(item)
        if value in seen:
            raise found("the same twice", "each once", name, index, *([field] if field else []))
        seen[value] = None
