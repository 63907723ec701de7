"""Play a recorded configuration file, and the recorded facts of the default profile (node-plugins.md §1-2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gangsched.config import ConfigFileError, FeatureGates, SchedulerConfig, load_config
from gangsched.conform.compare import differences
from gangsched.conform.core import SILENT, Setup
from gangsched.conform.records import SECOND, Record
from gangsched.conform.scenario import Difference, Options, Scenario
from gangsched_framework.events import ClusterEventWithHint
from gangsched_framework.profile import Profile
from gangsched_plugins.default_registry import default_registry

_WEIGHTED = ("score", "placementScore")
_OURS = ("permit",)
"""Points that differ by decision: GangScheduling has no Permit here (DIV-9)."""

_OUR_EVENTS = {"GangScheduling": ("scheduling.k8s.io/CompositePodGroup/Update",)}
"""Registrations v1.37.2 lacks by decision (DIV-16)."""


def compare_configuration(scenario: Scenario, options: Options) -> list[Difference]:
    """Read the file and compare the effective plugins and arguments, or why it is refused."""
    try:
        config = load_config(scenario.document["file"], FeatureGates.UPSTREAM, default_registry())
    except ConfigFileError as refusal:
        return differences(_without_positions(scenario.document["want"]), _refusal(refusal), options.fields)
    want = _recorded(scenario.document["want"])
    return differences(want, _config_record(config, want), options.fields)


def compare_facts(scenario: Scenario, options: Options) -> list[Difference]:
    """The default profile under a set of gates: plugins at each point, arguments, registered events."""
    on = {} if scenario.document["gates"] == "default" else dict.fromkeys(scenario.document["gates"].split("+"), True)
    gates = FeatureGates(on, start=FeatureGates.UPSTREAM)
    registry = default_registry()
    setup = Setup(load_config(SILENT, gates, registry), registry)
    (framework,) = setup.scheduler().frameworks.values()
    want = _recorded(scenario.document["want"])
    got = _config_record(setup.config, want)
    got["events"] = {
        plugin: sorted(_label(registration) for registration in found)
        for plugin, found in sorted(framework.registrations.items())
        if found
    }
    for plugin, ours in _OUR_EVENTS.items():
        if plugin in got["events"]:
            got["events"][plugin] = [label for label in got["events"][plugin] if label not in ours]
    return differences(want, got, options.fields)


def _refusal(refusal: ConfigFileError) -> Record:
    if refusal.stage == "build":
        return {"stage": "build", "error": refusal.message}
    return {"stage": "load", "error": f"{refusal.stage}: {refusal.message}"}


def _without_positions(want: Mapping[str, Any]) -> Record:
    """The recording without what tells of the real program's sources and YAML reader (README of the recordings)."""
    text = re.sub(r' in scheme "[^"]*"', "", want.get("error", ""))
    text = re.sub(r"strict decoding error: (yaml: unmarshal errors:\s+line \d+: )?|yaml: line \d+: ", "", text)
    return {**want, "error": text}


def _recorded(want: Mapping[str, Any]) -> Record:
    """The recording without what is decided otherwise: all nodes are scored unless a file says something else."""
    record = {key: value for key, value in want.items() if (key, value) != ("percentageOfNodesToScore", 0)}
    if "profiles" in record:
        record["profiles"] = {
            name: {key: value for key, value in profile.items() if key not in _OURS and value is not None}
            for name, profile in record["profiles"].items()
        }
    return record


def _config_record(config: SchedulerConfig, want: Mapping[str, Any]) -> Record:
    """The configuration in the form of the recording, with the fields it has."""
    record: Record = {
        "parallelism": config.parallelism,
        "percentageOfNodesToScore": config.percentage_of_nodes_to_score,
        "podInitialBackoffSeconds": config.initial_backoff // SECOND,
        "podMaxBackoffSeconds": config.max_backoff // SECOND,
    }
    record = {key: value for key, value in record.items() if key in want}
    wanted = want.get("profiles", {})
    profiles = {profile.scheduler_name: profile for profile in config.profiles}
    record["profiles"] = {name: _profile_record(profile, wanted.get(name, {})) for name, profile in profiles.items()}
    return record


def _profile_record(profile: Profile, want: Mapping[str, Any]) -> Record:
    record: Record = {
        point: [{"name": ref.name, "weight": ref.weight} if point in _WEIGHTED else ref.name for ref in refs]
        for point, refs in profile.points.items()
        if point not in _OURS and point != "placementFeasible"  # not recorded
    }
    record["args"] = {name: _without_empty(args) for name, args in profile.args.items()}
    if "percentageOfNodesToScore" in want:
        record["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
    return record


def _without_empty(value: Any) -> Any:
    """Arguments as the real scheduler prints them: empty lists are left out, at any depth."""
    if isinstance(value, list | tuple):
        return [_without_empty(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {name: _without_empty(item) for name, item in value.items() if item not in ([], (), None)}


def _label(registration: ClusterEventWithHint) -> str:
    label = registration.event.label
    if registration.event.resource.value in ("PodGroup", "CompositePodGroup"):
        label = f"scheduling.k8s.io/{label}"
    return label if registration.hint is not None else f"{label} (always Queue)"
