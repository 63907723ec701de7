"""Arguments of plugins: defaults (spec node-plugins.md §1.2), ranges (§2.9), and what passes unread (§2.8)."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gangsched.config import ConfigFileError, SchedulerConfig, load_config
from gangsched_framework.registry import Registry
from tests.scheduler.config.conftest import HEAD

TWO = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
LEAST = {"type": "LeastAllocated", "resources": TWO}


def load(registry: Registry, plugin: str, args: str) -> SchedulerConfig:
    entry = {"name": plugin, "args": yaml.safe_load(args)}
    return load_config({**HEAD, "profiles": [{"pluginConfig": [entry]}]}, registry=registry)


DEFAULTS: dict[str, tuple[str, str, Any]] = {
    "fit takes the least allocated of cpu and memory": ("NodeResourcesFit", "{}", {"scoringStrategy": LEAST}),
    "fit: a strategy without resources looks at cpu and memory": (
        "NodeResourcesFit",
        "scoringStrategy: {type: MostAllocated}",
        {"scoringStrategy": {"type": "MostAllocated", "resources": TWO}},
    ),
    "fit: weight 0 or absent is 1": (
        "NodeResourcesFit",
        "scoringStrategy: {type: LeastAllocated, resources: [{name: a, weight: 0}, {name: b}]}",
        {
            "scoringStrategy": {
                "type": "LeastAllocated",
                "resources": [{"name": "a", "weight": 1}, {"name": "b", "weight": 1}],
            }
        },
    ),
    "fit: a point of the shape counts from 0": (
        "NodeResourcesFit",
        "scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio:"
        " {shape: [{score: 3}, {utilization: 100}]}}",
        {
            "scoringStrategy": {
                "type": "RequestedToCapacityRatio",
                "resources": TWO,
                "requestedToCapacityRatio": {
                    "shape": [{"utilization": 0, "score": 3}, {"utilization": 100, "score": 0}]
                },
            }
        },
    ),
    "fit keeps what it ignores": (
        "NodeResourcesFit",
        "{ignoredResources: [example.com/foo], ignoredResourceGroups: [example.com]}",
        {
            "ignoredResources": ["example.com/foo"],
            "ignoredResourceGroups": ["example.com"],
            "scoringStrategy": LEAST,
        },
    ),
    "balanced looks at cpu and memory": ("NodeResourcesBalancedAllocation", "resources: []", {"resources": TWO}),
    "spread defaults to the system's constraints": ("PodTopologySpread", "{}", {"defaultingType": "System"}),
    "spread: an empty type is System": ("PodTopologySpread", "defaultingType: ''", {"defaultingType": "System"}),
    "inter-pod affinity weighs hard affinity 1": (
        "InterPodAffinity",
        "ignorePreferredTermsOfExistingPods: true",
        {"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": True},
    ),
    "node affinity adds nothing": ("NodeAffinity", "{}", {}),
    "preemption tries a tenth of the nodes and at least a hundred": (
        "DefaultPreemption",
        "minCandidateNodesPercentage: 0",
        {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 100},
    ),
    "volume binding": (
        "VolumeBinding",
        "bindTimeoutSeconds: 0",
        {
            "bindTimeoutSeconds": 0,
            "shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}],
        },
    ),
    "resource claims": ("DynamicResources", "filterTimeout: 0s", {"filterTimeout": "0s", "bindingTimeout": "10m0s"}),
    "timeouts read as Go prints them": (
        "DynamicResources",
        "{filterTimeout: 90s, bindingTimeout: 1h}",
        {"filterTimeout": "1m30s", "bindingTimeout": "1h0m0s"},
    ),
    "arguments of a plugin that takes none pass unread": (
        "TaintToleration",
        "{x: [1, {y: z}]}",
        {"x": [1, {"y": "z"}]},
    ),
    "arguments may say what they are": (
        "NodeAffinity",
        "{apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeAffinityArgs}",
        {},
    ),
    "null arguments are the defaults": ("PodTopologySpread", "null", {"defaultingType": "System"}),
}


@pytest.mark.parametrize(("plugin", "args", "want"), DEFAULTS.values(), ids=DEFAULTS)
def test_effective_arguments(plugin: str, args: str, want: Any, registry: Registry) -> None:
    assert load(registry, plugin, args).profiles[0].args[plugin] == want


def test_arguments_of_a_plugin_that_serves_nowhere_are_dropped_and_unchecked(registry: Registry) -> None:
    profile = {
        "plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}},
        "pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["bad name"]}}],
    }
    config = load_config({**HEAD, "profiles": [profile]}, registry=registry)

    assert "NodeResourcesFit" not in config.profiles[0].args


AT = "profiles[0].pluginConfig[0].args"
SHAPE = "scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: %s}}"
RATIO = "scoringStrategy.requestedToCapacityRatio"
RULE = "a valid label must be an empty string or consist of"
REFUSED = {
    "an affinity weight below 0": (
        "InterPodAffinity",
        "hardPodAffinityWeight: -1",
        ".hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]",
    ),
    "a percentage of candidates above 100": (
        "DefaultPreemption",
        "minCandidateNodesPercentage: 101",
        ".minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]",
    ),
    "a negative number of candidates": (
        "DefaultPreemption",
        "minCandidateNodesAbsolute: -1",
        ".minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)",
    ),
    "a weight in balanced": (
        "NodeResourcesBalancedAllocation",
        "resources: [{name: cpu, weight: 2}]",
        ".resources[0].weight: Invalid value: 2: must be 1",
    ),
    "a resource twice in balanced": (
        "NodeResourcesBalancedAllocation",
        "resources: [{name: cpu}, {name: cpu}]",
        '.resources[1].name: Duplicate value: "cpu"',
    ),
    "a spread type that does not exist": (
        "PodTopologySpread",
        "defaultingType: list",
        '.defaultingType: Unsupported value: "list": supported values: "System", "List"',
    ),
    "spread constraints with the system's": (
        "PodTopologySpread",
        "defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]",
        '.defaultingType: Invalid value: "System": when .defaultConstraints are not empty',
    ),
    "a skew of 0": (
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
        ".defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
    ),
    "a constraint without key": (
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]}",
        ".defaultConstraints[0].topologyKey: Required value: can not be empty",
    ),
    "a constraint without action": (
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone}]}",
        ".defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty",
    ),
    "a constraint with an action that does not exist": (
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Never}]}",
        '.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Never": '
        'supported values: "DoNotSchedule", "ScheduleAnyway"',
    ),
    "a constraint with a selector": (
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
        "whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}]}",
        ".defaultConstraints[0].labelSelector: Forbidden: "
        "constraint must not define a selector, as they deduced for each pod",
    ),
    "a constraint twice": (
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
        "whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
        '.defaultConstraints[1]: Duplicate value: "{zone, ScheduleAnyway}"',
    ),
    "a negative bind timeout": (
        "VolumeBinding",
        "bindTimeoutSeconds: -1",
        ".bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
    ),
    "a score above 10 in a volume shape": (
        "VolumeBinding",
        "shape: [{utilization: 0, score: 11}]",
        ".shape[0].score: Invalid value: 11: not in valid range [0, 10]",
    ),
    "a timeout that is no duration": (
        "DynamicResources",
        "filterTimeout: 10 s",
        '.filterTimeout: Invalid value: "10 s": not a duration such as 10s or 1m30s',
    ),
    "a negative timeout": (
        "DynamicResources",
        "filterTimeout: -1s",
        '.filterTimeout: Invalid value: "-1s": must be zero or positive',
    ),
    "a binding timeout below a second": (
        "DynamicResources",
        "bindingTimeout: 999ms",
        '.bindingTimeout: Invalid value: "999ms": must be at least 1 second',
    ),
    "an added affinity with an operator that does not exist": (
        "NodeAffinity",
        "addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: a, operator: in, values: [b]}]}]}}",
        ".addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]"
        '.operator: Unsupported value: "in": '
        'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"',
    ),
    "an added preference without values": (
        "NodeAffinity",
        "addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
        "{matchExpressions: [{key: a, operator: In}]}}]}",
        ".addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchExpressions[0]"
        ".values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ),
}

FIT_REFUSED = {
    "fit: no such strategy": (
        "scoringStrategy: {type: Least}",
        'scoringStrategy.type: Unsupported value: "Least": '
        'supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"',
    ),
    "fit: a strategy without type": (
        "scoringStrategy: {}",
        'scoringStrategy.type: Unsupported value: "": '
        'supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"',
    ),
    "fit: a weight above 100": (
        "scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 101}]}",
        "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]",
    ),
    "fit: a negative weight": (
        "scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: -1}]}",
        "scoringStrategy.resources[0].weight: Invalid value: -1: resource weight of cpu not in valid range (0, 100]",
    ),
    "fit: the ratio strategy without its shape": (
        "scoringStrategy: {type: RequestedToCapacityRatio}",
        f"{RATIO}: Required value: must be specified when type is RequestedToCapacityRatio",
    ),
    "fit: a shape for another strategy": (
        "scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {shape: [{score: 1}]}}",
        f"{RATIO}: Forbidden: must be nil when type is not RequestedToCapacityRatio",
    ),
    "fit: a shape without points": (
        SHAPE % "[]",
        f"{RATIO}.shape: Required value: at least one point must be specified",
    ),
    "fit: a shape that does not rise": (
        SHAPE % "[{utilization: 10}, {utilization: 10}]",
        f"{RATIO}.shape[1].utilization: Invalid value: 10: values must be sorted in increasing order",
    ),
    "fit: a utilization above 100": (
        SHAPE % "[{utilization: 101}]",
        f"{RATIO}.shape[0].utilization: Invalid value: 101: not in valid range [0, 100]",
    ),
    "fit: a score below 0": (
        SHAPE % "[{score: -1}]",
        f"{RATIO}.shape[0].score: Invalid value: -1: not in valid range [0, 10]",
    ),
    "fit: an ignored group with a slash": (
        "ignoredResourceGroups: [a.b/c]",
        "ignoredResourceGroups[0]: Invalid value: \"a.b/c\": resource group name can't contain '/'",
    ),
}


@pytest.mark.parametrize(("plugin", "args", "want"), REFUSED.values(), ids=REFUSED)
def test_refused_when_loaded(plugin: str, args: str, want: str, registry: Registry) -> None:
    with pytest.raises(ConfigFileError) as caught:
        load(registry, plugin, args)

    assert caught.value.message == AT + want
    assert caught.value.stage == "validate"


@pytest.mark.parametrize(("args", "want"), FIT_REFUSED.values(), ids=FIT_REFUSED)
def test_fit_is_refused_when_built_and_names_no_profile_path(args: str, want: str, registry: Registry) -> None:
    with pytest.raises(ConfigFileError) as caught:
        load(registry, "NodeResourcesFit", args)

    prefix = "initializing profiles: creating profile for scheduler name default-scheduler: "
    assert caught.value.message == f'{prefix}initializing plugin "NodeResourcesFit": {want}'
    assert caught.value.stage == "build"


EXPRESSIONS = {
    "a key that is no label": ("{key: a b, operator: Exists}", "key", '"a b": name part must consist of'),
    "values for Exists": ("{key: a, operator: Exists, values: [b]}", "values", '["b"]: values set must be empty'),
    "two values for Gt": ("{key: a, operator: Gt, values: ['1', '2']}", "values", "[\"1\",\"2\"]: for 'Gt', 'Lt'"),
    "text for Lt": ("{key: a, operator: Lt, values: [x]}", "values[0]", "\"x\": for 'Gt', 'Lt' operators, the value"),
    "a value that is no label": ("{key: a, operator: In, values: [a b]}", "values[0][a]", f'"a b": {RULE}'),
}


@pytest.mark.parametrize(("expression", "field", "want"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_an_added_affinity_is_refused(expression: str, field: str, want: str, registry: Registry) -> None:
    term = f"{{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}"
    with pytest.raises(ConfigFileError) as caught:
        load(registry, "NodeAffinity", f"addedAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {term}}}")

    assert f".matchExpressions[0].{field}: Invalid value: {want}" in caught.value.message


def test_a_field_of_a_node_takes_one_value(registry: Registry) -> None:
    for expression, want in (
        (
            "{key: metadata.name, operator: In, values: [a, b]}",
            'values: Invalid value: ["a","b"]: must have one element',
        ),
        (
            "{key: metadata.name, operator: Gt, values: [a]}",
            'operator: Unsupported value: "Gt": supported values: "In", ',
        ),
    ):
        term = f"{{nodeSelectorTerms: [{{matchFields: [{expression}]}}]}}"
        with pytest.raises(ConfigFileError) as caught:
            load(registry, "NodeAffinity", f"addedAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {term}}}")
        assert f".matchFields[0].{want}" in caught.value.message
