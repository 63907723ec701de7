"""The dynamic form of queueSort in a profile: several tiers, and what they bring (spec fair-share.md §2.3, §8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gangsched.config.document import Entry, PluginSet
from gangsched.config.expand import BuildError
from gangsched_framework.registry import Registry
from gangsched_plugins import names

_CONFLICTS = (
    (names.PROPORTION, names.CAPACITY, "both say what a tenant may take"),
    (names.DRF, names.HDRF, "HDRF orders the jobs of a tenant as DRF does"),
)

Points = Mapping[str, tuple[Entry, ...]]


def is_dynamic(points: Points, registry: Registry) -> bool:
    """Whether a profile orders by tiers that follow shares; the checks of ``with_fair_share`` have passed."""
    return any(registry.sorts_dynamically(entry.name) for entry in points.get("queueSort", ()))


def with_fair_share(
    points: Points, written: Mapping[str, PluginSet], registry: Registry
) -> dict[str, tuple[Entry, ...]]:
    """The points of a profile as its tiers need them; those of a static profile are left as they are.

    A tier replaces the queueSort plugin of the default list; one that limits tenants is asked inside the cycle too, as
    a PreFilter, unless it is disabled there. Raises BuildError for plugins that cannot stand together.
    """
    result = dict(points)
    if not is_dynamic(points, registry):
        return result
    sort = tuple(e for e in points["queueSort"] if e.path or registry.sorts_dynamically(e.name))
    static = next((entry for entry in sort if not registry.sorts_dynamically(entry.name)), None)
    tier = next(entry for entry in sort if registry.sorts_dynamically(entry.name))
    if static is not None:
        why = "the first orders once for all, the second by shares that change"
        raise BuildError(static.path, f'queueSort plugins "{static.name}" and "{tier.name}" cannot be combined: {why}')
    _check_conflicts(sort)
    result["queueSort"] = sort
    for entry in sort:
        result["preFilter"] = _with_pre_filter(entry, result.get("preFilter", ()), written, registry)
    return result


def _check_conflicts(sort: Sequence[Entry]) -> None:
    by_name = {entry.name: entry for entry in sort}
    for one, other, why in _CONFLICTS:
        if one in by_name and other in by_name:
            text = f'queueSort plugins "{one}" and "{other}" cannot be combined: {why}'
            raise BuildError(max(by_name[one], by_name[other], key=sort.index).path, text)


def _with_pre_filter(
    entry: Entry, at_point: tuple[Entry, ...], written: Mapping[str, PluginSet], registry: Registry
) -> tuple[Entry, ...]:
    present = any(other.name == entry.name for other in at_point)
    if present or not registry.implements(entry.name, "preFilter"):
        return at_point
    if written.get("preFilter", PluginSet()).disables(entry.name):
        return at_point
    return (*at_point, entry)
