"""Read the lines of a trace: plain or gzip, bounded memory, every failure with its line."""

from __future__ import annotations

import gzip
import hashlib
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from gangsched.manifests.errors import InputError, found
from gangsched.manifests.sources import STDIN, shown
from gangsched.replay.complaints import Complaints
from gangsched_framework.errors import unreadable

LONGEST_LINE = 16 * 2**20
"""Bytes of one line; a longer one is refused before it fills the memory."""

_GZIP = b"\x1f\x8b"


def read_lines(complaints: Complaints) -> Iterator[tuple[int, str]]:
    """(number from 1, text without its end) of every line that is not blank.

    A line that is no UTF-8 or too long is a complaint; so is a gzip file that is damaged or cut, which ends the
    reading. Raises InputError when the file cannot be opened at all, or is a pipe: traces are opened more than once.
    """
    number = 0
    if stat.S_ISFIFO(_mode(complaints.path)):
        raise InputError("found a pipe, allowed a file", where=complaints.path)
    if complaints.path == STDIN and not Path(STDIN).exists():
        raise InputError("found standard input, allowed a file, as a trace is read more than once", where=shown(STDIN))
    try:
        with _open(complaints.path) as stream:
            for number, raw in enumerate(_raw_lines(stream), start=1):
                text = _decoded(raw, number, complaints)
                if text:
                    yield number, text
    except (OSError, EOFError, zlib.error) as problem:
        if number == 0 and isinstance(problem, OSError) and problem.errno is not None:
            raise InputError(unreadable(problem), where=complaints.path) from None
        complaints.add(number + 1, InputError(f"cannot be read on: {problem}"))


def first_line(path: str) -> str:
    """The first line of a trace that is not blank; raises InputError when there is none."""
    for _, text in read_lines(Complaints(path)):
        return text
    raise Complaints(path).at(1, found("an empty file", "a trace with its header line"))


def sha256_of(path: str | Path) -> str:
    """SHA-256 of the bytes of a file as it lies there."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _mode(path: str) -> int:
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):  # ValueError: a path with a null character
        return 0  # opening it says why


def _open(path: str) -> BinaryIO:
    with Path(path).open("rb") as stream:
        zipped = stream.read(2) == _GZIP
    return cast("BinaryIO", gzip.open(path, "rb")) if zipped else Path(path).open("rb")


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
