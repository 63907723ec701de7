"""The native trace: a header line, then one event a line (architecture.md §8)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from gangsched.manifests import Decoder, Defaults
from gangsched.manifests.errors import InputError, describe, found, missing, not_one_of, printable, unknown_field
from gangsched.manifests.kinds import KIND_NAMES
from gangsched.replay.events import CLUSTER_WIDE, Identity, TraceEvent, TraceHeader
from gangsched.replay.reading import TraceText
from gangsched.replay.times import parse_seconds
from gangsched_framework.errors import GangschedError
from gangsched_framework.objects import ClusterObject

VERSION = 1
_HEADER_FIELDS = ("gangsched_trace", "name", "start", "config", "feature_gates")
_VERBS = ("add", "update", "delete")
_EVENT_FIELDS = ("t", *_VERBS)
_IDENTITY_FIELDS = ("apiVersion", "kind", "namespace", "name")
_DEEPEST = 100
"""Levels of nesting of one line; no API object comes near it."""


class WrittenFloat(float):
    """A number with the digits it was written with, so that a time need not go through a float."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> WrittenFloat:
        number = super().__new__(cls, text)
        number.text = text
        return number


class NativeTrace:
    """Reads a native trace. The header is read at once, events as they are asked for."""

    def __init__(self, text: TraceText) -> None:
        self._text = text
        self._complaints = text.complaints
        self._newest: dict[Identity, ClusterObject] = {}
        self._skipped: set[Identity] = set()  # objects of kinds that are not read
        line, header = text.first
        try:
            self._header = _header(parse_line(header))
            self._decoder = _decoder(self._header.start)
        except InputError as problem:
            raise self._complaints.at(line, problem) from None

    @property
    def header(self) -> TraceHeader:
        return self._header

    @property
    def decoder(self) -> Decoder:
        return self._decoder

    def sha256(self) -> str:
        return self._text.sha256()

    def events(self) -> Iterator[TraceEvent]:
        """Every event of the trace; what leniency skips is left out."""
        last = 0
        for line, text in self._text.rest():
            try:
                time, verb, body = _event(parse_line(text))
                if time < last:
                    raise found("a time before that of the line above", "times that never decrease", "t")
                events = list(self._events_of(time, line, verb, body))
            except GangschedError as problem:
                self._complaints.add(line, problem)
                continue
            last = time
            yield from events

    def _events_of(self, time: int, line: int, verb: str, body: Any) -> Iterator[TraceEvent]:
        if verb == "delete":
            identity = _identity(body)
            self._decoder.forget(identity.kind, identity.name)
            if self._newest.pop(identity, None) is None and identity in self._skipped:
                self._skipped.discard(identity)
                return
            if identity.kind not in KIND_NAMES:
                raise not_one_of(identity.kind, KIND_NAMES, "delete", "kind")
            yield TraceEvent(time, line, "delete", identity)
            return
        if not isinstance(body, Mapping):
            raise found(describe(body), "an object of the Kubernetes API", verb)
        current = self._newest.get(_named(body)) if verb == "update" else None
        place = f"{self._complaints.name}:{line}"
        try:
            objects = self._decoder.decode(body, where=place, now=time, current=current)
        except InputError as problem:
            raise problem.under(verb) from None
        if not objects or "items" in body:
            self._skipped.update(each for each in _claimed(body) if not objects or each.kind not in KIND_NAMES)
        for obj in objects:
            identity = Identity.of(obj)
            self._newest[identity] = obj
            yield TraceEvent(time, line, "add" if verb == "add" else "update", identity, obj)


def parse_line(text: str) -> Any:
    """The JSON value of a line. Raises InputError: no JSON, a key twice, NaN, absurd numbers or nesting."""
    try:
        value = json.loads(text, parse_float=WrittenFloat, parse_constant=_refuse, object_pairs_hook=_without_twins)
    except json.JSONDecodeError as problem:
        raise InputError(f"found no JSON at column {problem.colno} ({problem.msg}), allowed one JSON object") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # an integer of thousands of digits
        raise found("a number of thousands of digits", "numbers of reasonable size") from None
    if not isinstance(value, Mapping):
        raise found(describe(value), "one JSON object")
    if text.count("{") + text.count("[") > _DEEPEST:
        _measure_depth(value)
    if "\\u" in text:
        _check_unicode(value)
    return value


