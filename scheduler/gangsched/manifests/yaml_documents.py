"""YAML to plain dicts, lists and scalars, as Kubernetes reads it, in bounded memory.

Built on the parser's events instead of its object constructor: it is faster, needs no recursion, and sees duplicate
keys, tags and aliases where they stand. Scalars resolve as in the API server's parser: times stay text, sexagesimal
numbers do not exist, keys are always text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from attrs import define, field

from gangsched.manifests.errors import InputError, Step, describe, found, printable

MAX_DEPTH = 200
"""Deepest nesting; no object of the API comes near."""
MAX_ALIASED = 1_000_000
"""Values that the aliases of one file may repeat, counted at every use: an alias bomb stops here."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SUSPECTS = frozenset("-+.0123456789~nNtTfFyYoO")  # first characters of plain scalars that may not be text
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
}
_INTEGER = re.compile(r"([-+]?)(?:0b([01_]+)|0x([0-9a-fA-F_]+)|0o?([0-7_]+)|([1-9][0-9_]*|0))", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_INFINITY = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_TAGS = {"tag:yaml.org,2002:str", "!"}
_RESOLVED_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null")}
_LONGEST_NUMBER = 400

Lines = dict[int, dict[Step, int]]
"""id of a container -> line of each of its keys or items."""


def yaml_documents(text: str) -> Iterator[object]:
    """The documents of ``text`` in order. Raises InputError; ``where`` holds the line as text."""
    return (document for document, _ in _documents(text, with_lines=False))


def yaml_line(text: str, index: int, path: tuple[Step, ...]) -> int:
    """Line of the value at ``path`` in document ``index``, or of the nearest value around it that exists."""
    for number, (document, lines) in enumerate(_documents(text, with_lines=True)):
        if number == index:
            return _line_of(document, lines, path)
    return 1


def _line_of(document: Any, lines: Lines, path: tuple[Step, ...]) -> int:
    line = lines.get(0, {}).get("", 1)
    node = document
    for step in path:
        known = lines.get(id(node), {})
        if step not in known:
            break
        line = known[step]
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            break
    return line


def _documents(text: str, with_lines: bool) -> Iterator[tuple[object, Lines]]:
    events = yaml.parse(text, Loader=_LOADER)
    composer = _Composer(events)
    try:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                composer.lines = {0: {"": event.start_mark.line + 1}} if with_lines else None
                yield composer.document(), composer.lines or {}
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(text, error) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _at(line, InputError(f"found a character that YAML forbids ({error.reason})")) from None
    except RecursionError:
        raise InputError("found values nested too deeply") from None


@define
class _Frame:
    """An open list or object."""

    container: Any
    key: str | None = None
    merged: list[object] = field(factory=list)
    anchor: str | None = None
    count: int = 0


@define
class _Composer:
    """Puts the events of a stream together, one document a call."""

    events: Iterator[Any]
    lines: Lines | None = None
    aliased: int = 0
    count: int = 0
    anchors: dict[str, tuple[object, int]] = field(factory=dict)
    open_anchors: dict[str, None] = field(factory=dict)

    def document(self) -> object:
        """The next document; the start event was consumed."""
        self.anchors = {}
        stack: list[_Frame] = []
        root: object = None
        for event in self.events:
            kind = event.__class__
            if kind is yaml.ScalarEvent:
                if stack and stack[-1].key is None and stack[-1].container.__class__ is dict:
                    self._take_key(stack, event)
                    continue
                value = self._scalar(event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._open(stack, event, {} if kind is yaml.MappingStartEvent else [])
                continue
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                value = self._close(stack.pop())
            elif kind is yaml.AliasEvent:
                value = self._alias(event)
            elif kind is yaml.DocumentEndEvent:
                return root
            else:
                continue
            self.count += 1
            if not stack:
                root = value
            else:
                self._attach(stack[-1], value, event)
        return root

    def _take_key(self, stack: list[_Frame], event: Any) -> None:
        frame = stack[-1]
        key = event.value
        if event.tag is not None and event.tag not in _TAGS:
            raise _bad_tag(event)
        if key in frame.container:
            steps: list[Step] = [len(f.container) if f.key is None else f.key for f in stack[:-1]]
            raise _at(_line(event), InputError("found this key twice", *steps, printable(key)))
        frame.key = key
        if self.lines is not None:
            self.lines.setdefault(id(frame.container), {})[key] = _line(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = (key, 1)

    def _attach(self, frame: _Frame, value: object, event: Any) -> None:
        container = frame.container
        if container.__class__ is list:
            if self.lines is not None:
                self.lines.setdefault(id(container), {}).setdefault(len(container), _line(event))
            container.append(value)
        elif frame.key is None:
            hint = "to fill in a {{template}} first" if isinstance(value, dict) else ""
            raise _at(_line(event), found(f"{describe(value)} as a key", "a text key", hint=hint))
        elif frame.key == "<<":
            frame.merged.extend(value if isinstance(value, list) else [value])
            frame.key = None
        else:
            container[frame.key] = value
            frame.key = None

    def _open(self, stack: list[_Frame], event: Any, container: Any) -> None:
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
            raise _bad_tag(event)
        if len(stack) >= MAX_DEPTH:
            raise _at(_line(event), found(f"values nested more than {MAX_DEPTH} deep", "what the API knows"))
        if self.lines is not None and stack and isinstance(stack[-1].container, list):
            outer = stack[-1].container
            self.lines.setdefault(id(outer), {})[len(outer)] = _line(event)
        if event.anchor is not None:
            self.open_anchors[event.anchor] = None
        stack.append(_Frame(container, anchor=event.anchor, count=self.count))

    def _close(self, frame: _Frame) -> object:
        for merged in frame.merged:
            if not isinstance(merged, dict):
                raise found(describe(merged), "an object to merge", "<<")
            for key, value in merged.items():
                frame.container.setdefault(key, value)
        if frame.anchor is not None:
            self.open_anchors.pop(frame.anchor, None)
            self.anchors[frame.anchor] = (frame.container, self.count - frame.count + 1)
        return frame.container

    def _alias(self, event: Any) -> object:
        if event.anchor in self.open_anchors:
            raise _at(_line(event), InputError(f"found an alias inside its own anchor &{printable(event.anchor)}"))
        if event.anchor not in self.anchors:
            raise _at(_line(event), InputError(f"found an alias of unknown anchor &{printable(event.anchor)}"))
        value, size = self.anchors[event.anchor]
        self.count += size
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            raise _at(_line(event), found("aliases that repeat too many values", f"{MAX_ALIASED} values a file"))
        return value

    def _scalar(self, event: Any) -> object:
        value: object = event.value
        if event.tag is None:
            if event.implicit[0]:
                value = _resolved(event.value)
        elif event.tag in _RESOLVED_TAGS:
            value = _resolved(event.value)
        elif event.tag not in _TAGS:
            raise _bad_tag(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        return value


def _resolved(text: str) -> object:
    """What a plain scalar means in YAML as Kubernetes reads it."""
    if text and text[0] not in _SUSPECTS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    match = _INTEGER.fullmatch(text)
    if match is not None:
        sign, *digits = match.groups()
        for base, part in zip((2, 16, 8, 10), digits, strict=True):
            if part is not None and part.strip("_"):
                number = int(part.replace("_", ""), base)
                return -number if sign == "-" else number
    if _FLOAT.fullmatch(text):
        return float(text)
    infinity = _INFINITY.fullmatch(text)
    if infinity is not None:
        return float(f"{infinity[1]}inf")
    return float("nan") if text in (".nan", ".NaN", ".NAN") else text


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _at(line: int, error: InputError) -> InputError:
    error.where = str(line)
    return error


def _bad_tag(event: Any) -> InputError:
    return _at(_line(event), found(f"tag {printable(event.tag)}", "plain YAML without tags"))


def _syntax_error(text: str, error: yaml.MarkedYAMLError) -> InputError:
    mark = error.problem_mark or error.context_mark
    line = int(getattr(mark, "line", 0))
    rows = text.splitlines()
    if line < len(rows) and rows[line].lstrip(" ").startswith("\t"):
        return _at(line + 1, found("a tab", "spaces for indentation"))
    reason = ", ".join(part for part in (error.context, error.problem) if part)
    return _at(line + 1, InputError(f"found broken YAML: {printable(reason)}"))
