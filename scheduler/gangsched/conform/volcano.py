"""Compare what a Volcano session knew when it opened with our maths: ``--state-only`` (issue of sessions: later)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gangsched.conform.compare import broken
from gangsched.conform.scenario import Difference, Scenario
from gangsched.conform.volcano_conf import ConfRefused, read_conf
from gangsched.conform.volcano_orders import orders_at_open
from gangsched.conform.volcano_session import open_session
from gangsched.conform.volcano_state import open_state

TOLERANCE = 1e-9
"""Relative difference at which numbers still are equal (conformance README of volcano, §6)."""


def compare_state(scenario: Scenario) -> tuple[list[Difference], str]:
    """Differences in ``open`` and ``orders`` of the first session, and a note on what was not compared.

    The order of queues is left out when their comparison runs in a circle: it then depends on the sorting (D18).
    """
    result = scenario.document["result"]
    try:
        conf = read_conf(scenario.document["scenario"]["conf"])
    except ConfRefused as refusal:
        return ([] if "confError" in result else [Difference(None, "confError", None, str(refusal))]), ""
    session = open_session(scenario.document["scenario"])
    try:
        state, orders = open_state(session, conf), orders_at_open(session, conf)
    except ValueError as refusal:
        return ([] if "panic" in result else [broken(refusal)]), ""  # E55: a crash there, a refused queue here
    if not result.get("sessions"):
        return [Difference(None, "sessions", next(iter(result.items())), "a session")], ""
    first = result["sessions"][0]
    expected, got = dict(first["orders"]), orders.record()
    note = ""
    if orders.intransitive:
        note = "the order of queues is not compared: their comparison runs in a circle"
        del expected["queues"], got["queues"]
    found = [*_differ(first["open"], state, "open"), *_differ(expected, got, "orders")]
    return found, note


def _differ(expected: Any, got: Any, path: str) -> Iterator[Difference]:
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for key in dict.fromkeys((*expected, *got)):
            if key == "guarantee" and key not in expected:
                continue  # Proportion's is not recorded
            yield from _differ(expected.get(key, 0), got.get(key, 0), f"{path}.{key}")
    elif _objects(expected) and _objects(got) and len(expected) == len(got):
        for index, (one, other) in enumerate(zip(expected, got, strict=True)):
            yield from _differ(one, other, f"{path}[{index}]")
    elif not _same(expected, got):
        yield Difference(None, path, expected, got)


def _objects(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(item, Mapping) for item in value)


def _same(expected: Any, got: Any) -> bool:
    if isinstance(expected, bool) or isinstance(got, bool) or not isinstance(expected, int | float):
        return bool(expected == got)
    return isinstance(got, int | float) and math.isclose(expected, got, rel_tol=TOLERANCE)