def _refuse(name: str) -> NoReturn:
    raise found(name, "finite numbers")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: dict[str, None] = {}
        for key, _ in pairs:
            if key in seen:
                raise found(f'the key "{printable(key)}" twice', "each key once")
            seen[key] = None
    return result


def _measure_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise _too_deep()
        level = [
            item
            for parent in level
            for item in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(item, dict | list)
        ]


def _check_unicode(value: Any) -> None:
    """JSON can spell halves of characters (``\\ud800``), which no text holds."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise found("half a surrogate pair", "Unicode text") from None


def _too_deep() -> InputError:
    return found("deeper nesting", f"at most {_DEEPEST} levels")


# --- the header -----------------------------------------------------------------------------------------------------


def _header(value: Mapping[str, Any]) -> TraceHeader:
    if "gangsched_trace" not in value:
        raise missing("gangsched_trace", f'a header line like {{"gangsched_trace": {VERSION}, "name": "…"}}')
    version = value["gangsched_trace"]
    if version != VERSION or not isinstance(version, int) or isinstance(version, bool):
        raise found(f"version {describe(version)}", f"version {VERSION}", "gangsched_trace")
    _known_fields(value, "the header", _HEADER_FIELDS)
    gates = _typed(value, "feature_gates", dict, "an object of gate names and true or false", {})
    for name, on in gates.items():
        if not isinstance(on, bool):
            raise found(describe(on), "true or false").under("feature_gates", name)
    return TraceHeader(
        "native",
        _typed(value, "name", str, "text", ""),
        _typed(value, "start", str, "a time such as 2026-01-01T00:00:00Z", ""),
        _typed(value, "config", dict, "a KubeSchedulerConfiguration", None),
        gates,
    )


def _typed(value: Mapping[str, Any], name: str, kind: type, allowed: str, default: Any) -> Any:
    item = value.get(name, default)
    if item is not default and not isinstance(item, kind):
        raise found(describe(item), allowed).under(name)
    return item


def _decoder(start: str) -> Decoder:
    if not start:
        return Decoder()
    try:
        return Decoder(Defaults(start=start))
    except InputError as problem:
        raise problem.under("start") from None


# --- events ---------------------------------------------------------------------------------------------------------


def _event(value: Mapping[str, Any]) -> tuple[int, str, Any]:
    """(time, verb, body) of one line."""
    _known_fields(value, "an event", _EVENT_FIELDS)
    verbs = [verb for verb in _VERBS if verb in value]
    if len(verbs) != 1:
        raise found(" and ".join(verbs) or "no verb", f"exactly one of {', '.join(_VERBS)}")
    if "t" not in value:
        raise missing("t", "the seconds since the start of the trace")
    return _time(value["t"]), verbs[0], value[verbs[0]]


def _time(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | WrittenFloat):
        raise found(describe(value), "a number of seconds", "t")
    try:
        return parse_seconds(value.text if isinstance(value, WrittenFloat) else str(value))
    except ValueError as problem:
        raise found(describe(value), f"seconds since the start of the trace ({problem})", "t") from None


def _identity(body: Any) -> Identity:
    if not isinstance(body, Mapping):
        raise found(describe(body), "an object with kind, namespace and name", "delete")
    try:
        _known_fields(body, "a deletion", _IDENTITY_FIELDS)
        kind, name = _word(body, "kind"), _word(body, "name")
        namespace = "" if kind in CLUSTER_WIDE else _word(body, "namespace") if "namespace" in body else "default"
    except InputError as problem:
        raise problem.under("delete") from None
    return Identity(kind, namespace, name)


def _claimed(body: Mapping[str, Any]) -> list[Identity]:
    """The identities that a decoded manifest, or each item of a list, claims."""
    kind, items = body["kind"], body.get("items")
    if not kind.endswith("List") or items is None:
        return [_named(body)]
    return [_named({"kind": kind.removesuffix("List"), **item}) for item in items]


def _named(body: Mapping[str, Any]) -> Identity:
    """The identity a manifest claims; whatever is wrong with it is the decoder's to find."""
    meta = body.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    kind = str(body.get("kind"))
    namespace = "" if kind in CLUSTER_WIDE else str(meta.get("namespace") or "default")
    return Identity(kind, namespace, str(meta.get("name")))


def _word(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise found(describe(value) if name in body else "nothing", "text").under(name)
    return value


def _known_fields(value: Mapping[str, Any], owner: str, known: tuple[str, ...]) -> None:
    for name in value:
        if name not in known:
            raise unknown_field(name, owner, known)
