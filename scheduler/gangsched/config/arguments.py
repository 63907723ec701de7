"""Arguments of the in-tree plugins: their shapes, defaults (spec §1.2) and ranges (spec §2.9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from attrs import frozen

from gangsched.config import affinity_argument
from gangsched.config.durations import canonical, nanoseconds
from gangsched.config.problems import Problem, duplicate, forbidden, invalid, required, unsupported
from gangsched.config.schema import Bool, Fields, Int, ListOf, Text, TextMap
from gangsched_framework.yaml_lines import ValuePath
from gangsched_plugins import names
from gangsched_plugins.common.labels import label_key_errors

_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_MAX_SHAPE_SCORE = 10
_HDRF_MODES = ("upstream", "paper")

Args = Mapping[str, Any]


@frozen
class Arguments:
    """Shape, defaults and ranges of one plugin's arguments.

    ``with_defaults(args)`` gives the effective arguments; ``problems`` of those tells what is out of range, with
    paths that begin inside the arguments. ``checked_when_built``: not before a profile with the plugin is built, in
    messages without the beginning of the path (spec §2.7).
    """

    shape: Fields
    with_defaults: Callable[[Args], dict[str, Any]]
    problems: Callable[[Args], Iterator[Problem]]
    checked_when_built: bool = False


_RESOURCES = ListOf(Fields({"name": Text(), "weight": Int(64)}))
_SHAPE = ListOf(Fields({"utilization": Int(32), "score": Int(32)}))
_SELECTOR = Fields(
    {
        "matchLabels": TextMap(),
        "matchExpressions": ListOf(Fields({"key": Text(), "operator": Text(), "values": ListOf(Text())})),
    }
)
_CONSTRAINT = Fields(
    {
        "maxSkew": Int(32),
        "topologyKey": Text(),
        "whenUnsatisfiable": Text(),
        "labelSelector": _SELECTOR,
        "minDomains": Int(32),
        "nodeAffinityPolicy": Text(),
        "nodeTaintsPolicy": Text(),
        "matchLabelKeys": ListOf(Text()),
    }
)


# --- shared ranges ------------------------------------------------------------------------------------------------


def _in_range(args: Args, key: str, at: ValuePath, low: int, high: int | None = None) -> Iterator[Problem]:
    value = args[key]
    if value < low or (high is not None and value > high):
        end = "inf)" if high is None else f"{high}]"
        yield invalid((*at, key), value, f"not in valid range [{low}, {end}")


def _resources(given: Sequence[Args]) -> list[dict[str, Any]]:
    """Weight 0 or absent is 1; no resources are cpu and memory."""
    if not given:
        return [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    return [{"name": item.get("name", ""), "weight": item.get("weight") or 1} for item in given]


def _points(shape: Sequence[Args]) -> list[dict[str, Any]]:
    return [{"utilization": point.get("utilization", 0), "score": point.get("score", 0)} for point in shape]


def _shape_problems(shape: Sequence[Args], at: ValuePath) -> Iterator[Problem]:
    if not shape:
        yield required(at, "at least one point must be specified")
    for index, (before, point) in enumerate(pairwise(shape), 1):
        if before["utilization"] >= point["utilization"]:
            yield invalid(
                (*at, index, "utilization"), point["utilization"], "values must be sorted in increasing order"
            )
            break
    for index, point in enumerate(shape):
        yield from _in_range(point, "utilization", (*at, index), 0, 100)
        yield from _in_range(point, "score", (*at, index), 0, _MAX_SHAPE_SCORE)


# --- one plugin after the other -----------------------------------------------------------------------------------


def _fit(args: Args) -> dict[str, Any]:
    strategy = dict(args.get("scoringStrategy", {"type": _STRATEGIES[0]}))
    strategy.setdefault("type", "")
    strategy["resources"] = _resources(strategy.get("resources", ()))
    if "requestedToCapacityRatio" in strategy:
        strategy["requestedToCapacityRatio"] = {"shape": _points(strategy["requestedToCapacityRatio"].get("shape", ()))}
    return {**args, "scoringStrategy": strategy}


def _fit_problems(args: Args) -> Iterator[Problem]:
    for index, name in enumerate(args.get("ignoredResources", ())):
        yield from (invalid(("ignoredResources", index), name, why) for why in label_key_errors(name))
    for index, group in enumerate(args.get("ignoredResourceGroups", ())):
        at: ValuePath = ("ignoredResourceGroups", index)
        if "/" in group:
            yield invalid(at, group, "resource group name can't contain '/'")
        yield from (invalid(at, group, why) for why in label_key_errors(group))
    yield from (problem.under(("scoringStrategy",)) for problem in _strategy_problems(args["scoringStrategy"]))


def _strategy_problems(strategy: Args) -> Iterator[Problem]:
    kind, ratio = strategy["type"], "requestedToCapacityRatio"
    if kind not in _STRATEGIES:
        yield unsupported(("type",), kind, _STRATEGIES)
    for index, resource in enumerate(strategy["resources"]):
        if not 0 < resource["weight"] <= 100:
            why = f"resource weight of {resource['name']} not in valid range (0, 100]"
            yield invalid(("resources", index, "weight"), resource["weight"], why)
    if kind == "RequestedToCapacityRatio":
        if ratio not in strategy:
            yield required((ratio,), f"must be specified when type is {kind}")
        else:
            yield from _shape_problems(strategy[ratio]["shape"], (ratio, "shape"))
    elif ratio in strategy:
        yield forbidden((ratio,), "must be nil when type is not RequestedToCapacityRatio")


def _balanced(args: Args) -> dict[str, Any]:
    return {"resources": _resources(args.get("resources", ()))}


def _balanced_problems(args: Args) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, resource in enumerate(args["resources"]):
        if resource["name"] in seen:
            yield duplicate(("resources", index, "name"), resource["name"])
        seen.add(resource["name"])
        if resource["weight"] != 1:
            yield invalid(("resources", index, "weight"), resource["weight"], "must be 1")


def _spread(args: Args) -> dict[str, Any]:
    effective = {**args, "defaultingType": args.get("defaultingType") or "System"}
    if not effective.get("defaultConstraints"):
        effective.pop("defaultConstraints", None)
    return effective


def _spread_problems(args: Args) -> Iterator[Problem]:
    kind, constraints = args["defaultingType"], args.get("defaultConstraints", ())
    if kind not in ("System", "List"):
        yield unsupported(("defaultingType",), kind, ("System", "List"))
    elif kind == "System" and constraints:
        yield invalid(("defaultingType",), kind, "when .defaultConstraints are not empty")
    seen: set[str] = set()
    for index, constraint in enumerate(constraints):
        at: ValuePath = ("defaultConstraints", index)
        yield from (problem.under(at) for problem in _constraint_problems(constraint))
        pair = f"{{{constraint.get('topologyKey', '')}, {constraint.get('whenUnsatisfiable', '')}}}"
        if pair in seen:
            yield duplicate(at, pair)
        seen.add(pair)


def _constraint_problems(constraint: Args) -> Iterator[Problem]:
    skew, key, action = (constraint.get(field) for field in ("maxSkew", "topologyKey", "whenUnsatisfiable"))
    if (skew or 0) <= 0:
        yield invalid(("maxSkew",), skew or 0, "not in valid range (0, inf)")
    if not key:
        yield required(("topologyKey",), "can not be empty")
    else:
        yield from (invalid(("topologyKey",), key, why) for why in label_key_errors(key))
    if not action:
        yield required(("whenUnsatisfiable",), "can not be empty")
    elif action not in _ACTIONS:
        yield unsupported(("whenUnsatisfiable",), action, _ACTIONS)
    if "labelSelector" in constraint:
        yield forbidden(("labelSelector",), "constraint must not define a selector, as they deduced for each pod")


def _inter_pod(args: Args) -> dict[str, Any]:
    return {"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": False, **args}


def _inter_pod_problems(args: Args) -> Iterator[Problem]:
    return _in_range(args, "hardPodAffinityWeight", (), 0, 100)


def _preemption(args: Args) -> dict[str, Any]:
    return {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100, **args}


def _preemption_problems(args: Args) -> Iterator[Problem]:
    percentage, absolute = "minCandidateNodesPercentage", "minCandidateNodesAbsolute"
    yield from _in_range(args, percentage, (), 0, 100)
    yield from _in_range(args, absolute, (), 0)
    if args[percentage] == 0 and args[absolute] == 0:
        yield invalid((percentage,), 0, f"cannot be zero at the same time as {absolute}")
        yield invalid((absolute,), 0, f"cannot be zero at the same time as {percentage}")


def _volume(args: Args) -> dict[str, Any]:
    default = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    return {"bindTimeoutSeconds": 600, **args, "shape": _points(args.get("shape") or default)}


def _volume_problems(args: Args) -> Iterator[Problem]:
    if args["bindTimeoutSeconds"] < 0:
        why = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid(("bindTimeoutSeconds",), args["bindTimeoutSeconds"], why)
    yield from _shape_problems(args["shape"], ("shape",))


def _claims(args: Args) -> dict[str, Any]:
    timeouts = {"filterTimeout": "10s", "bindingTimeout": "10m", **args}
    found = {key: nanoseconds(text) for key, text in timeouts.items()}
    return {key: timeouts[key] if nanos is None else canonical(nanos) for key, nanos in found.items()}


def _claims_problems(args: Args) -> Iterator[Problem]:
    for key, least, why in (("filterTimeout", 0, "zero or positive"), ("bindingTimeout", 10**9, "at least 1 second")):
        duration = nanoseconds(args[key])
        if duration is None:
            yield invalid((key,), args[key], "not a duration such as 10s or 1m30s")
        elif duration < least:
            yield invalid((key,), args[key], f"must be {why}")


def _node_affinity(args: Args) -> dict[str, Any]:
    return dict(args)


def _node_affinity_problems(args: Args) -> Iterator[Problem]:
    problems = affinity_argument.problems(args.get("addedAffinity", {}))
    return (problem.under(("addedAffinity",)) for problem in problems)


def _hdrf(args: Args) -> dict[str, Any]:
    return {"mode": _HDRF_MODES[0], **args}


def _hdrf_problems(args: Args) -> Iterator[Problem]:
    if args["mode"] not in _HDRF_MODES:
        yield unsupported(("mode",), args["mode"], _HDRF_MODES)


def _capacity(args: Args) -> dict[str, Any]:
    return {"hierarchical": False, **args}


def _sound(_args: Args) -> Iterator[Problem]:
    """Whatever has the right shape is right."""
    return iter(())


_NO_ARGUMENTS = Arguments(Fields({}), dict, _sound)

ARGUMENTS: Mapping[str, Arguments] = {
    **dict.fromkeys((names.PRIORITY, names.GANG, names.DRF, names.PROPORTION), _NO_ARGUMENTS),
    names.HDRF: Arguments(Fields({"mode": Text()}), _hdrf, _hdrf_problems),
    names.CAPACITY: Arguments(Fields({"hierarchical": Bool()}), _capacity, _sound),
    names.DEFAULT_PREEMPTION: Arguments(
        Fields({"minCandidateNodesPercentage": Int(32), "minCandidateNodesAbsolute": Int(32)}),
        _preemption,
        _preemption_problems,
    ),
    names.DYNAMIC_RESOURCES: Arguments(
        Fields({"filterTimeout": Text(), "bindingTimeout": Text()}), _claims, _claims_problems
    ),
    names.INTER_POD_AFFINITY: Arguments(
        Fields({"hardPodAffinityWeight": Int(32), "ignorePreferredTermsOfExistingPods": Bool()}),
        _inter_pod,
        _inter_pod_problems,
    ),
    names.NODE_AFFINITY: Arguments(
        Fields({"addedAffinity": affinity_argument.SHAPE}), _node_affinity, _node_affinity_problems
    ),
    names.NODE_RESOURCES_BALANCED_ALLOCATION: Arguments(
        Fields({"resources": _RESOURCES}), _balanced, _balanced_problems
    ),
    names.NODE_RESOURCES_FIT: Arguments(
        Fields(
            {
                "ignoredResources": ListOf(Text()),
                "ignoredResourceGroups": ListOf(Text()),
                "scoringStrategy": Fields(
                    {
                        "type": Text(),
                        "resources": _RESOURCES,
                        "requestedToCapacityRatio": Fields({"shape": _SHAPE}),
                    }
                ),
            }
        ),
        _fit,
        _fit_problems,
        checked_when_built=True,
    ),
    names.POD_TOPOLOGY_SPREAD: Arguments(
        Fields({"defaultingType": Text(), "defaultConstraints": ListOf(_CONSTRAINT)}), _spread, _spread_problems
    ),
    names.VOLUME_BINDING: Arguments(
        Fields({"bindTimeoutSeconds": Int(64), "shape": _SHAPE}), _volume, _volume_problems
    ),
}
