"""Every rule of spec node-plugins.md §2 on how a file becomes the plugins of each point."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gangsched.config import ConfigFileError, FeatureGates, SchedulerConfig, default_config, load_config
from gangsched_framework.profile import POINTS
from gangsched_framework.registry import Registry
from tests.scheduler.config.conftest import HEAD

SCORE = [
    *(("TaintToleration", 3), ("NodeAffinity", 2), ("NodeResourcesFit", 1), ("VolumeBinding", 1)),
    *(("PodTopologySpread", 2), ("InterPodAffinity", 2), ("DynamicResources", 2)),
    *(("NodeResourcesBalancedAllocation", 1), ("ImageLocality", 1)),
]
FILTER = [
    *("NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"),
    *("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread"),
    *("InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures"),
]


def load(
    registry: Registry, plugins: str = "{}", *, gates: FeatureGates | None = None, **profile: Any
) -> SchedulerConfig:
    """One profile with these plugins, written as YAML."""
    profile = {"plugins": yaml.safe_load(plugins), **profile}
    return load_config({**HEAD, "profiles": [profile]}, gates or FeatureGates.UPSTREAM, registry)


def at(config: SchedulerConfig, point: str) -> list[str]:
    return [ref.name for ref in config.profiles[0].points.get(point, ())]


def weights(config: SchedulerConfig, point: str = "score") -> list[tuple[str, int]]:
    return [(ref.name, ref.weight) for ref in config.profiles[0].points.get(point, ())]


# --- the merge of one list (§2.3) and the expansion of multiPoint (§2.4, §2.5) --------------------------------------

SCORES = {
    "nothing written gives the default list": ("{}", SCORE),
    "a plugin disabled at multiPoint is gone": (
        "multiPoint: {disabled: [{name: InterPodAffinity}]}",
        [x for x in SCORE if x[0] != "InterPodAffinity"],
    ),
    "a default plugin enabled at multiPoint is replaced in place, weight and all": (
        "multiPoint: {enabled: [{name: NodeAffinity, weight: 7}]}",
        [(name, 7 if name == "NodeAffinity" else weight) for name, weight in SCORE],
    ),
    "a default plugin enabled at multiPoint without weight weighs 1": (
        "multiPoint: {enabled: [{name: TaintToleration}]}",
        [(name, 1 if name == "TaintToleration" else weight) for name, weight in SCORE],
    ),
    "another plugin enabled at multiPoint is appended": (
        "multiPoint: {enabled: [{name: Packer, weight: 4}]}",
        [*SCORE, ("Packer", 4)],
    ),
    "a default plugin both disabled and enabled at multiPoint moves to the end": (
        "multiPoint: {disabled: [{name: NodeAffinity}], enabled: [{name: NodeAffinity, weight: 5}]}",
        [*(x for x in SCORE if x[0] != "NodeAffinity"), ("NodeAffinity", 5)],
    ),
    "all disabled at multiPoint leaves what is enabled there, in its order": (
        "multiPoint: {disabled: [{name: '*'}],"
        " enabled: [{name: DefaultBinder}, {name: ImageLocality}, {name: NodeAffinity}, {name: PrioritySort}]}",
        [("ImageLocality", 1), ("NodeAffinity", 1)],
    ),
    "a disabled name that does not exist is accepted": ("multiPoint: {disabled: [{name: Coscheduling}]}", SCORE),
    "a new weight at the point moves the plugin to the front": (
        "score: {enabled: [{name: InterPodAffinity, weight: 9}]}",
        [("InterPodAffinity", 9), *(x for x in SCORE if x[0] != "InterPodAffinity")],
    ),
    "overrides keep the order of the point": (
        "score: {enabled: [{name: ImageLocality, weight: 4}, {name: TaintToleration, weight: 1}]}",
        [("ImageLocality", 4), ("TaintToleration", 1), *SCORE[1:-1]],
    ),
    "the weight of the point wins over that of multiPoint": (
        "{score: {enabled: [{name: Packer, weight: 4}]}, multiPoint: {enabled: [{name: Packer, weight: 8}]}}",
        [("Packer", 4), *SCORE],
    ),
    "weight 0 at the point is 1, not that of multiPoint": (
        "score: {enabled: [{name: TaintToleration, weight: 0}]}",
        [("TaintToleration", 1), *SCORE[1:]],
    ),
    "a plugin of the point alone stands last": (
        "score: {enabled: [{name: Packer, weight: 4}]}",
        [*SCORE, ("Packer", 4)],
    ),
    "one both disabled and enabled at the point stands last with its new weight": (
        "score: {disabled: [{name: TaintToleration}], enabled: [{name: TaintToleration, weight: 7}]}",
        [*SCORE[1:], ("TaintToleration", 7)],
    ),
    "all disabled at the point leaves what is enabled there": (
        "score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 5}]}",
        [("NodeResourcesFit", 5)],
    ),
    "all disabled and nothing enabled leaves the point empty": ("score: {disabled: [{name: '*'}]}", []),
    "the biggest weight alone is accepted": (
        "score: {disabled: [{name: '*'}], enabled: [{name: Packer, weight: 2147483647}]}",
        [("Packer", 2147483647)],
    ),
    "null lists are absent": ("{score: {enabled: null, disabled: null}, filter: null}", SCORE),
}


@pytest.mark.parametrize(("plugins", "want"), SCORES.values(), ids=SCORES)
def test_score(plugins: str, want: list[tuple[str, int]], registry: Registry) -> None:
    assert weights(load(registry, plugins)) == want


def test_filters_are_reordered_by_enabling_them_at_the_point(registry: Registry) -> None:
    config = load(registry, "filter: {enabled: [{name: NodeResourcesFit}, {name: NodeName}]}")

    rest = [name for name in FILTER if name not in ("NodeResourcesFit", "NodeName")]
    assert at(config, "filter") == ["NodeResourcesFit", "NodeName", *rest]
    assert at(config, "preFilter") == FILTER


def test_disabling_at_one_point_leaves_the_others(registry: Registry) -> None:
    config = load(registry, "filter: {disabled: [{name: NodeName}]}")

    assert at(config, "filter") == FILTER[1:]
    assert at(config, "preFilter") == FILTER


def test_a_weight_at_score_leaves_the_placement_score_alone(registry: Registry) -> None:
    plugins = "score: {enabled: [{name: NodeResourcesFit, weight: 5}]}"
    config = load(registry, plugins, gates=FeatureGates.BASE)

    assert weights(config, "placementScore") == [("NodeResourcesFit", 1), ("PodGroupPodsCount", 1)]


def test_points_stand_in_their_fixed_order_and_never_empty(registry: Registry) -> None:
    points = load(registry, "postFilter: {disabled: [{name: '*'}]}").profiles[0].points

    assert list(points) == [point for point in POINTS if point in points]
    assert "postFilter" not in points
    assert all(points.values())


# --- what is refused when a profile is built (§2.5, §2.6) -----------------------------------------------------------

OVERFLOW = "total score of Score plugins could overflow"
BUILD_ERRORS = {
    "an unknown plugin at a point": (
        "score: {enabled: [{name: Pakker}]}",
        'ScorePlugin "Pakker" does not exist',
    ),
    "an unknown plugin at multiPoint is missed at the first point built": (
        "multiPoint: {enabled: [{name: Coscheduling}]}",
        'PreFilterPlugin "Coscheduling" does not exist',
    ),
    "a plugin at a point it does not serve": (
        "score: {enabled: [{name: NodeName}]}",
        'plugin "NodeName" does not extend ScorePlugin plugin',
    ),
    "a plugin twice at a point": (
        "score: {enabled: [{name: Packer}, {name: Packer}]}",
        'plugin "Packer" already registered as "ScorePlugin"',
    ),
    "a plugin twice at multiPoint": (
        "multiPoint: {enabled: [{name: Packer}, {name: Packer}]}",
        'plugin "Packer" already registered as "ScorePlugin"',
    ),
    "a default plugin twice at multiPoint": (
        "multiPoint: {enabled: [{name: NodeName}, {name: NodeName}]}",
        'plugin "NodeName" already registered as "PreFilterPlugin"',
    ),
    "a group point named with a plugin that does not serve it": (
        "podGroupPostFilter: {enabled: [{name: NodeName}]}",
        'plugin "NodeName" does not extend PodGroupPostFilterPlugin plugin',
    ),
    "no queue sort": (
        "queueSort: {disabled: [{name: '*'}]}",
        'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
    ),
    "two queue sorts": (
        "multiPoint: {enabled: [{name: OtherSort}]}",
        'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 2',
    ),
    "no bind": (
        "bind: {disabled: [{name: DefaultBinder}]}",
        'at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
    ),
    "a negative weight": ("score: {enabled: [{name: Packer, weight: -1}]}", OVERFLOW),
    "a negative weight at multiPoint": ("multiPoint: {enabled: [{name: NodeAffinity, weight: -2}]}", OVERFLOW),
}


@pytest.mark.parametrize(("plugins", "want"), BUILD_ERRORS.values(), ids=BUILD_ERRORS)
def test_refused_when_built(plugins: str, want: str, registry: Registry) -> None:
    with pytest.raises(ConfigFileError) as caught:
        load(registry, plugins)

    prefix = "initializing profiles: creating profile for scheduler name default-scheduler: "
    assert caught.value.message == prefix + want
    assert caught.value.stage == "build"


def test_a_negative_weight_away_from_score_is_no_matter(registry: Registry) -> None:
    assert at(load(registry, "multiPoint: {enabled: [{name: NodeName, weight: -1}]}"), "filter") == FILTER


def test_two_binders_are_asked_in_order(registry: Registry) -> None:
    assert at(load(registry, "bind: {enabled: [{name: OtherBinder}]}"), "bind") == ["DefaultBinder", "OtherBinder"]


# --- profiles and settings (§2.2, §2.9, §2.10) ----------------------------------------------------------------------


def test_no_profiles_are_one_with_every_default_plugin(registry: Registry) -> None:
    for document in (HEAD, {**HEAD, "profiles": []}, {**HEAD, "profiles": None}):
        config = load_config(document, FeatureGates.UPSTREAM, registry)

        assert [profile.scheduler_name for profile in config.profiles] == ["default-scheduler"]
        assert weights(config) == SCORE


def test_without_a_document_resource_claims_are_left_out(registry: Registry) -> None:
    config = default_config(registry=registry)

    assert "DynamicResources" not in config.profiles[0].plugin_names()
    assert "GangScheduling" in config.profiles[0].plugin_names()
    assert config.gates == FeatureGates.BASE
    assert "DynamicResources" in default_config(registry=registry, dynamic_resources=True).profiles[0].plugin_names()


def test_gates_append_the_group_plugins(registry: Registry) -> None:
    gang = FeatureGates({"GenericWorkload": True}, start=FeatureGates.UPSTREAM)
    config = load_config(HEAD, gang, registry)

    assert at(config, "preEnqueue")[-2:] == ["DefaultPreemption", "GangScheduling"]
    assert at(config, "placementGenerate") == []
    assert at(load_config(HEAD, FeatureGates.BASE, registry), "placementGenerate") == ["TopologyPlacementGenerator"]


def test_times_and_percentages(registry: Registry) -> None:
    document = {
        **HEAD,
        "podInitialBackoffSeconds": 3,
        "podMaxBackoffSeconds": 5,
        "percentageOfNodesToScore": 0,
        "parallelism": 2,
        "profiles": [{"schedulerName": "a"}, {"schedulerName": "b", "percentageOfNodesToScore": 30}],
    }
    config = load_config(document, registry=registry, node_order="upstream")

    assert (config.initial_backoff, config.max_backoff) == (3 * 10**9, 5 * 10**9)
    assert (config.parallelism, config.percentage_of_nodes_to_score, config.node_order) == (2, 0, "upstream")
    assert [profile.percentage_of_nodes_to_score for profile in config.profiles] == [0, 30]


def test_absent_settings(registry: Registry) -> None:
    config = load_config(HEAD, registry=registry)

    assert (config.initial_backoff, config.max_backoff, config.parallelism) == (10**9, 10 * 10**9, 16)
    assert (config.percentage_of_nodes_to_score, config.node_order) == (100, "name")


def test_a_maximum_backoff_of_0_turns_backoff_off(registry: Registry) -> None:
    assert load_config({**HEAD, "podMaxBackoffSeconds": 0}, registry=registry).max_backoff == 0


SORTS = {
    "another set of queue sort": (
        [{}, {"plugins": {"queueSort": {"disabled": [{"name": "*"}], "enabled": [{"name": "OtherSort"}]}}}],
        'profiles[1].plugins.queueSort: Invalid value: {"enabled":["OtherSort"],"disabled":["*"]}: '
        "must be the same for all profiles",
    ),
    "other arguments of queue sort": (
        [
            {"plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}, "pluginConfig": [
                {"name": "PrioritySort", "args": {"x": 1}}]},
            {"plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}, "pluginConfig": [
                {"name": "PrioritySort", "args": {"x": 2}}]},
        ],
        'profiles[1].pluginConfig.args: Invalid value: {"x":2}: queueSort must be the same for all profiles',
    ),
    "two plugins of queue sort": (
        [{"plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}, {"name": "OtherSort"}]}}}],
        "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled",
    ),
    "another queue sort by way of multiPoint": (
        [{}, {"plugins": {"multiPoint": {"disabled": [{"name": "PrioritySort"}], "enabled": [{"name": "OtherSort"}]}}}],
        "initializing profiles: creating profile for scheduler name p1: "
        'queue sort plugin "OtherSort": must be the same for all profiles, first: "PrioritySort"',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("profiles", "want"), SORTS.values(), ids=SORTS)
def test_profiles_share_the_queue_sort(profiles: list[dict[str, Any]], want: str, registry: Registry) -> None:
    named = [{"schedulerName": f"p{index}", **profile} for index, profile in enumerate(profiles)]

    with pytest.raises(ConfigFileError) as caught:
        load_config({**HEAD, "profiles": named}, registry=registry)
    assert caught.value.message == want
