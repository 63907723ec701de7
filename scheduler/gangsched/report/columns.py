"""Plain text in aligned columns, as kubectl prints it: the same on a terminal and in a pipe."""

from __future__ import annotations

from collections.abc import Sequence

_GAP = 3
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
_SECOND = 1_000_000_000


def columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """``rows`` under each other, the columns as wide as their longest cell; ``right`` names columns aligned right."""
    count = max((len(row) for row in rows), default=0)
    widths = [max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(count)]
    lines = []
    for row in rows:
        cells = [cell.rjust(widths[i]) if i in right else cell.ljust(widths[i]) for i, cell in enumerate(row)]
        lines.append((" " * _GAP).join(cells).rstrip())
    return "\n".join(lines)


def duration(nanoseconds: int) -> str:
    """A duration for people: the two largest units (``2h 5m``), ``0s``; below a second ``0.25s``."""
    seconds, rest = divmod(nanoseconds, _SECOND)
    if seconds == 0 and rest:
        return f"{nanoseconds / _SECOND:.3g}s"
    parts: list[str] = []
    for name, size in _UNITS:
        amount, seconds = divmod(seconds, size)
        if amount or (name == "s" and not parts):
            parts.append(f"{amount}{name}")
        elif parts:
            break
    return " ".join(parts[:2])


def grouped(number: int) -> str:
    """``12,345``."""
    return f"{number:,}"
