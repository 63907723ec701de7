"""Quantities of manifests: text or number to nano-units (spec node-plugins.md §3.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from gangsched.manifests.errors import InputError, describe, found
from gangsched_framework.quantity import parse_amount, round_up_to_milli

_ALLOWED = "a quantity such as 2, 500m or 1.5Gi"


def amount_of(value: object) -> int:
    """Nano-units of a quantity, never negative. Raises InputError."""
    return _amount(value, "")


def amounts_of(raw: object, *, round_up: bool) -> dict[str, int]:
    """Resource name -> nano-units of a map of quantities; ``round_up`` to whole milli-units (spec §3.1.3)."""
    if not raw:
        return {}
    assert isinstance(raw, Mapping)  # the shape was checked
    amounts: dict[str, int] = {}
    for name, value in raw.items():
        if value is None:
            amounts[name] = 0
            continue
        try:
            amount = _amount(value, name)
        except InputError as error:
            raise error.under(name) from None
        amounts[name] = round_up_to_milli(amount) if round_up else amount
    return amounts


def _amount(value: object, resource: str) -> int:
    try:
        return _parsed(_text_of(value), resource)
    except ValueError as error:
        raise found(describe(value), f"{_ALLOWED} ({error})") from None


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise found(describe(value), _ALLOWED)
    if isinstance(value, float) and not math.isfinite(value):
        raise found(describe(value), _ALLOWED)
    if isinstance(value, int) and abs(value) > 10**40:
        raise found("a number beyond 2**63 - 1", _ALLOWED)
    # A float is printed with the digits it was written with, so nothing is lost on the way to a decimal.
    return repr(value)


@lru_cache(maxsize=8192)
def _parsed(text: str, resource: str) -> int:
    return parse_amount(text, resource)
