"""Compare a recording with what the engine showed: every difference with its field path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gangsched.conform.fields import Fields
from gangsched.conform.scenario import Difference

DATA_KEYED = frozenset({"raw", "normalized", "plugins"})
"""Fields whose keys are data (plugin names), not field names. Keys holding a slash are data everywhere."""

_TEXTS = frozenset({"podConditions", "groupConditions", "events"})


def differences(expected: Any, got: Any, fields: Fields, step: int | None = None, path: str = "") -> list[Difference]:
    """Every place below ``path`` where the two differ, in the order of the recording."""
    return list(_walk(expected, got, fields, step, path, not fields.only))


def broken(problem: Exception, step: int | None = None) -> Difference:
    """An engine that raised instead of answering."""
    return Difference(step, "engine", "no exception", f"{type(problem).__name__}: {problem}")


def _walk(expected: Any, got: Any, fields: Fields, step: int | None, path: str, wanted: bool) -> Iterator[Difference]:
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        yield from _walk_map(expected, got, fields, step, path, wanted)
    elif _records(expected) and _records(got) and len(expected) == len(got):
        for index, (one, other) in enumerate(zip(expected, got, strict=True)):
            yield from _walk(one, other, fields, step, f"{path}[{index}]", wanted)
    elif wanted and expected != got:
        yield Difference(step, path, expected, got)


def _walk_map(
    expected: Mapping[str, Any], got: Mapping[str, Any], fields: Fields, step: int | None, path: str, wanted: bool
) -> Iterator[Difference]:
    last = path.rsplit(".", 1)[-1]
    for key in dict.fromkeys((*expected, *got)):
        data = "/" in key or last in DATA_KEYED
        if not data and key in fields.without:
            continue
        inside = wanted or (not data and key in fields.only)
        one, other = expected.get(key), got.get(key)
        if key in _TEXTS and "msg" in fields.without:
            one, other = _without_text(one), _without_text(other)
        where = f"{path}[{key}]" if data else f"{path}.{key}" if path else key
        yield from _walk(one, other, fields, step, where, inside)


def _records(value: Any) -> bool:
    """Whether a list is worth descending into: its items are objects."""
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(v, Mapping) for v in value)


def _without_text(value: Any) -> Any:
    """Conditions and events without the part after the first ``: ``."""
    if isinstance(value, Mapping):
        return {key: _without_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [text.split(": ", 1)[0].rstrip(":") for text in value]
    return value
