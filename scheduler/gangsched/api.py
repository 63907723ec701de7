"""``Engine``: the user's door. Reads files and configurations, hosts the core, confirms bindings at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from gangsched.config import FeatureGates, SchedulerConfig, check_choices, default_config, load_config, override
from gangsched.engine.decisions import Bind, Decision, Evict
from gangsched.engine.explain import Explanation, explain
from gangsched.engine.report import CycleReport, changes
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import SECOND, Settings
from gangsched.host import Host
from gangsched.manifests import Decoder, read_files
from gangsched.manifests.context import GROUPS
from gangsched.updates import merged
from gangsched_framework.errors import GangschedError, did_you_mean, whole
from gangsched_framework.objects import ClusterObject, CompositePodGroup, EntityKey, Pod, PodGroup
from gangsched_framework.queue_state import QueueState
from gangsched_framework.registry import Registry
from gangsched_framework.shares import SharesView
from gangsched_plugins.default_registry import default_registry
from gangsched_plugins.fairshare.view import ShareWatch

Source = str | os.PathLike[str] | Mapping[str, Any] | ClusterObject
"""A file or directory name, a manifest as a dict, or a framework object."""

_OBJECTS = get_args(ClusterObject)


def plugin_registry() -> Registry:
    """The in-tree plugins and those that installed distributions register."""
    registry = default_registry()
    registry.load_entry_points()
    return registry


class Engine:
    """A scheduler with its own small world (architecture.md §3).

    ``config``: file name, mapping, or SchedulerConfig; None = the product's default. ``feature_gates`` override the
    base set. ``node_order``: ``name`` or ``upstream``; ``group_scheduling``: choices by their names in a configuration
    (docs/choices.md), such as ``{"childOrder": "smallest"}``; both override the configuration. Raises GangschedError
    for bad input.
    """

    def __init__(
        self,
        config: str | os.PathLike[str] | Mapping[str, Any] | SchedulerConfig | None = None,
        *,
        feature_gates: Mapping[str, bool] | None = None,
        node_order: Literal["name", "upstream"] | None = None,
        group_scheduling: Mapping[str, str | bool] | None = None,
        tracing: bool = False,
        logging: bool = False,
        idle: bool = False,
    ) -> None:
        if node_order not in (None, "name", "upstream"):
            raise GangschedError(f"node_order: found {node_order!r}, allowed name and upstream")
        if not isinstance(config, str | os.PathLike | Mapping | SchedulerConfig | None):
            raise GangschedError(
                f"config: found a {type(config).__name__}, allowed a file name, a mapping, SchedulerConfig"
            )
        gates = FeatureGates(feature_gates or {})
        registry = plugin_registry()
        if config is None:
            config = default_config(gates)
        elif not isinstance(config, SchedulerConfig):
            config = load_config(config, gates, registry)
        self.config = config = override(config, check_choices(group_scheduling or {}))
        settings = Settings(
            initial_backoff=config.initial_backoff,
            max_backoff=config.max_backoff,
            node_order=node_order or config.node_order,
            groups=config.group_scheduling,
            tracing=tracing,
            logging=logging,
            idle=idle,
        )
        self.core = Scheduler(config.profiles, registry, settings=settings, feature_gates=gates)
        self.host = Host(self.core)
        self.decoder = Decoder()
        self.decoder.heed_gates(self.gates)
        self._watch: ShareWatch | None = None
        self.on_report: list[Callable[[CycleReport], None]] = []

    # --- objects ------------------------------------------------------------------------------------------------------

    def apply(self, *sources: Source) -> None:
        """Add or update objects: files, directories, manifests as dicts, framework objects. Raises GangschedError.

        A manifest of a known object updates it, as ``kubectl apply`` does: identity, node and status stay. A framework
        object replaces the known one as it is. All sources are read before the first object is added.
        """
        for source, objects in [(source, self._read("apply", source)) for source in sources]:
            replaces = isinstance(source, _OBJECTS)
            for obj in objects:
                known = None if replaces else self.core.known(obj)
                self.core.add(obj if known is None else merged(known, obj))

    def delete(self, source: Source) -> None:
        """Remove an object, or those of a file or manifest: only their identity is looked at; unknown ones are ignored.

        Raises GangschedError.
        """
        for obj in self._read("delete", source):
            self.core.delete(obj)
            self.host.carry_out(self.core.settle())
            if isinstance(obj, Pod):
                self.host.bindings.pop(obj.key, None)

    def _read(self, call: str, source: Source) -> Sequence[ClusterObject]:
        if isinstance(source, str | os.PathLike):
            return read_files([os.fspath(source)], decoder=self.decoder, now=self.core.now).objects
        if isinstance(source, Mapping):
            return tuple(self.decoder.decode(source, now=self.core.now))
        if isinstance(source, _OBJECTS):
            if not self.config.gates[GROUPS]:
                _refuse_group(call, source)
            return (source,)
        allowed = "file names, manifests as dicts, and framework objects (of a builder: its .obj())"
        raise GangschedError(f"{call}: found a {type(source).__name__}, allowed {allowed}")

    # --- time and cycles ----------------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        """Engine time in nanoseconds since the start."""
        return self.core.now

    def advance(self, seconds: int) -> None:
        """Move the clock by whole seconds, at least 0, and flush what is due."""
        self.core.advance(whole("advance", seconds, "seconds") * SECOND)

    def step(self) -> CycleReport | None:
        """One cycle, its decisions carried out; None when nothing is ready now."""
        report = self.core.step()
        if report is None:
            return None
        report = report.with_decisions(self.host.carry_out(report.decisions))
        for listener in self.on_report:
            listener(report)
        return report

    def run_ready(self, max_cycles: int | None = None) -> list[CycleReport]:
        """Cycles at the present instant, until each ready entity was tried since the last change of state."""
        return self._run(max_cycles, wait=False)

    def run(self, max_cycles: int | None = None) -> list[CycleReport]:
        """Cycles, the clock jumping over backoffs, until a whole round changes nothing, or ``max_cycles``."""
        return self._run(max_cycles, wait=True)

    def _run(self, max_cycles: int | None, *, wait: bool) -> list[CycleReport]:
        if max_cycles is not None:
            whole("max_cycles", max_cycles, "cycles")
        reports: list[CycleReport] = []
        tried: dict[EntityKey, None] = {}
        while max_cycles is None or len(reports) < max_cycles:
            head = self.core.peek()
            if head is None or head in tried:
                if not wait or not self._untried(tried) or not self._wait():
                    break
                continue
            report = self.step()
            if report is None:
                break
            reports.append(report)
            if self._changed(report):
                tried.clear()
            else:
                tried[report.entity] = None
        return reports

    def _changed(self, report: CycleReport) -> bool:
        """Whether the cycle changed the state; a binding that failed at once, or a victim left as it was, did not."""
        return any(changes(decision) and self._took_effect(decision) for decision in report.decisions)

    def _took_effect(self, decision: Decision) -> bool:
        if isinstance(decision, Bind):
            if decision.pod in self.bindings:
                return True
        elif not isinstance(decision, Evict):
            return True
        pod = self.core.pod(decision.pod)
        return pod is None or pod.uid != decision.uid or pod.deleting  # gone, another of its name, or leaving

    def _untried(self, tried: Mapping[EntityKey, None]) -> bool:
        """Whether an entity that may still be popped was not tried since the last change of state."""
        state = self.core.queue_state()
        waiting = (*state.active, *state.backoff, *(e for e in state.parked if not e.gated_by))
        return any(entity.key not in tried for entity in waiting)

    def _wait(self) -> bool:
        due = self.core.next_due()
        if due is None:
            return False
        self.core.advance(due - self.now)
        return True

    # --- views --------------------------------------------------------------------------------------------------------

    @property
    def gates(self) -> Mapping[str, bool]:
        """The feature gates in force; a profile may bring the plugin of topology constraints without their gate."""
        placing = any(framework.generates_placements for framework in self.core.frameworks.values())
        return {**self.config.gates, **({"TopologyAwareWorkloadScheduling": True} if placing else {})}

    @property
    def bindings(self) -> dict[str, str]:
        """Pods bound by this engine and still there: ``namespace/name`` -> node."""
        return self.host.bindings

    @property
    def evicted(self) -> dict[str, EntityKey]:
        """Victims of preemption and the entity each made room for."""
        return self.host.evicted

    def explain(self, pod: str | Pod) -> Explanation:
        """Every node's verdict and scores for a pod now, and why it waits; changes nothing.

        ``pod``: object, ``namespace/name``, or a name in ``default``. Raises GangschedError when it is not known, and
        while a cycle of the core is open.
        """
        if not isinstance(pod, str | Pod):
            raise GangschedError(f"explain: found a {type(pod).__name__}, allowed a pod or its name")
        key = pod.key if isinstance(pod, Pod) else pod
        key = key if "/" in key else f"default/{key}"
        known = self.core.pod(key)
        if known is None:
            raise GangschedError(f"pod {key} is not known{did_you_mean(key, sorted(self.core.world.pods))}")
        return explain(self.core, known)

    def shares(self) -> SharesView:
        """What every queue and job deserves, holds and asks for now.

        Under a profile without fair sharing Proportion measures and decides nothing. The first call begins to keep
        accounts, which costs a little from then on.
        """
        return self.share_watch().view()

    @property
    def shares_fairly(self) -> bool:
        """Whether the queue is ordered by shares (a dynamic queueSort)."""
        return next(iter(self.core.frameworks.values())).fair_order is not None

    def share_watch(self) -> ShareWatch:
        """What ``shares`` reads, for whoever follows shares over time."""
        if self._watch is None:
            order = next(iter(self.core.frameworks.values())).fair_order
            accounts = self.core.world.keep_accounts(self.core.snapshot)
            self._watch = ShareWatch(accounts, order.plugins if order is not None else ())
        return self._watch

    def queue_state(self) -> QueueState:
        """Every waiting entity and where it stands."""
        state = self.core.queue_state()
        self.host.carry_out(self.core.settle())
        return state


def _refuse_group(call: str, obj: ClusterObject) -> None:
    """Raise GangschedError for a group and a member of one; manifests are read without them."""
    if isinstance(obj, Pod) and obj.group_name:
        what = f"pod {obj.key} of group {obj.group_name}"
    elif isinstance(obj, PodGroup | CompositePodGroup):
        what = str(obj.key)
    else:
        return
    raise GangschedError(f"{call}: found {what}, allowed no groups while the feature gate {GROUPS} is off")
