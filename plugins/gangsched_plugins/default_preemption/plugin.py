"""The plugin: arguments, the gate of asynchronous preemption, and the two post-filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from gangsched_framework.cycle_state import CycleState, PodGroupCycleState
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PoppedPodGroupInfo
from gangsched_framework.interface import PodGroupPostFilterResult, PostFilterResult, SchedulingFunction
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.status import Status, error, unresolvable
from gangsched_plugins import names
from gangsched_plugins.default_preemption.dry_runs import DryRun
from gangsched_plugins.default_preemption.emptied import LesserUnits
from gangsched_plugins.default_preemption.gate import EvictionGate
from gangsched_plugins.default_preemption.group_preemption import GroupPreemption
from gangsched_plugins.default_preemption.pod_preemption import PREFIX, PodPreemption
from gangsched_plugins.default_preemption.row_memo import RowMemo
from gangsched_plugins.default_preemption.units import UnitFinder


class DefaultPreemption:
    """Arguments: ``minCandidateNodesPercentage`` (10) and ``minCandidateNodesAbsolute`` (100)."""

    name = names.DEFAULT_PREEMPTION
    pre_enqueue_scope = "tree"
    prepares_state = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle
        self._percentage: int = args.get("minCandidateNodesPercentage", 10)
        self._absolute: int = args.get("minCandidateNodesAbsolute", 100)
        self._policy_gate = handle.feature_gates.get("PodGroupPreemptionPolicy", False)
        self._asynchronous = handle.feature_gates.get("SchedulerAsyncPreemption", False)
        self.inert = () if self._asynchronous else ("preEnqueue",)
        self._gate = EvictionGate(handle)
        self._dry_runs: RowMemo[DryRun] | None = None if handle.oracle else RowMemo(handle)
        self._lesser = LesserUnits(handle)

    # --- queueing ---------------------------------------------------------------------------------------------------

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Hold the preempting entity back while its evictions run (asynchronous preemption only)."""
        if not self._asynchronous or not self._gate.holds(self._entity_of(pod)):
            return None
        return unresolvable("waiting for the preemption for this pod to be finished")

    def _entity_of(self, pod: Pod) -> EntityKey:
        leaf = pod.group_key
        return pod.entity_key if leaf is None else self._handle.forest.root(leaf) or leaf

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """Deletions wake the preemptor through the plugins that rejected it; this registration un-gates only (§5.6)."""
        yield ClusterEventWithHint(ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE), _never)

    # --- post-filters -----------------------------------------------------------------------------------------------

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[PostFilterResult | None, Status | None]:
        """Empty the node where it costs least, for the pod as it is by now. O(candidate nodes × their lesser pods)."""
        newest = self._handle.newest(pod)
        if newest is None:
            return None, error(f'{PREFIX}pod "{pod.name}" not found')
        attempt = PodPreemption(self._handle, self._framework(pod), state, pod, newest, statuses, self._dry_runs)
        result, status = attempt.run(self._percentage, self._absolute)
        if self._asynchronous and result is not None and result.victims:
            if all(victim.deleting for victim in result.victims):
                result = evolve(result, cleared=())  # nothing is done in the background then, nor this [1.37]
            elif not self._handle.rehearsal:
                self._gate.close(pod.entity_key, result.victims)
        return result, status

    def pod_group_post_filter(
        self, state: PodGroupCycleState, root: PoppedPodGroupInfo, schedule: SchedulingFunction
    ) -> tuple[PodGroupPostFilterResult | None, Status | None]:
        """Make room for the whole tree, or for nobody. O(running pods) and a second run of the root's algorithm."""
        framework = self._framework(root.members()[0].pod)
        attempt = GroupPreemption(self._handle, framework, root, self._lesser, policy_gate=self._policy_gate)
        result, status = attempt.run(schedule)
        if self._asynchronous and result is not None and result.victims and not self._handle.rehearsal:
            self._gate.close(root.key, result.victims)
        return result, status

    def powerless(self, priority: int) -> bool:
        """Whether nobody of less priority runs, and no unit can be broken. O(1)"""
        units = UnitFinder(self._handle.forest, self._handle.snapshot)
        return not units.any_below(priority) and not units.any_lost()

    def _framework(self, pod: Pod) -> Framework:
        framework = self._handle.framework_for(pod.scheduler_name)
        assert framework is not None
        return framework


def _never(pod: Pod, old: object, new: object) -> Hint:
    return Hint.SKIP
