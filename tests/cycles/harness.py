"""A small cluster around one core: what a cycle test arranges, does and looks at. Pods and groups go by short names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from attrs import evolve

from gangsched.config import FeatureGates, default_config
from gangsched.engine.decisions import Bind, Evict, RecordEvent, SetGroupCondition
from gangsched.engine.report import CycleReport
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import SECOND, GroupScheduling, Settings
from gangsched.host import Host
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import (
    ClusterObject,
    CompositePodGroup,
    Condition,
    EntityKey,
    Group,
    Node,
    Pod,
    PodGroup,
)
from gangsched_framework.profile import PluginRef
from gangsched_framework.queue_state import EntityState
from gangsched_framework.status import Status
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry

HOSTNAME = "kubernetes.io/hostname"


# --- objects ------------------------------------------------------------------------------------------------------


def node(name: str, cpu: int = 4, pods: int = 110, **labels: str) -> Node:
    built = make_node(name).capacity(cpu=cpu, memory="64Gi", pods=pods).label(HOSTNAME, name)
    for key, value in labels.items():
        built = built.label(key, value)
    return built.obj()


def pod(name: str, of: str = "", cpu: float = 1, priority: int = 0, on: str = "") -> Pod:
    built = make_pod(name).requests(cpu=cpu).priority(priority).node(on)
    return (built.in_group(of) if of else built).obj()


def pods(of: str, count: int, cpu: float = 1, priority: int = 0, start: int = 0, on: str = "") -> list[Pod]:
    """``OF-0``, ``OF-1`` …"""
    return [pod(f"{of}-{i}", of, cpu, priority, on) for i in range(start, start + count)]


def leaf(
    name: str,
    minimum: int | None = None,
    parent: str = "",
    priority: int | None = None,
    topology: str = "",
    whole: bool = False,
) -> PodGroup:
    """A PodGroup; ``minimum`` None = basic."""
    built = make_pod_group(name).obj()
    mode: Literal["single", "all"] = "all" if whole else "single"
    return evolve(
        built, minimum=minimum, parent_name=parent, priority=priority, topology_key=topology, disruption_mode=mode
    )


def inner(
    name: str,
    minimum: int | None = None,
    parent: str = "",
    priority: int | None = None,
    topology: str = "",
    whole: bool = False,
) -> CompositePodGroup:
    """A CompositePodGroup; ``minimum`` None = basic."""
    built = make_composite_pod_group(name).obj()
    mode: Literal["single", "all"] = "all" if whole else "single"
    return evolve(
        built, minimum=minimum, parent_name=parent, priority=priority, topology_key=topology, disruption_mode=mode
    )


def being_preempted(victim: Pod) -> Pod:
    """``victim`` while it is leaving because of a preemption."""
    leaving = evolve(victim, deletion_timestamp=1)
    return leaving.with_condition(Condition("DisruptionTarget", "True", "PreemptionByScheduler"))


# --- plugins that answer by the pod's name --------------------------------------------------------------------------


class _ByPod:
    """``args["answers"]``: pod name -> status."""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.answers: dict[str, Status] = args.get("answers", {})

    @property
    def name(self) -> str:
        return type(self).__name__


class FilterByPod(_ByPod):
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return self.answers.get(pod.name)


class ReserveByPod(_ByPod):
    """Refuses at submit only: the simulation reserves each pod once before."""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.log: list[tuple[str, str]] = []

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        self.log.append(("reserve", pod.name))
        simulated = self.log.count(("reserve", pod.name)) > 1
        return self.answers.get(pod.name) if simulated else None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.log.append(("unreserve", pod.name))


class PermitByPod(_ByPod):
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self.answers.get(pod.name)


class ScoreByNode(_ByPod):
    """``answers``: node name -> score."""

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        return self.answers.get(node.name, 0)


# --- the cluster --------------------------------------------------------------------------------------------------


class Cluster:
    """``plugins`` adds plugins to the default profile: (extension point, class, args) each, named as their class.

    ``schedulers``: names of further profiles, like the default one. ``groups``: the debated choices.
    ``placements``: percentage of placements to score. ``disabled``: extension points without any plugin.
    """

    def __init__(
        self,
        *objects: ClusterObject | Sequence[ClusterObject],
        plugins: Sequence[tuple[str, type[Any], Mapping[str, Any]]] = (),
        schedulers: Sequence[str] = (),
        gates: Mapping[str, bool] | None = None,
        groups: GroupScheduling | None = None,
        placements: int = 100,
        disabled: Sequence[str] = (),
    ) -> None:
        features = FeatureGates(gates)
        registry = default_registry()
        profile = evolve(default_config(features, registry).profiles[0], percentage_of_placements_to_score=placements)
        profile = evolve(profile, points={**profile.points, **dict.fromkeys(disabled, ())})
        for point, cls, args in plugins:
            name = cls.__name__
            registry.register(name, cls)
            points = {**profile.points, point: (*profile.points.get(point, ()), PluginRef(name))}
            profile = evolve(profile, points=points, args={**profile.args, name: args})
        settings = Settings(tracing=True, groups=groups or GroupScheduling())
        profiles = [profile, *(evolve(profile, scheduler_name=name) for name in schedulers)]
        self.core = Scheduler(profiles, registry, settings=settings, feature_gates=features)
        self.host = Host(self.core)
        self.reports: list[CycleReport] = []
        self.add(*objects)

    def add(self, *objects: ClusterObject | Sequence[ClusterObject]) -> None:
        """Objects appear, or change, in this order."""
        for one in objects:
            for obj in one if isinstance(one, Sequence) else (one,):
                self.core.add(obj)

    def delete(self, *names: str) -> None:
        """Pods, groups or nodes by name (a group ``g`` may be of either kind)."""
        for name in names:
            for found in (self.core.pod(f"default/{name}"), self._group(name), self.core.node(name)):
                if found is not None:
                    self.core.delete(found)

    def change(self, name: str, **changes: Any) -> None:
        """A pod or group changes."""
        found = self.core.pod(f"default/{name}") or self._group(name)
        assert found is not None
        self.core.update(evolve(found, **changes))

    def _group(self, name: str) -> Group | None:
        forest = self.core.world.forest
        keys = (EntityKey.of(kind, "default", name) for kind in ("podgroup", "compositepodgroup"))
        return next((group for group in map(forest.group, keys) if group is not None), None)

    # --- doing ------------------------------------------------------------------------------------------------------

    def cycle(
        self,
        after_pop: Callable[[], object] | None = None,
        after_algorithm: Callable[[], object] | None = None,
        fail_bind: Sequence[str] = (),
    ) -> CycleReport:
        """One cycle, with what happens in between; something must be ready."""
        self.host.bind_call = lambda bind: "refused" if bind.pod.split("/")[1] in fail_bind else None
        cycle = self.core.pop()
        assert cycle is not None, "nothing is ready"
        if after_pop is not None:
            after_pop()
        cycle.decide()
        if after_algorithm is not None:
            after_algorithm()
        report = cycle.submit()
        report = evolve(report, decisions=self.host.carry_out(report.decisions))
        self.core._check()
        self.reports.append(report)
        return report

    def advance(self, seconds: float) -> None:
        self.core.advance(int(seconds * SECOND))

    # --- looking ----------------------------------------------------------------------------------------------------

    @property
    def bound(self) -> dict[str, str]:
        """Pods bound by the core and still there: name -> node."""
        return {key.split("/")[1]: where for key, where in self.host.bindings.items()}

    @property
    def where(self) -> dict[str, str]:
        """Waiting pods: active, backoff, parked, gated, incomplete or pending."""
        state = self.core.queue_state()
        found: dict[str, str] = {}
        for place, entities in (("active", state.active), ("backoff", state.backoff), ("parked", state.parked)):
            for entity in entities:
                for name in _names(entity):
                    assert name not in found, f"{name} is in two places"
                    found[name] = "gated" if entity.gated_by else place
        for place, leaves in (("incomplete", state.incomplete), ("pending", state.pending)):
            for names in leaves.values():
                found |= dict.fromkeys(names, place)
        return found

    def entity(self, name: str) -> EntityState:
        """The waiting entity with this short name, or that holds this pod."""
        state = self.core.queue_state()
        entities = (*state.active, *state.backoff, *state.parked)
        return next(e for e in entities if e.key.name == name or name in _names(e))

    def condition(self, name: str) -> tuple[str, str, str] | None:
        """Status, reason and message of the group's condition."""
        group = self._group(name)
        assert group is not None
        kind = "PodGroupInitiallyScheduled"
        found = group.condition(kind if isinstance(group, PodGroup) else f"Composite{kind}")
        return None if found is None else (found.status, found.reason, found.message)

    def pod_condition(self, name: str) -> tuple[str, str, str]:
        found = self.pod(name).condition("PodScheduled")
        assert found is not None
        return (found.status, found.reason, found.message)

    def pod(self, name: str) -> Pod:
        found = self.core.pod(f"default/{name}")
        assert found is not None
        return found

    def nominated(self) -> dict[str, str]:
        """Nominations in the status of pods."""
        pods = self.core.world.pods.values()
        return {p.name: p.status.nominated_node_name for p in pods if p.status.nominated_node_name}

    def used_cpu(self) -> dict[str, int]:
        """Milli-cpu counted on each node."""
        table = self.core.world.table
        return dict(zip(table.names, table.used["cpu"], strict=True))


