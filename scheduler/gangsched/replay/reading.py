"""Read the lines of a trace: plain or gzip, once and in bounded memory, every failure with its line."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from gangsched.manifests.errors import InputError, found
from gangsched.manifests.sources import STDIN, standard_input
from gangsched.replay.complaints import Complaints
from gangsched_framework.errors import unreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST_LINE = 16 * 2**20
"""Bytes of one line; a longer one is refused before it fills the memory."""

_GZIP = b"\x1f\x8b"
_BLOCK = 2**16


class TraceText:
    """The text of one trace, read once from its beginning, so that it may come through a pipe.

    ``first`` is (number from 1, text) of the first line that is not blank. Raises InputError when the trace cannot be
    opened and, with and without leniency, when it is empty or the lines up to its first cannot be read.
    """

    def __init__(self, complaints: Complaints) -> None:
        self.complaints = complaints
        try:
            self._bytes = _Digested(_open(complaints.path))
        except (OSError, ValueError) as problem:  # ValueError: a path with a null character
            raise InputError(unreadable(problem), where=complaints.name) from None
        self._stream = _unpacked(self._bytes)
        self._lines = self._read()
        first = next(self._lines, None)
        if first is None:
            raise complaints.at(1, found("an empty file", "a trace with its header line"))
        self.first = first

    def rest(self) -> Iterator[tuple[int, str]]:
        """(number, text without its end) of every line after the first that is not blank; once only.

        A line that is no UTF-8 or too long is a complaint; so is a gzip file that is damaged or cut, which ends the
        reading.
        """
        return self._lines

    def sha256(self) -> str:
        """SHA-256 of all bytes of the trace as they came; what is still unread is read for it."""
        return self._bytes.sha256()

    def _read(self) -> Iterator[tuple[int, str]]:
        complaints = Complaints(self.complaints.path)  # a bad header is never skipped
        number = 0
        try:
            for number, raw in enumerate(_raw_lines(self._stream), start=1):
                text = _decoded(raw, number, complaints)
                if text:
                    complaints = self.complaints
                    yield number, text
        except (OSError, EOFError, zlib.error) as problem:
            if number == 0 and isinstance(problem, OSError) and problem.errno is not None:
                raise InputError(unreadable(problem), where=complaints.name) from None
            complaints.add(number + 1, InputError(f"cannot be read on: {problem}"))


class _Digested(io.RawIOBase):
    """The bytes of ``stream`` and their SHA-256 so far; ``zipped`` tells whether they begin as gzip does."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._sum = hashlib.sha256()
        self._ahead = stream.read(len(_GZIP))
        self.zipped = self._ahead == _GZIP

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        block = self._ahead[: len(view)] or cast("io.BufferedIOBase", self._stream).read1(len(view))
        self._ahead = self._ahead[len(block) :]
        self._sum.update(block)
        view[: len(block)] = block
        return len(block)

    def sha256(self) -> str:
        """The digest of everything, read to its end for it."""
        while self.read(_BLOCK):
            pass
        return self._sum.hexdigest()

    def close(self) -> None:
        """Also of ``stream``."""
        self._stream.close()
        super().close()


def sha256_of(path: str | Path) -> str:
    """SHA-256 of the bytes of a file as it lies there."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _open(path: str) -> BinaryIO:
    return standard_input() if path == STDIN else Path(path).open("rb")


def _unpacked(stream: _Digested) -> BinaryIO:
    plain = cast("BinaryIO", io.BufferedReader(stream, _BLOCK))
    return cast("BinaryIO", gzip.open(plain, "rb")) if stream.zipped else plain


def _raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    while raw := stream.readline(LONGEST_LINE + 1):
        yield raw
        while len(raw) > LONGEST_LINE and not raw.endswith(b"\n"):
            raw = stream.readline(LONGEST_LINE + 1)


def _decoded(raw: bytes, number: int, complaints: Complaints) -> str:
    if len(raw) > LONGEST_LINE:
        complaints.add(number, found(f"a line of more than {LONGEST_LINE} bytes", "shorter ones"))
        return ""
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as problem:
        complaints.add(number, found(f"bytes that are not UTF-8 at byte {problem.start + 1} of the line", "UTF-8"))
        return ""
