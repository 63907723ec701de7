"""Short ways to write amounts in tables: ``amounts(cpu="2c", memory="4Gi", gpu=2, pods=3)``."""

from __future__ import annotations

import re

from gangsched_plugins.fairshare.amounts import Amounts

_SUFFIXES = {"c": 1000, "m": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "G": 10**9, "": 1}


def number(written: str | float) -> float:
    """``2c`` = 2000 milli, ``1.5c``, ``200m``, ``4Gi``, ``1G``; numbers are in stored units."""
    if not isinstance(written, str):
        return written
    digits, suffix = re.fullmatch(r"([0-9.]+)(\w*)", written).groups()  # type: ignore[union-attr]
    value = float(digits) * _SUFFIXES[suffix]
    return int(value) if value.is_integer() else value


def amounts(cpu: str | float = 0, memory: str | float = 0, **scalars: float) -> Amounts:
    """``gpu`` and other scalars are given in units and stored in milli, ``pods`` in units."""
    stored = {name: amount if name == "pods" else amount * 1000 for name, amount in scalars.items()}
    return Amounts(number(cpu), number(memory), stored or None)
