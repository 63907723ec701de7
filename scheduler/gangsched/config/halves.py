"""Plugins of which a profile leaves only half: the second call reads what the first one would have left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gangsched.config.document import Entry, PluginSet
from gangsched_framework.profile import PluginRef
from gangsched_framework.yaml_lines import ValuePath
from gangsched_plugins import names

_FILTERS = (names.INTER_POD_AFFINITY, names.NODE_PORTS, names.NODE_RESOURCES_FIT, names.POD_TOPOLOGY_SPREAD)
_SCORERS = (names.INTER_POD_AFFINITY, names.POD_TOPOLOGY_SPREAD, names.TAINT_TOLERATION)
_HALVES = (("preFilter", "filter", _FILTERS), ("preScore", "score", _SCORERS))


def halved(
    points: Mapping[str, Sequence[PluginRef]], written: Mapping[str, PluginSet]
) -> Iterator[tuple[ValuePath, str]]:
    """(the entry at fault, () when none is written; a sentence) for each plugin whose second half stands alone."""
    for first, second, plugins in _HALVES:
        there = {ref.name for ref in points.get(first, ())}
        for ref in points.get(second, ()):
            if ref.name in plugins and ref.name not in there:
                text = f'"{ref.name}" is not in {first}, whose work it needs in {second}: pods end in an Error'
                yield _entry(ref.name, written.get(first, PluginSet()).disabled), text


def _entry(name: str, disabled: Sequence[Entry]) -> ValuePath:
    return next(((*entry.path, "name") for entry in disabled if entry.name in (name, "*")), ())
