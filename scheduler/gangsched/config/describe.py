"""What ``gangsched config view`` shows: each effective value and where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from gangsched.config.expand import WEIGHTED
from gangsched.config.group_scheduling import SECTION, fields_of
from gangsched.config.model import SchedulerConfig
from gangsched_framework.profile import POINTS, Profile
from gangsched_framework.registry import Registry

_SECOND = 10**9


@frozen
class Setting:
    """A value of the whole scheduler or of a profile."""

    name: str
    value: int | str | bool
    origin: str


@frozen
class PluginRow:
    """A plugin in a profile.

    ``points`` where it serves, in the order of ``POINTS``; ``off``: points it could serve and does not. ``weights`` by
    weighted point. ``arguments`` with defaults. ``origins``: of its points and arguments, each once.
    """

    profile: str
    plugin: str
    points: tuple[str, ...]
    off: tuple[str, ...]
    weights: Mapping[str, int]
    arguments: Mapping[str, Any]
    origins: tuple[str, ...]


@frozen
class Description:
    """``settings`` and ``plugins`` are rows for tables; ``as_dict`` is the same as plain JSON values."""

    settings: tuple[Setting, ...]
    gates: tuple[Setting, ...]
    plugins: tuple[PluginRow, ...]
    _document: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Settings, ``profiles`` (plugins by extension point in call order, arguments), gates, origins by path."""
        return dict(self._document)


def describe(config: SchedulerConfig, registry: Registry) -> Description:
    """The configuration, for people and as data."""
    settings = [
        Setting(name, value, config.origins[name])
        for name, value in (
            ("parallelism", config.parallelism),
            ("percentageOfNodesToScore", config.percentage_of_nodes_to_score),
            ("percentageOfPlacementsToScore", config.percentage_of_placements_to_score),
            ("podInitialBackoffSeconds", config.initial_backoff // _SECOND),
            ("podMaxBackoffSeconds", config.max_backoff // _SECOND),
            ("nodeOrder", config.node_order),
        )
    ]
    choices = fields_of(config.group_scheduling)
    general = len(settings)
    settings += [
        Setting(f"{SECTION}.{key}", value, config.origins[f"{SECTION}.{key}"]) for key, value in choices.items()
    ]
    changed = config.gates.changes()
    gates = tuple(Setting(name, on, "set" if name in changed else "default") for name, on in config.gates.items())
    for profile in config.profiles:
        name = f"profiles.{profile.scheduler_name}.percentageOfNodesToScore"
        settings.append(Setting(name, profile.percentage_of_nodes_to_score, config.origins[name]))
    plugins = tuple(row for profile in config.profiles for row in _rows(profile, config.origins, registry))
    document = {
        **{setting.name: setting.value for setting in settings[:general]},
        SECTION: choices,
        "featureGates": dict(config.gates),
        "profiles": {profile.scheduler_name: _as_dict(profile) for profile in config.profiles},
        "origins": dict(config.origins),
        "warnings": list(config.warnings),
    }
    return Description(tuple(settings), gates, plugins, document)


def _rows(profile: Profile, origins: Mapping[str, str], registry: Registry) -> list[PluginRow]:
    rows = []
    base = f"profiles.{profile.scheduler_name}"
    for name in registry:
        serves = {point: ref for point, refs in profile.points.items() for ref in refs if ref.name == name}
        arguments = profile.args.get(name, {}) if serves else {}
        found = [origins[f"{base}.{point}.{name}"] for point in serves]
        found += [origins[f"{base}.args.{name}.{field}"] for field in arguments]
        off = tuple(point for point in POINTS if point not in serves and registry.implements(name, point))
        weights = {point: serves[point].weight for point in WEIGHTED if point in serves}
        rows.append(
            PluginRow(profile.scheduler_name, name, tuple(serves), off, weights, arguments, tuple(dict.fromkeys(found)))
        )
    return rows


def _as_dict(profile: Profile) -> dict[str, Any]:
    points = {
        point: [{"name": ref.name, "weight": ref.weight} if point in WEIGHTED else ref.name for ref in refs]
        for point, refs in profile.points.items()
    }
    args = {name: dict(values) for name, values in profile.args.items()}
    return {"percentageOfNodesToScore": profile.percentage_of_nodes_to_score, **points, "args": args}
