"""Cores under the configurations and gates a random world may run with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from random import Random
from types import ModuleType
from typing import Any

from gangsched.config import FeatureGates, SchedulerConfig, load_config
from gangsched.engine import columns, signature_column
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched_framework import node_table
from gangsched_plugins.default_registry import default_registry
from tests.properties.objects import GPU, one_in, some

_WITHOUT_CLAIMS = {"multiPoint": {"disabled": [{"name": "DynamicResources"}]}}


def _resources(*weights: tuple[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "weight": weight} for name, weight in weights]


def _args(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def _strategy(kind: str, *weights: tuple[str, int], **more: Any) -> dict[str, Any]:
    return _args("NodeResourcesFit", scoringStrategy={"type": kind, "resources": _resources(*weights), **more})


_RATIO = {"requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}}
_SPREAD = {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}
_AFFINITY = {"preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}, "weight": 50}

_CONFIGURATIONS: Mapping[str, Sequence[dict[str, Any]]] = {
    "default": (),
    "packed": (_strategy("MostAllocated", ("cpu", 3), ("memory", 1), (GPU, 5)),),
    "ratio": (_strategy("RequestedToCapacityRatio", ("cpu", 1), (GPU, 2), **_RATIO),),
    "balanced": (
        _args("NodeResourcesBalancedAllocation", resources=_resources(("cpu", 1), (GPU, 1), ("memory", 1))),
        _strategy("LeastAllocated", ("memory", 1), (GPU, 1)),
    ),
    "spread": (_args("PodTopologySpread", defaultingType="List", defaultConstraints=[_SPREAD]),),
    "added affinity": (
        _args("NodeAffinity", addedAffinity={"preferredDuringSchedulingIgnoredDuringExecution": [_AFFINITY]}),
    ),
    "no preemption": (),
}

_DISABLED: Mapping[str, Sequence[str]] = {"no preemption": ("DefaultPreemption",)}


@cache
def configuration(name: str, gates: int) -> SchedulerConfig:
    """Two profiles: the named one, and ``other-scheduler`` that scores less. ``gates``: a number in ``_GATES``."""
    left_out = ("DynamicResources", *_DISABLED.get(name, ()))
    return load_config(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {
                    "schedulerName": "default-scheduler",
                    "plugins": {"multiPoint": {"disabled": [{"name": plugin} for plugin in left_out]}},
                    "pluginConfig": list(_CONFIGURATIONS[name]),
                },
                {
                    "schedulerName": "other-scheduler",
                    "plugins": {
                        **_WITHOUT_CLAIMS,
                        "score": {
                            "disabled": [{"name": "NodeResourcesBalancedAllocation"}, {"name": "ImageLocality"}],
                            "enabled": [{"name": "NodeResourcesFit", "weight": 7}],
                        },
                    },
                },
            ],
        },
        FeatureGates(_GATES[gates]),
        default_registry(),
    )


_USUAL: dict[str, bool] = {}
_GATES = (
    _USUAL,
    _USUAL,
    _USUAL,
    {"SchedulerAsyncPreemption": True},
    {"PodGroupPreemptionPolicy": True},
    {"SchedulerPopFromBackoffQ": False},
    {"CompositePodGroup": False},
    {"CompositePodGroup": False, "TopologyAwareWorkloadScheduling": False},
)


_LIMITS: tuple[tuple[ModuleType, str, int], ...] = (
    (columns, "MAX_COLUMNS", 5),
    (node_table, "MAX_TOUCHES", 60),
    (signature_column, "REBUILD_ABOVE", 2),
)


@contextmanager
def small_limits() -> Iterator[None]:
    """What only big clusters meet (rebuilt columns, dropped columns, a renewed log) happens in small ones, too."""
    before = [(module, name, getattr(module, name)) for module, name, _ in _LIMITS]
    for module, name, limit in _LIMITS:
        setattr(module, name, limit)
    try:
        yield
    finally:
        for module, name, limit in before:
            setattr(module, name, limit)


def draw_cores(rng: Random, *, oracle: bool) -> list[Scheduler]:
    """One core; with ``oracle`` a second one that differs only in that it never uses columns."""
    config = configuration(some(rng, tuple(_CONFIGURATIONS)), rng.randrange(len(_GATES)))
    tracing = one_in(rng, 4)
    maximum = 0 if one_in(rng, 12) else config.max_backoff
    settings = [Settings(tracing=tracing, max_backoff=maximum)]
    if oracle:
        settings.append(Settings(tracing=tracing, max_backoff=maximum, oracle=True))
    registry = default_registry()
    return [Scheduler(config.profiles, registry, settings=each, feature_gates=config.gates) for each in settings]
