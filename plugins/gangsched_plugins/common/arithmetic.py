"""Arithmetic as the real scheduler does it, where Python's differs (spec node-plugins.md §9)."""

from __future__ import annotations

import math


def truncating_division(dividend: int, divisor: int) -> int:
    """Integer division rounded toward zero (Python's ``//`` rounds down)."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def round_half_away(number: float) -> int:
    """Nearest integer, halves away from zero (Python's ``round`` takes them to even)."""
    whole = math.trunc(number)
    if abs(number - whole) >= 0.5:
        return whole + (1 if number > 0 else -1)
    return whole
