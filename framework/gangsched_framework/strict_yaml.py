"""Strict, fast reading of YAML and JSON text into plain values, and places of values for error messages.

What Kubernetes' own readers refuse or what could hurt is refused: duplicate keys, tags, recursive aliases, aliases that
expand to very much, deep nesting, numbers that are not finite. Documents are built from the parser's events in one
loop, so no input can exhaust the stack, and nothing about places is kept: only when an error is to be reported does
``yaml_lines`` read the text again (architecture.md §7: parse fast first).
"""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from gangsched_framework.errors import InputError, path_text, unreadable

MAX_DEPTH = 100
"""Lists and mappings inside each other; the deepest Kubernetes object has about 30."""

MAX_BYTES = 2**24
"""Size of a file read as a whole by :func:`read_text`."""

MAX_ALIASED_NODES = 100_000
"""Values a document may gain by its aliases."""

EVENT_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a wheel without libyaml has only the slow one
_LONE = "half of a character pair stands alone (\\uD800 … \\uDFFF)"
_STANDARD_TAG = "tag:yaml.org,2002:"

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NOT_TEXT = frozenset(["", *"-+.0123456789~nNtTfFyYoO"])  # what a plain scalar that is no text begins with
_INT = re.compile(r"[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[1-9][0-9_]*|0)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_OLD_OCTAL = re.compile(r"[-+]?0[0-7]+\Z")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file. Raises InputError when it cannot be read, is not text, or is larger than MAX_BYTES."""
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(str(path), None, unreadable(error)) from None
    if len(data) > MAX_BYTES:
        raise InputError(str(path), None, f"found more than {MAX_BYTES} bytes, a configuration has far less")
    return decode(data, str(path))


def decode(data: bytes, source: str) -> str:
    """UTF-8 bytes, with or without a byte order mark, as text. Raises InputError for anything else."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(source, line, "the file is not UTF-8 text") from None


def parse(text: str, source: str) -> list[Any]:
    """The documents of a YAML or JSON text, as dicts (keys are text as written), lists, str, int, float, bool, None.

    An empty document is None. Values that an alias repeats are one shared object: never change what is returned.
    Merge keys (``<<``) bring fields that the mapping itself does not write.
    Raises InputError with the line.
    """
    if text.lstrip()[:1] in ("{", "["):
        try:
            return [parse_json(text, source)]
        except InputError:
            pass  # a flow document of YAML, or an error whose line the other reader knows
    builder = _Builder(source)
    try:
        for event in yaml.parse(text, Loader=EVENT_LOADER):
            builder.take(event)
    except yaml.YAMLError as error:
        raise _syntax_error(error, text, source) from None
    except UnicodeEncodeError:
        raise InputError(source, None, _LONE) from None
    return builder.documents


def parse_json(text: str, source: str, line: int | None = None) -> Any:
    """One JSON value, as strictly as ``parse``. Raises InputError with the given line, or the one of the error."""
    try:
        value = json.loads(text, object_pairs_hook=_pairs, parse_float=_json_float, parse_constant=_json_constant)
    except json.JSONDecodeError as error:
        raise InputError(source, error.lineno if line is None else line, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(source, line, f"nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise InputError(source, line, str(error)) from None
    if _SURROGATE.search(text) and not _encodable(value):
        raise InputError(source, line, _LONE)
    depth, level = 0, [value] if isinstance(value, dict | list) else []
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise InputError(source, line, f"nested deeper than {MAX_DEPTH} levels")
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
    return value


class _Merge:
    """The key ``<<`` of one mapping, which brings the fields of others."""

    def __init__(self, line: int) -> None:
        self.line = line


class _Builder:
    """Turns parser events into values; a list of open containers takes the place of recursion."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.documents: list[Any] = []
        self._open: list[tuple[Any, str | None, int]] = []
        """Per container around the current one: the container, its anchor, the count of values when it began."""
        self._container: Any = None
        self._key: str | _Merge | None = None
        self._anchor: str | None = None
        self._start = 0
        self._count = 0
        self._aliased = 0
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._merges: list[tuple[dict[Any, Any], _Merge]] = []
        """Open mappings with a merge key, which is in them until they are complete."""

    def take(self, event: Any) -> None:
        kind = event.__class__
        if kind is yaml.ScalarEvent:
            container = self._container
            if container.__class__ is dict and self._key is None:
                self._key = self._new_key(event)
                return
            value = self._scalar(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = (value, 1)
            self._put(value)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._enter(event, {} if kind is yaml.MappingStartEvent else [])
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._leave()
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self._anchors = {}
            self._aliased = 0
            self._container = None
            self.documents.append(None)

    def _put(self, value: Any) -> None:
        self._count += 1
        container = self._container
        if container.__class__ is dict:
            container[self._key] = value
            self._key = None
        elif container is None:
            self.documents[-1] = value
        else:
            container.append(value)

    def _enter(self, event: Any, value: Any) -> None:
        if self._container.__class__ is dict and self._key is None:
            raise self._error_in_field(event, "a key must be text")
        if event.tag is not None and event.tag not in (_STANDARD_TAG + "map", _STANDARD_TAG + "seq"):
            raise self._error(event, _refused_tag(event.tag))
        if len(self._open) >= MAX_DEPTH:
            raise self._error(event, f"nested deeper than {MAX_DEPTH} levels")
        if event.anchor is not None:
            self._anchors.pop(event.anchor, None)  # until it is complete, an alias to it would be recursive
        start = self._count
        self._put(value)
        self._open.append((self._container, self._anchor, self._start))
        self._container, self._anchor, self._start = value, event.anchor, start

    def _leave(self) -> None:
        if self._merges and self._merges[-1][0] is self._container:
            self._merge(*self._merges.pop())
        if self._anchor is not None:
            self._anchors[self._anchor] = (self._container, self._count - self._start)
        self._container, self._anchor, self._start = self._open.pop()

    def _merge(self, mapping: dict[Any, Any], key: _Merge) -> None:
        """Put in what a merge key brings: of the same field, the mapping's own or else the first one stands."""
        brought = mapping.pop(key)
        for source in brought if isinstance(brought, list) else [brought]:
            if not isinstance(source, dict):
                raise InputError(self.source, key.line, "map merge requires map or sequence of maps as the value")
            for name, value in source.items():
                mapping.setdefault(name, value)

    def _alias(self, event: Any) -> None:
        if self._container.__class__ is dict and self._key is None:
            raise self._error_in_field(event, "a key must be text")
        found = self._anchors.get(event.anchor)
        if found is None:
            recursive = event.anchor == self._anchor or any(event.anchor == anchor for _, anchor, _ in self._open)
            what = "stands inside its own anchor" if recursive else "has no anchor before it"
            raise self._error(event, f"alias *{event.anchor} {what}")
        value, size = found
        self._aliased += size
        if self._aliased > MAX_ALIASED_NODES:
            raise self._error(event, f"the aliases expand to more than {MAX_ALIASED_NODES} values")
        self._put(value)
        self._count += size - 1

    def _new_key(self, event: Any) -> str | _Merge:
        key: str = event.value
        if event.tag is not None and event.tag != _STANDARD_TAG + "str":
            raise self._error(event, _refused_tag(event.tag))
        if event.implicit[0]:
            if key == "<<" and not (self._merges and self._merges[-1][0] is self._container):
                merge = _Merge(event.start_mark.line + 1)
                self._merges.append((self._container, merge))
                return merge
            if _WORDS.get(key, True) is None:
                raise self._error_in_field(event, "a key must be text, found nothing")
        if key in self._container or (key == "<<" and event.implicit[0]):
            raise self._error(event, f'key "{key}" already set in map')
        return key

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.implicit[0]:
            if text[:1] in _NOT_TEXT:  # '' too: an empty plain scalar is null
                value = _plain(text)
                if value is _REFUSED:
                    raise self._error_in_field(event, f"{text[:40]} is not a finite number")
                return value
            return text
        if event.tag is None or event.tag in ("!", _STANDARD_TAG + "str"):
            return text
        raise self._error(event, _refused_tag(event.tag))

    def _error(self, event: Any, message: str) -> InputError:
        return InputError(self.source, event.start_mark.line + 1, message)

    def _error_in_field(self, event: Any, message: str) -> InputError:
        """The same with the path of the field whose value is being read."""
        path: list[str | int] = []
        for container, _, _ in self._open[1:]:
            path.append(len(container) - 1 if isinstance(container, list) else _name(next(reversed(container))))
        if isinstance(self._container, list):
            path.append(len(self._container))
        elif self._key is not None:
            path.append(_name(self._key))
        return self._error(event, ": ".join(part for part in (path_text(path), message) if part))


def _name(key: str | _Merge) -> str:
    return "<<" if isinstance(key, _Merge) else key


_REFUSED = object()


def _refused_tag(tag: str) -> str:
    return f"tag {tag.replace(_STANDARD_TAG, '!!')} is not allowed"


@lru_cache(maxsize=4096)
def _plain(text: str) -> Any:
    """A plain scalar by YAML 1.1 as Kubernetes reads it; dates and base-60 numbers stay text (as in its reader)."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        if _INT.match(text):
            digits = text.replace("_", "")
            if _OLD_OCTAL.match(digits):
                return int(digits, 8)
            return int(digits, 0)
        if _FLOAT.match(text):
            number = float(text)
            return number if math.isfinite(number) else _REFUSED
    except ValueError:  # more digits than Python converts, or a prefix without any
        return _REFUSED if len(text) > 40 else text
    return _REFUSED if _NOT_FINITE.match(text) else text


def _encodable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f'key "{key}" already set in map')
            seen.add(key)
    return mapping


def _json_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is not a finite number")
    return number


def _json_constant(text: str) -> float:
    raise ValueError(f"{text} is not a finite number")


def _syntax_error(error: yaml.YAMLError, text: str, source: str) -> InputError:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem:
        if "nesting depth" in error.problem:  # the parser's own limit lies above ours
            return InputError(source, _line(error, text), f"nested deeper than {MAX_DEPTH} levels")
        return InputError(source, _line(error, text), error.problem)
    if isinstance(error, yaml.reader.ReaderError):
        line = text.encode("utf-8", "replace").count(b"\n", 0, error.position) + 1
        return InputError(source, line, f"{error.reason}, found a character with code {error.character}")
    return InputError(source, None, " ".join(str(error).split()))


def _line(error: yaml.MarkedYAMLError, text: str) -> int | None:
    """The line the parser complains of; an unexpected end belongs to the last line with text, not to one after it."""
    mark = error.problem_mark or error.context_mark
    return min(mark.line, text.rstrip().count("\n")) + 1 if mark else None
