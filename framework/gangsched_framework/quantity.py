"""Kubernetes quantities: ``500m``, ``1.5Gi``, ``12e6`` as exact integers (spec node-plugins.md §3.2).

Every amount is an integer of **nano-units**, the smallest step a quantity has. ``parse_quantity`` reads all that the
real parser reads; ``parse_amount`` is the strict reader for amounts of resources.
"""

from __future__ import annotations

import re
from enum import Enum

from attrs import field, frozen

UNIT = 10**9
"""Nano-units in one unit (one CPU, one byte, one device)."""
MILLI = 10**6
"""Nano-units in one thousandth of a unit."""
MAX_INT64 = 2**63 - 1

WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
WRONG_SUFFIX = "unable to parse quantity's suffix"

# Tighter than the expression of the error text, as the real parser is: one point at most, digits may be missing.
_GRAMMAR = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_OF = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_OF = {power: suffix for suffix, power in _BINARY.items()} | {0: ""}
_LONGEST = 1000  # digits or exponent; beyond it no amount makes sense, and arithmetic would take for ever


class Format(Enum):
    """The family of suffixes a quantity is written in; the value is the name Kubernetes uses."""

    DECIMAL = "DecimalSI"
    BINARY = "BinarySI"
    EXPONENT = "DecimalExponent"


@frozen
class Quantity:
    """``nano`` nano-units, written in ``format``. ``text`` is what was parsed; it does not count for equality."""

    nano: int
    format: Format
    text: str = field(default="", eq=False)

    @property
    def value(self) -> int:
        """Whole units, rounded away from zero (spec §3.2.3)."""
        return round_away(self.nano, UNIT)

    @property
    def milli_value(self) -> int:
        """Thousandths, rounded away from zero (spec §3.2.3)."""
        return round_away(self.nano, MILLI)

    @property
    def canonical(self) -> str:
        """The text with the largest suffix that needs no fraction, in the same family (spec §3.2.5)."""
        number, power, binary = _normal_form(self.nano, self.format)
        if number and _written_as(self.text) == (number, power, binary):
            return self.text  # spec §3.2.5: what looks canonical stays as written, "00012" and "5." included
        if binary:
            return f"{number}{_BINARY_OF[power]}"
        if self.format is Format.EXPONENT:
            return f"{number}e{power}" if power else f"{number}"
        return f"{number}{_DECIMAL_OF[power]}"


def parse_quantity(text: str) -> Quantity:
    """Parse as the real parser does: no white space, negative numbers and digitless zeros allowed (spec §3.2.4).

    Raises ValueError with one of the two texts of spec §3.2.1, or for numbers of absurd length.
    """
    sign, whole, fraction, suffix = _split(text)
    if len(text) > _LONGEST:
        raise ValueError(f"quantity has more than {_LONGEST} characters")
    digits = int(whole + fraction or "0")
    power, binary, form = _suffix(suffix)
    if power > _LONGEST:
        raise ValueError(f"quantity has an exponent above {_LONGEST}")
    if binary:
        nano = round_away(digits * UNIT << power, 10 ** len(fraction))
        nano = min(nano, MAX_INT64 * UNIT)  # spec §3.2.2
        if 0 < nano < UNIT:
            form = Format.DECIMAL  # a binary quantity below one unit changes its family ("0.0001Ki" is 102400u)
    else:
        nano = _scaled(digits, 9 + power - len(fraction))
    return Quantity(-nano if sign == "-" else nano, form, text)


def parse_amount(text: str, resource: str = "") -> int:
    """The nano-units of an amount of a resource, as a manifest gives it: white space around it is dropped.

    Stricter than the real scheduler, by the recommendation of spec §3.2.4: raises ValueError, with the reason and
    without the text, for negative amounts, for texts without a digit before the suffix (they read as 0), and for
    amounts whose value (``resource`` "cpu": milli-value) exceeds 2**63 - 1.
    """
    text = text.strip()
    quantity = parse_quantity(text)
    _, whole, fraction, _ = _split(text)
    if not whole and not fraction:
        raise ValueError("quantity has no digit before its suffix")
    if quantity.nano < 0:
        raise ValueError("must not be negative")
    if (quantity.milli_value if resource == "cpu" else quantity.value) > MAX_INT64:
        raise ValueError(f"must not exceed 2**63 - 1{' milli-units' if resource == 'cpu' else ''}")
    return quantity.nano


def round_away(amount: int, unit: int) -> int:
    """``amount / unit`` as an integer, away from zero."""
    return -(-amount // unit) if amount >= 0 else amount // unit


def round_up_to_milli(nano: int) -> int:
    """``nano`` rounded to whole milli-units, away from zero: what the API server does first (spec §3.1.3)."""
    return round_away(nano, MILLI) * MILLI


def _split(text: str) -> tuple[str, str, str, str]:
    match = _GRAMMAR.fullmatch(text)
    if match is None or not text:
        raise ValueError(WRONG_FORMAT)
    sign, whole, fraction, suffix = match.groups()
    return sign, whole, fraction or "", suffix


def _suffix(suffix: str) -> tuple[int, bool, Format]:
    """(power, whether of two, family)."""
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], False, Format.DECIMAL
    if suffix in _BINARY:
        return _BINARY[suffix], True, Format.BINARY
    match = _EXPONENT.fullmatch(suffix)
    if match is None:
        raise ValueError(WRONG_SUFFIX)
    return int(match[1]), False, Format.EXPONENT


def _scaled(digits: int, power: int) -> int:
    """``digits * 10**power`` nano-units; what lies beyond nano is rounded away from zero (spec §3.2.2)."""
    if power >= 0:
        return digits * int(10**power)
    return round_away(digits, 10 ** min(-power, _LONGEST))  # more places than digits: 1n, whatever their number


def _normal_form(nano: int, form: Format) -> tuple[int, int, bool]:
    """(number, power, whether the power is of two): the largest power, by steps of 3 or 10, without a fraction."""
    if form is Format.BINARY and abs(nano) >= 1024 * UNIT and nano % UNIT == 0:
        number, power = nano // UNIT, 0
        while number % 1024 == 0 and power < 60:
            number, power = number // 1024, power + 10
        return number, power, True
    if nano == 0:
        return 0, 0, False
    number, power = nano, -9
    while number % 1000 == 0 and (power < 18 or form is Format.EXPONENT):
        number, power = number // 1000, power + 3
    return number, power, False


def _written_as(text: str) -> tuple[int, int, bool] | None:
    """What ``text`` says literally, None when it has a fraction or was not parsed from a text."""
    if not text:
        return None
    sign, whole, fraction, suffix = _split(text)
    if fraction or not whole:
        return None
    power, binary, _ = _suffix(suffix)
    return (-int(whole) if sign == "-" else int(whole)), power, binary
