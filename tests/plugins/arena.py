"""A small cluster with a real framework on it, for tests of preemption: who has to go so that somebody fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gangsched.engine.pod_algorithm import PodAlgorithm
from gangsched.engine.podgroup_algorithm import PodGroupAlgorithm
from gangsched.engine.session import Session
from gangsched.engine.settings import GroupScheduling
from gangsched.engine.trace import Tracer
from gangsched_framework.cycle_state import CycleState, PodGroupCycleState
from gangsched_framework.framework import Framework
from gangsched_framework.infos import PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.interface import PodGroupPostFilterResult, PostFilterResult, RootAttempt
from gangsched_framework.objects import DEFAULT_SCHEDULER, EntityKey, Group, Node, Pod, PodDisruptionBudget
from gangsched_framework.placement import Assignment
from gangsched_framework.profile import PluginRef, Profile
from gangsched_framework.status import FitError, Status
from gangsched_framework.testing import FakeHandle, make_snapshot
from gangsched_plugins import names
from gangsched_plugins.default_preemption import DefaultPreemption
from gangsched_plugins.default_registry import default_registry

_FILTERS = (
    names.NODE_UNSCHEDULABLE,
    names.NODE_AFFINITY,
    names.NODE_PORTS,
    names.NODE_RESOURCES_FIT,
    names.POD_TOPOLOGY_SPREAD,
    names.INTER_POD_AFFINITY,
)
_POINTS = {
    "queueSort": (names.PRIORITY_SORT,),
    "preFilter": _FILTERS,
    "filter": _FILTERS,
    "postFilter": (names.DEFAULT_PREEMPTION,),
    "preScore": (names.NODE_RESOURCES_FIT,),
    "score": (names.NODE_RESOURCES_FIT,),
    "placementGenerate": (names.TOPOLOGY_PLACEMENT_GENERATOR,),
    "placementFeasible": (names.GANG_SCHEDULING,),
    "placementScore": (names.POD_GROUP_PODS_COUNT,),
    "podGroupPostFilter": (names.DEFAULT_PREEMPTION,),
}


class Arena:
    """Nodes, running pods, groups and budgets; all waiting pods are given to the attempts."""

    def __init__(
        self,
        nodes: Iterable[Node],
        running: Iterable[Pod] = (),
        groups: Iterable[Group] = (),
        budgets: Iterable[PodDisruptionBudget] = (),
        gates: Iterable[str] = (),
        args: dict[str, Any] | None = None,
    ) -> None:
        self.snapshot = make_snapshot(nodes, running, groups)
        gates = ("GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup", *gates)
        self.handle = FakeHandle(
            self.snapshot, disruption_budgets=list(budgets), feature_gates=dict.fromkeys(gates, True)
        )
        points = {point: tuple(PluginRef(name) for name in plugins) for point, plugins in _POINTS.items()}
        profile = Profile(DEFAULT_SCHEDULER, points, {names.DEFAULT_PREEMPTION: args or {}})
        self.framework = Framework(profile, default_registry(), self.handle)
        self.handle.frameworks[DEFAULT_SCHEDULER] = self.framework
        plugin = self.framework.plugins[names.DEFAULT_PREEMPTION]
        assert isinstance(plugin, DefaultPreemption)
        self.plugin = plugin
        self.algorithm = PodAlgorithm(self.snapshot, self.handle.nominations)

    def preempt(self, pod: Pod) -> tuple[PostFilterResult | None, str]:
        """A plain pod that fits nowhere: what the post-filter answers."""
        state = CycleState()
        refusal = self.algorithm.schedule(self.framework, state, pod)
        assert isinstance(refusal, FitError), refusal
        before = self.picture()
        result, status = self.framework.run_post_filter(state, pod, refusal.node_statuses)
        assert self.picture() == before
        self.snapshot._check()
        return result, status.message if status else ""

    def preempt_group(self, root: Group, waiting: Sequence[Pod]) -> tuple[PodGroupPostFilterResult | None, str]:
        """A tree that failed, with its waiting pods in the order to be tried."""
        leaves: dict[EntityKey, list[QueuedPodInfo]] = {}
        for pod in waiting:
            self.snapshot.forest.add_pod(pod)
            assert pod.group_key is not None
            leaves.setdefault(pod.group_key, []).append(QueuedPodInfo(pod, 0))
        tree = self.snapshot.forest.tree(root.key)
        popped = PoppedPodGroupInfo(root.key, tree, leaves)
        before = self.picture()
        status: Status | None
        result, status = self.framework.run_pod_group_post_filter(
            PodGroupCycleState(), popped, lambda: self._run(popped)
        )
        assert self.picture() == before
        self.snapshot._check()
        return result, status.message if status else ""

    def _run(self, popped: PoppedPodGroupInfo) -> RootAttempt:
        mark = self.snapshot.mark()
        session = Session(self.framework, self.snapshot, self.algorithm, Tracer())
        algorithm = PodGroupAlgorithm(session, GroupScheduling())
        result = algorithm.run_root(popped.tree, popped.leaves, PodGroupCycleState())
        self.snapshot.rollback(mark)
        found = result.found()
        assignments = tuple(Assignment(p.info.pod, p.node) for p in found)
        return RootAttempt(result.status, assignments, tuple(p.state for p in found))

    def picture(self) -> object:
        """Everything a post-filter must leave as it was."""
        table = self.snapshot.table
        pods = [list(on_node) for on_node in table.pods]
        ports = {row: dict(used) for row, used in table.ports.items() if used}
        return pods, {resource: list(column) for resource, column in table.used.items()}, ports
