"""Files, directories and standard input as texts with documents in them (architecture.md §7).

A document is read by the fast parser; only when something is wrong the text is read again to find the line.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, BinaryIO

from attrs import frozen

from gangsched.manifests.errors import InputError, Step, found
from gangsched.manifests.json_documents import json_documents, json_line
from gangsched_framework import errors, strict_yaml, yaml_lines

STDIN = "-"
MAX_BYTES = 2**30
"""Largest text that is read, after decompression: a small archive must not fill the memory."""

_ENDINGS = (".yaml", ".yml", ".json")
_GZIP = b"\x1f\x8b"
_WIDE_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x00\x00\xfe\xff": "UTF-32"}
_BYTE_ORDER_MARK = "\ufeff"


@frozen
class Source:
    """A text and its name as errors show it."""

    name: str
    text: str
    is_json: bool

    def documents(self) -> Iterator[object]:
        """Its documents in order, plain values. Raises InputError with ``where``."""
        if self.is_json:
            yield from json_documents(self.text, self.name)
            return
        try:
            documents = strict_yaml.parse(self.text, self.name)
        except errors.InputError as error:
            place = self.name if error.line is None else f"{self.name}:{error.line}"
            raise InputError(error.message, where=place) from None
        yield from documents

    def place(self, index: int, path: Sequence[Step]) -> str:
        """``FILE:LINE`` of the value at ``path`` in document ``index``."""
        line = json_line(self.text, index, path) if self.is_json else yaml_lines.line_of(self.text, index, path)
        return self.name if line is None else f"{self.name}:{line}"


def open_sources(paths: Sequence[str], stdin: IO[bytes] | IO[str] | None = None) -> Iterator[Source]:
    """The sources of ``paths`` in order: files, directories (their manifests in name order), ``-`` for ``stdin``.

    A name or content of gzip is unpacked. Raises InputError for what cannot be read, and for ``-`` given twice.
    """
    if paths.count(STDIN) > 1:
        raise found(f"{STDIN} twice", "standard input once: it is empty after that", where=shown(STDIN))
    for path in paths:
        if path == STDIN:
            yield source_of(shown(STDIN), _read(stdin or standard_input(), shown(STDIN)))
        elif os.path.isdir(path):
            for name in manifests_in(path):
                yield _open(name)
        else:
            yield _open(path)


def standard_input() -> BinaryIO:
    """The bytes of standard input. Raises InputError when it was closed before we began (``<&-``)."""
    if sys.stdin is None:
        raise InputError("cannot be read: it is closed", where=shown(STDIN))
    return sys.stdin.buffer


def shown(path: str) -> str:
    """How errors call a source."""
    return "<stdin>" if path == STDIN else errors.on_one_line(path) or '""'


def source_of(name: str, raw: bytes | str) -> Source:
    """A source of what was read; ``name`` decides between JSON and YAML, else the first character does."""
    text = raw if isinstance(raw, str) else _decoded(name, _unpacked(name, raw))
    text = text.removeprefix(_BYTE_ORDER_MARK)
    plain = name.removesuffix(".gz")
    is_json = plain.endswith(".json") or (not plain.endswith(_ENDINGS) and text.lstrip()[:1] in ("{", "["))
    return Source(name, text, is_json)


def manifests_in(path: str) -> list[str]:
    """The files of a folder that are read, in name order. Raises InputError when there is none."""
    try:
        names = sorted(name for name in os.listdir(path) if name.removesuffix(".gz").endswith(_ENDINGS))
    except OSError as error:
        raise _unreadable(path, error) from None
    if not names:
        raise InputError("found no manifest, allowed *.yaml, *.yml, *.json, each also with .gz", where=shown(path))
    return [os.path.join(path, name) for name in names]


def _open(path: str) -> Source:
    try:
        with open(path, "rb") as stream:
            return source_of(path, _read(stream, path))
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        raise _unreadable(path, error) from None


def _read(stream: IO[bytes] | IO[str], name: str) -> bytes | str:
    try:
        raw = stream.read(MAX_BYTES + 1)
    except UnicodeDecodeError:
        raise InputError("found bytes that are not UTF-8, allowed UTF-8", where=name) from None
    if len(raw) > MAX_BYTES:
        raise _too_large(name)
    return raw


def _unpacked(name: str, raw: bytes) -> bytes:
    if not raw.startswith(_GZIP) and not name.endswith(".gz"):
        return raw
    if not raw:
        raise _cut(name)
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    parts: list[bytes] = []
    room = MAX_BYTES + 1
    while raw:
        try:
            part = unpack.decompress(raw, room)
        except zlib.error as error:
            raise InputError(f"found broken gzip ({error})", where=name) from None
        parts.append(part)
        room -= len(part)
        if room <= 0:
            raise _too_large(name)
        if not unpack.eof:
            raise _cut(name)
        raw = unpack.unused_data.lstrip(b"\x00")  # a gzip file may have several members, and padding
        unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    return b"".join(parts)


def _cut(name: str) -> InputError:
    return InputError("found a cut gzip file", where=name)


def _decoded(name: str, raw: bytes) -> str:
    for mark, encoding in _WIDE_MARKS.items():
        if raw.startswith(mark):
            raise found(encoding, "UTF-8", where=f"{name}:1")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise found(f"byte 0x{raw[error.start]:02x}", "UTF-8 text", where=f"{name}:{line}") from None


def _unreadable(path: str, error: Exception) -> InputError:
    return InputError(errors.unreadable(error), where=shown(path))


def _too_large(name: str) -> InputError:
    return found("more", f"{MAX_BYTES // 2**20} MiB of text", where=name)
