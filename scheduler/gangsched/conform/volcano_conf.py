"""The volcano-scheduler.conf of a recorded scenario (spec fair-share.md §8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from gangsched_framework.strict_yaml import parse

_ACTIONS = ("enqueue", "allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim")
_OFF_BY_DEFAULT = ("enableHierarchy", "enabledClusterOrder")


class ConfRefused(Exception):
    """The configuration would not be loaded; the text says why."""


@frozen
class Entry:
    """A plugin as listed in a tier, with the switches it sets and its arguments."""

    name: str
    switches: Mapping[str, bool]
    arguments: Mapping[str, Any]

    def on(self, switch: str) -> bool:
        """Whether a switch is on; unset ones are, but for two (F4)."""
        return self.switches.get(switch, switch not in _OFF_BY_DEFAULT)


@frozen
class SessionConf:
    """Tiers of plugins, in order."""

    tiers: tuple[tuple[Entry, ...], ...]

    def entries(self) -> Iterator[Entry]:
        """Every plugin, tier by tier."""
        return (entry for tier in self.tiers for entry in tier)

    def find(self, name: str) -> Entry | None:
        """The first entry of a plugin."""
        return next((entry for entry in self.entries() if entry.name == name), None)

    @property
    def hierarchical(self) -> bool:
        """Whether DRF is hierarchical: the first entry decides (D5)."""
        drf = self.find("drf")
        return drf is not None and drf.on("enableHierarchy")


def read_conf(text: str) -> SessionConf:
    """Raises ConfRefused for unknown actions, and for hierarchical DRF beside Proportion in one tier (F6, F7)."""
    (document,) = parse(text, "conf")
    for action in str(document["actions"]).split(","):
        if action.strip() not in _ACTIONS:
            raise ConfRefused(f"unknown action {action.strip()}")
    tiers = tuple(tuple(_entry(raw) for raw in tier["plugins"]) for tier in document["tiers"])
    for tier in tiers:
        names = [entry.name for entry in tier]
        if "proportion" in names and any(entry.name == "drf" and entry.on("enableHierarchy") for entry in tier):
            raise ConfRefused("proportion and drf with enableHierarchy stand in one tier")
    return SessionConf(tiers)


def _entry(raw: Mapping[str, Any]) -> Entry:
    switches = {key: value for key, value in raw.items() if key not in ("name", "arguments")}
    return Entry(raw["name"], switches, raw.get("arguments") or {})
