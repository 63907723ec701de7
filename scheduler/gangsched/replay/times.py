"""Times of traces: decimal texts to integer engine nanoseconds, never through a float (architecture.md §4)."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation

SECOND = 1_000_000_000
DAY = 86_400 * SECOND
LATEST = 9_223_372_036 * SECOND
"""Last nanosecond a trace may name (292 years)."""

_LONGEST = 60  # characters of a number; more digits than that mean nothing in a time
_EXACT = Context(prec=100)
_PARTS = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|m|s|us|µs|ns)")
_DAYS = re.compile(r"([0-9]{1,9})d ?")
_GAP = re.compile(r"(?<=[a-z]) (?=[0-9.])")
_UNITS = {"h": 3600 * SECOND, "m": 60 * SECOND, "s": SECOND, "ms": 10**6, "us": 1000, "µs": 1000, "ns": 1}


def parse_seconds(text: str) -> int:
    """Nanoseconds of a decimal number of seconds, rounded to the nearest one (half to even).

    Raises ValueError with the reason for what is no finite number, negative or beyond ``LATEST``.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"more than {_LONGEST} characters")
    try:
        # Decimal by itself takes the digits of any script, and underscores.
        amount = Decimal(text if text.isascii() and "_" not in text else "")
    except InvalidOperation:
        raise ValueError("not a decimal number") from None
    if not amount.is_finite():
        raise ValueError("not a finite number")
    return _nanoseconds(amount, SECOND)


def parse_duration(text: str) -> int:
    """Nanoseconds of a duration as Kubernetes writes it: ``300s``, ``1h30m``, ``1.5s``, ``250ms``, ``0``.

    Raises ValueError with the reason.
    """
    if text == "0":
        return 0
    total, position = 0, 0
    while position < len(text) <= _LONGEST and (part := _PARTS.match(text, position)):
        total += _nanoseconds(Decimal(part[1]), _UNITS[part[2]])
        position = part.end()
    if not text or position < len(text):
        raise ValueError("numbers with units h, m, s, ms, us or ns")
    if total > LATEST:
        raise ValueError(f"longer than {LATEST // SECOND} s")
    return total


def parse_span(text: str) -> int:
    """``parse_duration`` that also takes days and spaces, as our reports show durations: ``1d12h``, ``2d 13h``."""
    days = _DAYS.match(text)
    rest = _GAP.sub("", text[days.end() :] if days else text)
    total = (int(days[1]) * DAY if days else 0) + (parse_duration(rest) if rest or not days else 0)
    if total > LATEST:
        raise ValueError(f"longer than {LATEST // SECOND} s")
    return total


def seconds(nanoseconds: int) -> int | float:
    """Engine time for people and JSON: seconds, a whole number where it is one."""
    whole, rest = divmod(nanoseconds, SECOND)
    return nanoseconds / SECOND if rest else whole


def _nanoseconds(amount: Decimal, unit: int) -> int:
    if amount < 0:
        raise ValueError("must not be negative")
    if amount > LATEST // unit:
        raise ValueError(f"beyond {LATEST // SECOND} s")
    product = _EXACT.multiply(amount, Decimal(unit))
    return int(product.to_integral_value(ROUND_HALF_EVEN, _EXACT))