def _names(entity: EntityState) -> list[str]:
    if not entity.members:
        return [entity.key.name]
    return [name for names in entity.members.values() for name in names]


def binds(report: CycleReport) -> dict[str, str]:
    """Bindings decided: pod -> node."""
    return {d.pod.split("/")[1]: d.node for d in report.decisions if isinstance(d, Bind)}


def messages(report: CycleReport) -> dict[str, str]:
    """Refused pods: name -> message."""
    return {k.split("/")[1]: v.status.message for k, v in report.pods.items() if v.status is not None}


def codes(report: CycleReport) -> dict[str, str]:
    """Refused pods: name -> code."""
    return {k.split("/")[1]: v.status.code.value for k, v in report.pods.items() if v.status is not None}


def groups(report: CycleReport) -> dict[str, str]:
    """Final code of each group by name."""
    return {key.name: verdict.status.code.value for key, verdict in report.groups.items()}


def tried(report: CycleReport) -> list[str]:
    """Pods that were tried, in order, the post-filter's rerun left out."""
    steps = [step for step in report.trace if step.kind in ("pod", "root")]
    end = next((i for i, step in enumerate(steps) if step.kind == "root"), len(steps))
    return [step.subject.split("/")[1] for step in steps[:end]]


def asked(report: CycleReport, name: str) -> list[tuple[int, int, str]]:
    """PlacementFeasible calls for a group: remaining, scheduled, answer."""
    steps = [s for s in report.trace if s.kind == "feasible" and s.subject.endswith(f"/{name}")]
    return [(s.progress[0], s.progress[1], s.text) for s in steps if s.progress is not None]


def victims(report: CycleReport) -> list[str]:
    return sorted(d.pod.split("/")[1] for d in report.decisions if isinstance(d, Evict))


def events(report: CycleReport) -> list[str]:
    return [f"{d.reason} {d.regarding.split('/')[1]}: {d.note}" for d in report.decisions if isinstance(d, RecordEvent)]


def condition_writes(report: CycleReport) -> list[str]:
    """Names of the groups whose condition was written."""
    return [d.group.name for d in report.decisions if isinstance(d, SetGroupCondition)]
