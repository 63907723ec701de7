"""Durations as Go writes them: ``10s``, ``1m30s``, ``-1.5h``."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)"
_is_duration = re.compile(rf"[-+]?(?:0|(?:{_PART})+)").fullmatch
_parts = re.compile(_PART).findall


def canonical(nanos: int) -> str:
    """The duration as Go prints it: ``10m0s``, ``1.5s``, ``250ms``, ``0s``."""
    sign, rest = "-" if nanos < 0 else "", abs(nanos)
    if rest < _UNITS["s"]:
        unit = next((unit for unit in ("ms", "µs") if rest >= _UNITS[unit]), "ns") if rest else "s"
        return f"{sign}{_decimal(rest, _UNITS[unit])}{unit}"
    minutes, rest = divmod(rest, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, _UNITS['s'])}s"
    longer = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return sign + longer + seconds


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    return f"{whole}.{str(unit + rest)[1:]}".rstrip("0").rstrip(".")


def nanoseconds(text: str) -> int | None:
    """The duration, fractions of a nanosecond dropped; None when the text is none or leaves 64 bits."""
    if not _is_duration(text):
        return None
    total = int(sum(Fraction("0" + number) * _UNITS[unit] for number, unit in _parts(text)))
    return None if total >= 2**63 else -total if text.startswith("-") else total
