"""Cores under the configurations and gates a random world may run with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from random import Random
from types import ModuleType
from typing import Any, get_args

from attrs import evolve

from gangsched.config import FeatureGates, SchedulerConfig, load_config
from gangsched.engine import (
    columns,
    domain_choice,
    placement_board,
    planned_run,
    run_ahead,
    signature_column,
    submit,
)
from gangsched.engine.column_search import ColumnSearch
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import ChildOrder, Evaluation, ExtraPodPreemption, GroupScheduling, Settings
from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework import node_table
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Handle
from gangsched_framework.objects import Condition, EntityKey, Pod, PodStatus
from gangsched_framework.placement import Placement
from gangsched_framework.registry import Registry
from gangsched_framework.status import Status, unschedulable
from gangsched_plugins import topology_placement_generator
from gangsched_plugins.default_preemption import row_memo
from gangsched_plugins.default_registry import default_registry
from gangsched_plugins.inter_pod_affinity import templates
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
    "picky": (),
}

_DISABLED: Mapping[str, Sequence[str]] = {"no preemption": ("DefaultPreemption",)}


class Picky:
    """Reserve and Permit that refuse some pods on some nodes; every reservation must be returned at most once."""

    name = "Picky"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._held: dict[str, str] = {}

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        if pod.labels.get("app") == "db" and node_name in ("n1", "n4"):
            return unschedulable("not here", plugin=self.name)
        assert pod.uid not in self._held, f"{pod.key} is reserved twice"
        self._held[pod.uid] = node_name
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        known = self._held.pop(pod.uid, node_name)  # one that was refused is told, too
        assert known == node_name, f"{pod.key} was reserved on {known}"

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return unschedulable("not now", plugin=self.name) if pod.name == "p3" else None


def _registry() -> Registry:
    registry = default_registry()
    registry.register(Picky.name, Picky)
    return registry


def _plugins(name: str) -> dict[str, Any]:
    left_out = ("DynamicResources", *_DISABLED.get(name, ()))
    plugins: dict[str, Any] = {"multiPoint": {"disabled": [{"name": plugin} for plugin in left_out]}}
    if name == "picky":
        plugins |= {point: {"enabled": [{"name": Picky.name}]} for point in ("reserve", "permit")}
    return plugins


@cache
def configuration(name: str, gates: int) -> SchedulerConfig:
    """Two profiles: the named one, and ``other-scheduler`` that scores less. ``gates``: a number in ``_GATES``."""
    return load_config(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {
                    "schedulerName": "default-scheduler",
                    "plugins": _plugins(name),
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
        _registry(),
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
    (domain_choice, "MAX_CLASSES", 3),
    (node_table, "MAX_MOVES", 40),
    (node_table, "MAX_TOUCHES", 60),
    (planned_run, "MIN_RUN", 2),
    (planned_run, "START", 2),
    (planned_run, "LONGEST", 5),
    (placement_board, "MAX_BOARDS", 3),
    (row_memo, "MAX_KINDS", 3),
    (run_ahead, "START", 2),
    (run_ahead, "LONGEST", 3),
    (row_memo, "MAX_STALE", 2),
    (signature_column, "REBUILD_ABOVE", 2),
    (submit, "_MANY", 2),
    (templates, "MAX_KNOWN", 4),
    (topology_placement_generator, "_MAX_KEPT", 2),
)


@contextmanager
def small_limits() -> Iterator[None]:
    """What only big clusters meet (rebuilt columns, dropped columns, a renewed log) happens in small ones, too."""
    before = [(module, name, getattr(module, name)) for module, name, _ in _LIMITS]
    for module, name, limit in _LIMITS:
        setattr(module, name, limit)
    try:
        with distrusted_runs():
            yield
    finally:
        for module, name, limit in before:
            setattr(module, name, limit)


def _best(column: SignatureColumn, placement: Placement) -> int:
    return column.best() if placement.rows is None else column.best_of(placement.array)


@contextmanager
def distrusted_runs() -> Iterator[None]:
    """Whenever a run tells the column of the next pod, the one that the search finds must choose the same node.

    It may be another object: of kinds that the cache has let go of, and of pods about which fewer templates speak.
    """
    trusting = ColumnSearch.find

    def find(self: ColumnSearch, framework: Framework, state: CycleState, pod: Pod, prepare: bool) -> Any:
        told = self.run.column(pod)
        if told is not None:
            found, placement = self.cache.of(framework, pod), self.snapshot.placement
            assert found is not None
            assert _best(told, placement) == _best(found, placement)
        return trusting(self, framework, state, pod, prepare)

    ColumnSearch.find = find  # type: ignore[method-assign]
    try:
        yield
    finally:
        ColumnSearch.find = trusting  # type: ignore[method-assign]


def draw_groups(rng: Random) -> GroupScheduling:
    """The debated choices about groups: most often today's."""
    if not one_in(rng, 3):
        return GroupScheduling()
    return GroupScheduling(
        evaluation=some(rng, get_args(Evaluation)),
        child_order=some(rng, get_args(ChildOrder)),
        pre_check=not one_in(rng, 3),
        extra_pod_preemption=some(rng, get_args(ExtraPodPreemption)),
    )


def draw_cores(rng: Random, *, oracle: bool) -> list[Scheduler]:
    """One core; with ``oracle`` a second one that differs only in the ways it takes.

    It never uses columns nor remembers refusals, it binds pod by pod, and what its host writes to objects reaches it as
    plain updates.
    """
    config = configuration(some(rng, tuple(_CONFIGURATIONS)), rng.randrange(len(_GATES)))
    tracing = one_in(rng, 4)
    maximum = 0 if one_in(rng, 12) else config.max_backoff
    settings = [Settings(tracing=tracing, max_backoff=maximum, groups=draw_groups(rng))]
    if oracle:
        settings.append(evolve(settings[0], oracle=True, memo=False))
    registry = _registry()
    cores = [
        kind(config.profiles, registry, settings=each, feature_gates=config.gates)
        for kind, each in zip((Scheduler, PlainlyUpdated), settings, strict=False)
    ]
    for framework in (each for core in cores[1:] for each in core.frameworks.values()):
        framework.binds_plainly = False  # whoever has nothing to say about a binding is asked all the same
    return cores


class PlainlyUpdated(Scheduler):
    """A core that hears of statuses, and of nodes of pods, as a watch would deliver them."""

    @property
    def update_status(self) -> Callable[[Pod, str, PodStatus], None]:
        return lambda pod, node_name, status: self.update(pod.bound_to(node_name, status))

    @property
    def update_group_status(self) -> Callable[[EntityKey, Condition], None]:
        return self._update_group

    def _update_group(self, key: EntityKey, condition: Condition) -> None:
        group = self.world.forest.group(key)
        if group is not None:
            self.update(group.with_condition(condition))
