"""The recorded configurations and default lists of the real scheduler, all of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gangsched.config import ConfigFileError, FeatureGates, default_config, describe, load_config
from gangsched_framework.profile import POINTS
from gangsched_framework.registry import Registry
from gangsched_plugins.default_registry import default_registry
from tests.scheduler.config.conftest import RECORDINGS, recording

CONFIGS = recording("configs.json")
FACTS = recording("facts.json")
pytestmark = [pytest.mark.conformance, pytest.mark.skipif(not CONFIGS, reason="the recordings are not here")]

GATES = {
    "default": FeatureGates.UPSTREAM,
    "GenericWorkload": FeatureGates({"GenericWorkload": True}, start=FeatureGates.UPSTREAM),
    "GenericWorkload+TopologyAwareWorkloadScheduling+CompositePodGroup": FeatureGates(
        {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True, "CompositePodGroup": True},
        start=FeatureGates.UPSTREAM,
    ),
}
REFUSED = [name for name, want in CONFIGS.items() if "error" in want]
READ = [name for name, want in CONFIGS.items() if "error" not in want]


def without_places(error: str) -> str:
    """A recorded error without the recorder's stage word and the real program's source positions."""
    error = re.sub(r"^(decode|validate): (strict decoding error: )?", "", error)
    error = re.sub(r"^yaml: (unmarshal errors:\n  )?line \d+: ", "", error)
    return re.sub(r' in scheme "[^"]*"$', "", error)


def ours(recorded: dict[str, Any], knows: set[str] | None = None) -> dict[str, Any]:
    """Recorded profiles as ours must be: absent percentages are all nodes, no Permit of GangScheduling (DIV-9)."""
    profiles = {}
    for name, want in recorded["profiles"].items():
        lists = {key: value for key, value in want.items() if key != "permit"}
        for point in POINTS:
            if knows is not None and point in lists:
                lists[point] = [x for x in lists[point] if (x if isinstance(x, str) else x["name"]) in knows]
        if knows is not None:
            lists["args"] = {plugin: args for plugin, args in lists["args"].items() if plugin in knows}
        percentage = want["percentageOfNodesToScore"]
        lists["percentageOfNodesToScore"] = 100 if percentage is None else percentage
        profiles[name] = {key: value for key, value in lists.items() if value or key not in POINTS}
    return profiles


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_configuration_is_refused_in_the_recorded_words(name: str, registry: Registry) -> None:
    with pytest.raises(ConfigFileError) as caught:
        load_config(RECORDINGS / "configs" / name, FeatureGates.UPSTREAM, registry)

    want = CONFIGS[name]
    assert caught.value.message == without_places(want["error"])
    assert ("build" if caught.value.stage == "build" else "load") == want["stage"]
    assert re.match(r".*\.yaml(:\d+)?: ", str(caught.value))


@pytest.mark.parametrize("name", READ)
def test_an_accepted_configuration_has_the_recorded_lists_and_arguments(name: str, registry: Registry) -> None:
    config = load_config(RECORDINGS / "configs" / name, FeatureGates.UPSTREAM, registry)

    got, want = describe(config, registry).as_dict(), CONFIGS[name]
    assert got["profiles"] == ours(want)
    assert list(got["profiles"]) == list(want["profiles"])
    for key in ("parallelism", "podInitialBackoffSeconds", "podMaxBackoffSeconds"):
        assert got[key] == want[key]


@pytest.mark.parametrize("gates", FACTS)
def test_the_default_lists_are_the_recorded_ones(gates: str, registry: Registry) -> None:
    config = default_config(GATES[gates], registry, dynamic_resources=True)

    got = describe(config, registry).as_dict()["profiles"]
    assert [list(profile.pop("placementFeasible", ())) for profile in got.values()] == [
        ["GangScheduling"] if "GenericWorkload" in gates else []  # not in the recording
    ]
    assert got == ours(FACTS[gates])


@pytest.mark.parametrize("gates", FACTS)
def test_the_in_tree_plugins_serve_the_recorded_points(gates: str) -> None:
    registry = default_registry()

    got = describe(default_config(GATES[gates], dynamic_resources=True), registry).as_dict()["profiles"]
    for profile in got.values():
        profile.pop("placementFeasible", None)
    assert got == ours(FACTS[gates], set(registry))
