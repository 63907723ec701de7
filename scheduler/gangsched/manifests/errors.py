"""The error of a reader: where, which object, which field, what was found, what is allowed (architecture.md §7)."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable

from gangsched_framework import errors
from gangsched_framework.errors import path_text

Step = str | int
"""One step of a field path: a field name or the index in a list."""

_LONGEST_FOUND = 80
_LONGEST_LIST = 12


class InputError(errors.InputError):
    """Input that a user must correct; ``str()`` is one line.

    ``FILE:LINE: kind/name: field.path: found …, allowed …; did you mean …?``; parts that are not known are left out.
    Raised at the place of the fault and completed on the way up: :meth:`under` adds steps in front of the path, readers
    set ``label`` (``kind/name``) and ``where`` (``FILE:LINE``).
    """

    def __init__(self, message: str, *path: Step, where: str = "", label: str = "") -> None:
        super().__init__(where, None, message)
        self.path: tuple[Step, ...] = path
        self.where = where
        self.label = label

    def under(self, *steps: Step) -> InputError:
        """This error, its path seen from ``steps`` further out."""
        self.path = (*steps, *self.path)
        return self

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, self.label, path_text(self.path), self.message) if part)


def found(what: str, allowed: str, *path: Step, hint: str = "", where: str = "") -> InputError:
    """``found …, allowed …; did you mean …?`` at ``path``, seen from the raising function's object."""
    text = f"found {what}, allowed {allowed}" + (f"; did you mean {hint}?" if hint else "")
    return InputError(text, *path, where=where)


def not_one_of(value: str, allowed: Iterable[str], *path: Step) -> InputError:
    """An unknown word where one of ``allowed`` stands."""
    words = list(allowed)
    return found(describe(value), _listing(words), *path, hint=closest(value, words))


def unknown_field(name: object, owner: str, fields: Iterable[str]) -> InputError:
    """A field that ``owner`` does not have; the error's path ends in the field itself."""
    words = list(fields)
    hint = closest(str(name), words)
    allowed = f"the fields of {owner}" if hint else f"{_listing(words)}" if words else f"no field in {owner}"
    return found("an unknown field", allowed, printable(name), hint=hint)


def missing(name: str, what: str) -> InputError:
    """A field that must be there and is not."""
    return found("nothing", what, name)


def describe(value: object) -> str:
    """A value as an error names it: its type, and the value when it is short enough to say."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"number {value}" if abs(value) < 10**_LONGEST_FOUND else "a number of more than 80 digits"
    if isinstance(value, float):
        return f"number {value!r}" if math.isfinite(value) else f"{value!r}, which is no finite number"
    if isinstance(value, str):
        return f'text "{printable(value)}"' if value else "empty text"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"


def closest(word: str, words: Iterable[str]) -> str:
    """The one of ``words`` that ``word`` was probably meant to be, or nothing."""
    by_lower = {known.lower(): known for known in words}
    near = difflib.get_close_matches(word.lower()[:_LONGEST_FOUND], list(by_lower), 1, 0.7)
    return by_lower[near[0]] if near else ""


def printable(value: object) -> str:
    """``value`` on one line, short, and free of characters a terminal would obey."""
    text = str(value)
    if len(text) > _LONGEST_FOUND:
        text = text[:_LONGEST_FOUND] + "…"
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


def _listing(words: list[str]) -> str:
    shown = [word or '""' for word in words[:_LONGEST_LIST]]
    return ", ".join(shown) + (", …" if len(words) > _LONGEST_LIST else "")
