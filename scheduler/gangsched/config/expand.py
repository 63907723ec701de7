"""From default and written plugin lists to the plugins of every extension point (spec node-plugins.md §2.3-2.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gangsched.config.document import Entry, PluginSet
from gangsched.config.problems import Problem
from gangsched_framework.errors import did_you_mean
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.profile import POINTS
from gangsched_framework.registry import Registry
from gangsched_framework.yaml_lines import ValuePath

WEIGHTED = ("score", "placementScore")
"""Points whose plugins have weights."""

# The order in which the scheduler builds its lists decides which of several faults is reported.
_BUILD_ORDER = (
    *("preFilter", "filter", "postFilter", "reserve", "preScore", "score", "preBind", "bind", "postBind", "permit"),
    *("preEnqueue", "queueSort"),
)


class BuildError(Exception):
    """A profile that cannot be built; carries the problem."""

    def __init__(self, path: ValuePath, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.problem = Problem(path, text, hint)


def merge(defaults: Sequence[Entry], written: PluginSet) -> tuple[Entry, ...]:
    """The multiPoint list: defaults kept or replaced in their places, then the other enabled ones (spec §2.3)."""
    # Of a name enabled twice the last entry replaces; the first is appended, and refused as a repetition later.
    enabled = {entry.name: entry for entry in written.enabled}
    kept = [enabled.get(entry.name, entry) for entry in defaults if not written.disables(entry.name)]
    return (*kept, *(entry for entry in written.enabled if not any(entry is other for other in kept)))


def expand(
    multi_point: Sequence[Entry], points: Mapping[str, PluginSet], registry: Registry
) -> dict[str, tuple[Entry, ...]]:
    """The plugins of each extension point that has any, in call order, with their weights of that point.

    Raises BuildError for what the scheduler refuses when it builds a profile (spec §2.6), in its words.
    """
    order = (*_BUILD_ORDER, *(point for point in POINTS if point not in _BUILD_ORDER))
    for point in order:
        _check(points.get(point, PluginSet()).enabled, point, registry)
    lists = {point: _at_point(point, multi_point, points.get(point, PluginSet()), registry) for point in order}
    for point in WEIGHTED:
        _check_weights(lists[point])
    return {point: lists[point] for point in POINTS if lists[point]}


def _check(enabled: Sequence[Entry], point: str, registry: Registry) -> None:
    seen: set[str] = set()
    for entry in enabled:
        _check_exists(entry, point, registry)
        if not registry.implements(entry.name, point):
            where = [point for point in POINTS if registry.implements(entry.name, point)]
            text = f'plugin "{entry.name}" does not extend {_title(point)} plugin'
            raise BuildError(entry.path, text, f"; it serves {', '.join(where)}" if where else "")
        if entry.name in seen:
            raise BuildError(entry.path, f'plugin "{entry.name}" already registered as "{_title(point)}"')
        seen.add(entry.name)


def _check_exists(entry: Entry, point: str, registry: Registry) -> None:
    if entry.name not in registry:
        hint = did_you_mean(entry.name, registry)
        raise BuildError(entry.path, f'{_title(point)} "{entry.name}" does not exist', hint)


def _at_point(point: str, multi_point: Sequence[Entry], own: PluginSet, registry: Registry) -> tuple[Entry, ...]:
    """Overrides in the order of the point, then what multiPoint brings, then the point's other plugins (spec §2.4)."""
    if any(entry.name == "*" for entry in own.disabled):
        return own.enabled
    mine = {entry.name for entry in own.enabled}
    overridden: set[str] = set()
    brought: dict[str, Entry] = {}
    for entry in multi_point:
        _check_exists(entry, point, registry)
        if not registry.implements(entry.name, point) or own.disables(entry.name):
            continue
        if entry.name in mine:
            overridden.add(entry.name)
        elif entry.name in brought:
            raise BuildError(entry.path, f'plugin "{entry.name}" already registered as "{_title(point)}"')
        else:
            brought[entry.name] = entry
    first = tuple(entry for entry in own.enabled if entry.name in overridden)
    last = tuple(entry for entry in own.enabled if entry.name not in overridden)
    return (*first, *brought.values(), *last)


def _check_weights(entries: Sequence[Entry]) -> None:
    total = 0
    for entry in entries:
        total += max(entry.weight, 1) * MAX_NODE_SCORE
        if entry.weight < 0 or total >= 2**63:
            raise BuildError(entry.path, "total score of Score plugins could overflow")


def _title(point: str) -> str:
    return f"{point[0].upper()}{point[1:]}Plugin"
