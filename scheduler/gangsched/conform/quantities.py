"""Play a recorded quantity string: what it means, or why it is refused (spec node-plugins.md §3.2)."""

from __future__ import annotations

from typing import Any

from gangsched.conform.compare import differences
from gangsched.conform.scenario import Difference, Options, Scenario
from gangsched_framework.quantity import MAX_INT64, Quantity, parse_quantity

_COMPARED = ("value", "milli", "canonical", "format", "sign", "error")


def compare_quantity(scenario: Scenario, options: Options) -> list[Difference]:
    """Numbers that the real parser wraps are not compared: ours are exact and refused later (spec §3.2.4)."""
    document = scenario.document
    expected = {key: document[key] for key in _COMPARED if key in document}
    try:
        quantity = parse_quantity(document["in"])
    except ValueError as refusal:
        got: dict[str, Any] = {"error": str(refusal), "sign": 0}
        return differences(expected, got, options.fields)
    got = {
        "value": quantity.value,
        "milli": quantity.milli_value,
        "canonical": quantity.canonical,
        "format": quantity.format.value,
        "sign": (quantity.nano > 0) - (quantity.nano < 0),
    }
    for name in ("value", "milli"):
        if abs(got[name]) > MAX_INT64 or _wrongly_negative(quantity):
            del got[name]
            expected.pop(name, None)
    return differences(expected, got, options.fields)


def _wrongly_negative(quantity: Quantity) -> bool:
    """A negative quantity in need of 2**63 nano-units or of digits beyond nano (spec §3.2.4)."""
    return quantity.nano < 0 and (abs(quantity.nano) > MAX_INT64 or abs(quantity.nano) == 1)
