"""The in-tree plugins against the recorded facts: points and registered events (spec node-plugins.md §1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gangsched_framework.testing import FakeHandle
from gangsched_plugins import names
from gangsched_plugins.default_registry import default_registry
from tests.plugins.judge import registered_events

FACTS = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "node-plugins" / "facts.json"
GROUP_GATES = ("GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup")
GROUP_PLUGINS = {names.GANG_SCHEDULING}  # registers more than upstream, on purpose (DIV-16)
NO_PERMIT = {"permit": {names.GANG_SCHEDULING}}  # DIV-9


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    if not FACTS.exists():
        pytest.skip("the recorded facts are not at hand")
    recorded: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))["+".join(GROUP_GATES)]
    return recorded


FAIR_SHARE = {names.PRIORITY, names.GANG, names.DRF, names.HDRF, names.PROPORTION, names.CAPACITY}
"""Tiers of a dynamic queueSort: kube-scheduler has none."""


def test_the_tiers_of_fair_sharing_sort_dynamically() -> None:
    registry = default_registry()
    assert {name for name in registry if registry.sorts_dynamically(name)} == FAIR_SHARE


def test_every_name_has_its_plugin() -> None:
    declared = {value for key, value in vars(names).items() if key.isupper()}
    assert set(default_registry()) == declared


def test_every_plugin_is_built_without_arguments_and_bears_its_name() -> None:
    registry = default_registry()
    assert {name: registry.build(name, {}, FakeHandle()).name for name in registry} == {n: n for n in registry}


def test_every_plugin_serves_the_recorded_points(facts: dict[str, Any]) -> None:
    registry = default_registry()
    points = {
        point: {entry if isinstance(entry, str) else entry["name"] for entry in entries}
        for point, entries in facts["profiles"]["default-scheduler"].items()
        if isinstance(entries, list)
    }
    upstream = [name for name in registry if name not in FAIR_SHARE]
    got = {point: {name for name in upstream if registry.implements(name, point)} for point in points}
    assert got == {point: plugins - NO_PERMIT.get(point, set()) for point, plugins in points.items()}


def test_every_plugin_registers_the_recorded_events(facts: dict[str, Any]) -> None:
    registry = default_registry()
    handle = FakeHandle(feature_gates=dict.fromkeys(GROUP_GATES, True))
    recorded = {name: events for name, events in facts["events"].items() if name not in GROUP_PLUGINS}
    got = {name: registered_events(registry.build(name, {}, handle)) for name in recorded}
    assert got == {name: sorted(events) for name, events in recorded.items()}
