"""Errors a user can cause, and the one a broken invariant raises."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from operator import index
from typing import SupportsIndex


class GangschedError(Exception):
    """Base of every error caused by input or use; its text is fit to be shown to a user as it stands."""


class InvariantError(AssertionError):
    """A mutable structure contradicts itself: a bug in gangsched, never a user's fault."""


class ConfigurationError(GangschedError):
    """A profile cannot be built: unknown plugin, wrong extension point, bad arguments (node-plugins.md §2.6-2.7)."""


class PluginError(GangschedError):
    """A plugin raised (``__cause__``: what), or returned what its extension point does not allow."""


class InputError(GangschedError):
    """A file that cannot be read as what it should be: ``FILE:LINE: what``.

    ``line`` counts from 1; None = no line can be named. ``message`` is the text without the place.
    """

    def __init__(self, source: str, line: int | None, message: str) -> None:
        place = source if line is None else f"{source}:{line}"
        self.message = on_one_line(message)
        super().__init__(f"{place}: {self.message}" if place else self.message)
        self.source = source
        self.line = line


def unreadable(problem: Exception) -> str:
    """How reading a file ended, in every reader's words: ``cannot be read: no such file or directory``."""
    reason = (isinstance(problem, OSError) and problem.strerror) or str(problem)
    return f"cannot be read: {reason[:1].lower()}{reason[1:]}"


def whole(what: str, found: object, unit: str) -> int:
    """A whole number of units, not negative. Raises GangschedError, beginning with ``what``, for anything else."""
    if not isinstance(found, SupportsIndex) or index(found) < 0:
        raise GangschedError(f"{what}: found {found!r}, allowed a whole number of {unit}, not negative")
    return index(found)


def on_one_line(text: str) -> str:
    """The text with line breaks and whatever else a terminal would obey written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def path_text(path: Iterable[str | int]) -> str:
    """A field path as errors show it: ``spec.containers[0].name``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif text and ("." in step or "/" in step):
            text += f'["{step}"]'
        else:
            text += f".{step}" if text else step
    return text


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean "…"?`` with the nearest known word, or '' when none is near."""
    candidates = list(known)
    # Case first: a short word in the wrong case is not "near" by letters.
    near = [candidate for candidate in candidates if candidate.lower() == word.lower()]
    near = near or get_close_matches(word, candidates, n=1)
    return f'; did you mean "{near[0]}"?' if near else ""
