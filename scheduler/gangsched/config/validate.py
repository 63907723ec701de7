"""Checks of the values of a whole document, made when it is loaded (spec node-plugins.md §2.7-2.10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve

from gangsched.config.arguments import ARGUMENTS
from gangsched.config.defaults import REMOVED_PLUGINS
from gangsched.config.document import API_VERSION, Document, Entry, PluginSet, WrittenProfile
from gangsched.config.problems import Problem, duplicate, invalid, required
from gangsched_framework.registry import Registry
from gangsched_framework.yaml_lines import ValuePath

MAX_SECONDS = (2**63 - 1) // 10**9
"""Longest time of 64 bits of nanoseconds."""


def problems(document: Document, settings: Mapping[str, int], registry: Registry) -> Iterator[Problem]:
    """What is wrong, in the scheduler's order. ``settings``: the document's, with defaults."""
    if settings["parallelism"] <= 0:
        yield invalid(("parallelism",), settings["parallelism"], "should be an integer value greater than zero")
    taken: dict[str, int] = {}
    for index, profile in enumerate(document.profiles):
        yield from _profile_problems(profile, len(document.profiles))
        name = profile.scheduler_name
        if name and name in taken:
            # Upstream prints an empty struct for the other profile's place.
            hint = f'; "{name}" is the name of profiles[{taken[name]}]'
            yield duplicate((*profile.path, "schedulerName"), {}, hint)
        elif name:
            taken[name] = index
    yield from _queue_sort_problems(document.profiles, registry)
    for key in ("percentageOfNodesToScore", "percentageOfPlacementsToScore"):
        yield from _percentage_problems((key,), settings[key])
    yield from _backoff_problems(settings, document.settings)


def _backoff_problems(settings: Mapping[str, int], written: Mapping[str, int]) -> Iterator[Problem]:
    initial, maximum = settings["podInitialBackoffSeconds"], settings["podMaxBackoffSeconds"]
    if initial <= 0:
        yield invalid(("podInitialBackoffSeconds",), initial, "must be greater than 0")
    # Upstream refuses a maximum of 0, though its queue reads it as "no backoff" (podgroup-scheduling.md §2.4.2);
    # architecture.md §3 counts on it, so it is let through.
    if maximum < initial and maximum != 0:
        problem = invalid(
            ("podMaxBackoffSeconds",), maximum, "must be greater than or equal to PodInitialBackoffSeconds"
        )
        yield problem if "podMaxBackoffSeconds" in written else evolve(problem, path=("podInitialBackoffSeconds",))
    for key, value in (("podInitialBackoffSeconds", initial), ("podMaxBackoffSeconds", maximum)):
        if value > MAX_SECONDS:
            yield invalid((key,), value, f"not in valid range [0, {MAX_SECONDS}]")


def _percentage_problems(path: ValuePath, value: int | None) -> Iterator[Problem]:
    if value is not None and not 0 <= value <= 100:
        yield invalid(path, value, "not in valid range [0-100]")


def _profile_problems(profile: WrittenProfile, count: int) -> Iterator[Problem]:
    # spec §2.2: only a single profile without the field gets the default name
    if profile.scheduler_name == "" or (profile.scheduler_name is None and count > 1):
        yield required((*profile.path, "schedulerName"))
    yield from _percentage_problems((*profile.path, "percentageOfNodesToScore"), profile.percentage_of_nodes_to_score)
    for point, plugins in profile.plugins.items():
        if point != "multiPoint":
            yield from (_removed(entry) for entry in plugins.enabled if entry.name in REMOVED_PLUGINS)
    seen: set[str] = set()
    for item in profile.plugin_config:
        if item.name in seen:
            yield duplicate(item.path, item.name)
        seen.add(item.name)
        if item.name in REMOVED_PLUGINS:
            yield _removed(Entry(item.name, path=item.path))
        arguments = ARGUMENTS.get(item.name)
        if arguments is not None and not arguments.checked_when_built:
            found = arguments.problems(arguments.with_defaults(item.args))
            yield from (problem.under((*item.path, "args")) for problem in found)


def _removed(entry: Entry) -> Problem:
    why = f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{API_VERSION}")'
    return invalid(entry.path, entry.name, why)


def _are_tiers(entries: Sequence[Entry], registry: Registry) -> bool:
    """Whether entries of queueSort are tiers; a name among them that does not exist is told of when it is built."""
    known = [entry for entry in entries if entry.name in registry]
    return bool(known) and all(registry.sorts_dynamically(entry.name) for entry in known)


def _queue_sort_problems(profiles: tuple[WrittenProfile, ...], registry: Registry) -> Iterator[Problem]:
    """All profiles share one queue, so its order must be theirs (spec §2.10)."""
    if not profiles:
        return
    first, first_args = _queue_sort(profiles[0])
    if len(first.enabled) > 1 and not _are_tiers(first.enabled, registry):
        at = (*profiles[0].path, "plugins", "queueSort", "Enabled")
        yield invalid(at, len(first.enabled), "only one queue sort plugin can be enabled")
    names = _names(first)
    for profile in profiles[1:]:
        own, args = _queue_sort(profile)
        if _names(own) != names:
            at = (*profile.path, "plugins", "queueSort")
            yield invalid(at, _names(own), "must be the same for all profiles")
        for name, value in args.items():
            if name in names["enabled"] and value != first_args.get(name):
                at = (*profile.path, "pluginConfig", "args")
                yield invalid(at, value, "queueSort must be the same for all profiles")


def _queue_sort(profile: WrittenProfile) -> tuple[PluginSet, dict[str, Mapping[str, Any]]]:
    return profile.plugins.get("queueSort", PluginSet()), {item.name: item.args for item in profile.plugin_config}


def _names(plugins: PluginSet) -> dict[str, list[str]]:
    return {
        "enabled": [entry.name for entry in plugins.enabled],
        "disabled": [entry.name for entry in plugins.disabled],
    }
