"""JSON to plain values: the standard library's fast decoder, made strict about keys and numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from gangsched.manifests.errors import InputError, Step, found, printable

_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOO_DEEP = "found values nested too deeply"


class _Fault(ValueError):
    """Something the grammar allows and we do not; the text is the error's message."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    decoded = dict(pairs)
    if len(decoded) != len(pairs):
        raise _Fault("found this key twice")
    return decoded


def _constant(name: str) -> object:
    raise _Fault(found(name, "finite numbers").message)


_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)
_LENIENT = json.JSONDecoder()


def json_documents(text: str, name: str) -> Iterator[object]:
    """The documents of ``text``, which may follow each other. Raises InputError with ``where``, ``NAME:LINE``."""
    start = _skip(text, 0)
    while start < len(text):
        try:
            document, end = _STRICT.raw_decode(text, start)
        except json.JSONDecodeError as error:
            message = f"found broken JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            raise _at(name, text, error.pos, InputError(message)) from None
        except _Fault as fault:
            path, position = _place_of_fault(text, start)
            raise _at(name, text, position, InputError(str(fault), *path)) from None
        except RecursionError:
            raise _at(name, text, start, InputError(_TOO_DEEP)) from None
        except ValueError as error:  # a number of more digits than Python converts
            raise _at(name, text, start, InputError(f"found a number that is too long ({printable(error)})")) from None
        if _SURROGATE.search(text, start, end):
            _refuse_half_characters(name, text, start, document)
        yield document
        start = _skip(text, end)


def json_line(text: str, index: int, path: Sequence[Step]) -> int:
    """Line of the value at ``path`` in document ``index``, or of the nearest value around it that exists."""
    position = _skip(text, 0)
    for _ in range(index):
        position = _skip(text, _LENIENT.raw_decode(text, position)[1])
    return _line(text, _seek(text, position, path))


def _seek(text: str, position: int, path: Sequence[Step]) -> int:
    nearest = position
    for step in path:
        for key, key_at, value_at in _members(text, position):
            if key == step:
                nearest, position = key_at, value_at
                break
        else:
            break
    return nearest


def _members(text: str, position: int) -> Iterator[tuple[Step, int, int]]:
    """(key or index, where it begins, where its value begins) of a container; nothing of a scalar."""
    opening = text[position : position + 1]
    if opening not in ("{", "["):
        return
    position = _skip(text, position + 1)
    index = 0
    while text[position] not in "]}":
        key: Step = index
        key_at = position
        if opening == "{":
            decoded, position = _LENIENT.raw_decode(text, position)
            key = str(decoded)
            position = _skip(text, _skip(text, position) + 1)
        yield key, key_at, position
        position = _skip(text, _LENIENT.raw_decode(text, position)[1])
        if text[position] == ",":
            position = _skip(text, position + 1)
        index += 1


def _place_of_fault(text: str, position: int) -> tuple[tuple[Step, ...], int]:
    """Path and position of a duplicate key or forbidden constant: the innermost value that does not decode."""
    path: list[Step] = []
    while True:
        seen: dict[Step, None] = {}
        for key, key_at, value_at in _members(text, position):
            if not _decodes(text, value_at):
                path.append(key)
                position = value_at
                break
            if key in seen:
                return (*path, printable(key)), key_at
            seen[key] = None
        else:
            return tuple(path), position


def _decodes(text: str, position: int) -> bool:
    try:
        _STRICT.raw_decode(text, position)
    except ValueError:
        return False
    return True


def _refuse_half_characters(name: str, text: str, start: int, document: object) -> None:
    """Escapes may spell half a surrogate pair, which is no character and cannot be written out again."""
    waiting: list[object] = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.keys()
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and not _encodes(value):
            raise _at(
                name, text, start, found(f'text "{printable(value)}" with half a surrogate pair', "whole characters")
            )


def _encodes(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _at(name: str, text: str, position: int, error: InputError) -> InputError:
    error.where = f"{name}:{_line(text, position)}"
    return error
