"""Arguments of NodeResourcesFit, checked when the plugin is built and not at load (spec node-plugins.md §2.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from gangsched_framework.errors import ConfigurationError
from gangsched_framework.resources import CPU, MEMORY
from gangsched_plugins.common.labels import invalid, joined, label_key_errors
from gangsched_plugins.node_resources_fit.strategies import (
    Strategy,
    Weights,
    least_allocated,
    most_allocated,
    requested_to_capacity_ratio,
)

_RATIO = "RequestedToCapacityRatio"


@frozen
class FitArguments:
    """``ratio``: the strategy is RequestedToCapacityRatio, whose mean has rules of its own."""

    strategy: Strategy
    ratio: bool
    resources: Weights
    ignored: frozenset[str]
    ignored_groups: frozenset[str]

    def ignores(self, resource: str) -> bool:
        """Whether Filter leaves a scalar out; only extended resources can be ignored (spec §7.6.1.4)."""
        if "/" not in resource or "kubernetes.io/" in resource:
            return False
        return resource in self.ignored or resource.split("/", 1)[0] in self.ignored_groups


def read_arguments(args: Mapping[str, Any]) -> FitArguments:
    """Arguments as written in a configuration file. Raises ConfigurationError naming every complaint."""
    scoring = args.get("scoringStrategy") or {}
    kind = scoring.get("type") or "LeastAllocated"
    resources = scoring.get("resources") or [{"name": CPU, "weight": 1}, {"name": MEMORY, "weight": 1}]
    shape = (scoring.get("requestedToCapacityRatio") or {}).get("shape") or []
    ignored, groups = args.get("ignoredResources") or (), args.get("ignoredResourceGroups") or ()

    errors = _name_errors("ignoredResources", ignored)
    errors += [
        invalid(f"ignoredResourceGroups[{i}]", group, "resource group name can't contain '/'")
        for i, group in enumerate(groups)
        if "/" in group
    ]
    errors += _name_errors("ignoredResourceGroups", groups)
    errors += _weight_errors(resources)
    if kind == _RATIO:
        errors += _shape_errors("scoringStrategy.requestedToCapacityRatio.shape", shape)
    elif scoring.get("requestedToCapacityRatio") is not None:
        errors.append(f"scoringStrategy.requestedToCapacityRatio: Forbidden: only for type {_RATIO}")
    if errors:
        raise ConfigurationError(joined(errors))
    return FitArguments(
        _strategy(kind, shape),
        kind == _RATIO,
        tuple((r["name"], r.get("weight") or 1) for r in resources),
        frozenset(ignored),
        frozenset(groups),
    )


def _strategy(kind: str, shape: Sequence[Mapping[str, int]]) -> Strategy:
    if kind == "LeastAllocated":
        return least_allocated
    if kind == "MostAllocated":
        return most_allocated
    if kind == _RATIO:
        return requested_to_capacity_ratio([(p.get("utilization", 0), p.get("score", 0)) for p in shape])
    raise ConfigurationError(f"scoring strategy {kind} is not supported")


def _name_errors(path: str, names: Sequence[str]) -> list[str]:
    return [
        invalid(f"{path}[{i}]", name, problem) for i, name in enumerate(names) for problem in label_key_errors(name)
    ]


def _weight_errors(resources: Sequence[Mapping[str, Any]]) -> list[str]:
    errors = []
    for i, resource in enumerate(resources):
        weight = resource.get("weight") or 1
        if not 1 <= weight <= 100:
            detail = f"resource weight of {resource['name']} not in valid range [1, 100]"
            errors.append(invalid(f"scoringStrategy.resources[{i}].weight", weight, detail))
    return errors


def _shape_errors(path: str, shape: Sequence[Mapping[str, int]]) -> list[str]:
    if not shape:
        return [f"{path}: Required value: at least one point must be specified"]
    errors = []
    previous = -1
    for i, point in enumerate(shape):
        utilization, score = point.get("utilization", 0), point.get("score", 0)
        if not 0 <= utilization <= 100:
            errors.append(invalid(f"{path}[{i}].utilization", utilization, "not in valid range [0, 100]"))
        elif utilization <= previous:
            detail = "utilization values must be sorted in increasing order"
            errors.append(invalid(f"{path}[{i}].utilization", utilization, detail))
        if not 0 <= score <= 10:
            errors.append(invalid(f"{path}[{i}].score", score, "not in valid range [0, 10]"))
        previous = utilization
    return errors
