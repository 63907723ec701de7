"""Submit: THE ONLY WRITER. Verdicts become reservations, decisions, events, returned pods (spec §4.9.5-§4.10)."""

from __future__ import annotations

from attrs import define, field, frozen

from gangsched.engine.conditions import group_condition, pod_condition
from gangsched.engine.decisions import Bind, Evict, Nominate, RecordEvent, SetCondition
from gangsched.engine.outbox import Outbox
from gangsched.engine.report import PodVerdict
from gangsched.engine.results import PodOutcome
from gangsched.engine.world import World
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.errors import GangschedError
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Clock
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Condition, EntityKey, Group, Pod, PodStatus
from gangsched_framework.status import Code, FitError, Status, error, unschedulable
from gangsched_queue.scheduling_queue import SchedulingQueue

NOMINATION_CLEARED = ""


@frozen
class Preemptor:
    """On whose behalf victims are evicted: a pod or a root group."""

    key: EntityKey
    uid: str
    scheduler_name: str


@define(eq=False)
class Submitter:
    """Acts on the verdicts of a cycle. ``binding`` holds the outcomes whose binding is not answered yet, by uid."""

    world: World
    queue: SchedulingQueue
    clock: Clock
    outbox: Outbox
    binding: dict[str, PodOutcome] = field(factory=dict)
    _failed: PodStatus | None = None
    _failure: tuple[Code, str, int] | None = None
    _condition: Condition | None = None
    """What was last written: for pods of which status, code, message and instant of the failure, the condition."""

    # --- pods -------------------------------------------------------------------------------------------------------

    def bind(self, framework: Framework, outcome: PodOutcome, *, counted: bool) -> PodVerdict:
        """Assume, reserve, permit and decide the binding of one pod; a refusal fails this pod alone (spec §4.9.5).

        ``counted``: the node table counts the pod already.
        """
        info, state, node = outcome.info, outcome.state, outcome.node
        pod = info.pod
        state.placement = None
        if not self.world.assume(pod, node, counted=counted):  # someone else assigned it meanwhile
            text = f"pod {pod.uid}({pod.key}) is in the cache, so can't be assumed"
            return self.fail(info, error(text), NOMINATION_CLEARED)
        self.queue.nominator.delete(pod)
        if not framework.binds_plainly:
            status = self._ask_binding_plugins(framework, state, pod, node)
            if status is not None:
                self.world.forget(pod)
                fit_error = _one_node(node, status) if status.rejected else None
                shown = unschedulable(fit_error.message) if fit_error is not None else status
                return self.fail(info, shown, NOMINATION_CLEARED, fit_error)
        uid = pod.uid
        self.binding[uid] = outcome
        self.outbox.emit(Bind(pod.key, uid, node))
        self.queue.done(uid)
        return PodVerdict(node)

    def _ask_binding_plugins(self, framework: Framework, state: CycleState, pod: Pod, node: str) -> Status | None:
        status = framework.run_reserve(state, pod, node)
        if status is not None:
            return status
        status = framework.run_permit(state, pod, node) or framework.run_bind(state, pod, node)
        if status is not None:
            framework.run_unreserve(state, pod, node)
        return status

    def answered(self, key: str, uid: str) -> PodOutcome:
        """Take out the binding of a pod; without a uid, the oldest of pods of that name. Raises GangschedError."""
        if not uid:
            uid = next((uid for uid, each in self.binding.items() if each.info.pod.key == key), "")
        outcome = self.binding.pop(uid, None)
        if outcome is None:
            raise GangschedError(f"pod {key} is not being bound")
        return outcome

    def fail(
        self, info: QueuedPodInfo, status: Status, nominate: str | None, fit_error: FitError | None = None
    ) -> PodVerdict:
        """The failure handler (spec §4.9.6). ``nominate``: None keeps the nomination, '' clears it, else the node."""
        info.unschedulable_plugins = frozenset() if fit_error is None else fit_error.unschedulable_plugins
        info.pending_plugins = frozenset() if fit_error is None else fit_error.pending_plugins
        key, uid = info.pod.key, info.pod.uid
        current = self.world.pods.get(key)
        if current is not None and current.uid != uid:
            self.queue.done(uid)  # replaced by a new pod: the handler stops
            return PodVerdict(status=status)
        if current is None or current.node_name:
            self.queue.done(uid)
        else:
            info.pod = current
            self.queue.add_unschedulable(info)
            self.queue.nominator.add(current, nominate)
        message = status.message
        self.outbox.emit(RecordEvent.of("Warning", "FailedScheduling", key, message))
        if current is not None:
            self._write_failure(current, status, message, nominate)
        plugins = tuple(sorted(info.unschedulable_plugins)) if info.unschedulable_plugins else ()
        return PodVerdict(None, status, nominate or "", plugins)

    def _write_failure(self, pod: Pod, status: Status, message: str, nominate: str | None) -> None:
        """Pods of one status that fail alike at one instant, as most of a tree do, share the condition."""
        old, failure = pod.status, (status.code, message, self.clock.now())
        if self._failed is not old or self._failure != failure:
            self._failed, self._failure = old, failure
            self._condition = pod_condition(pod, status, failure[2])
        condition = self._condition
        nominated = nominate if nominate != old.nominated_node_name else None
        if condition is not None or nominated is not None:
            self.outbox.emit(SetCondition(pod.entity_key, condition, nominated))

    def skip(self, pod: Pod) -> None:
        """A deleting or already assumed pod leaves the cycle without a verdict (spec §4.4)."""
        self.queue.done(pod.uid)
        if pod.deleting:
            note = f"skip schedule deleting pod: {pod.key}"
            self.outbox.emit(RecordEvent.of("Warning", "FailedScheduling", pod.key, note))

    # --- groups -----------------------------------------------------------------------------------------------------

    def write_group(self, group: Group, status: Status) -> None:
        """The condition of a group as the cycle saw it, unless it is gone or showed it already (spec §4.10)."""
        if self.world.forest.group(group.key) is None:
            return
        condition = group_condition(group, status, self.clock.now())
        if condition is not None:
            self.outbox.emit(SetCondition(group.key, condition))

    # --- preemption -------------------------------------------------------------------------------------------------

    def evict(self, victims: tuple[Pod, ...], by: Preemptor, node: str) -> None:
        """Victims are marked, deleted and told why; those already leaving are not touched again (spec §5.4, §5.8.1).

        DisruptionTarget is written to the pods alone, also where a group goes as a whole, as v1.37.2 does (spec §1.6).
        """
        for victim in victims:
            current = self.world.pods.get(victim.key)
            if current is None or current.deleting:
                continue
            message = f"{by.scheduler_name}: preempting to accommodate a higher priority {by.key.kind}"
            condition = Condition("DisruptionTarget", "True", "PreemptionByScheduler", message, self.clock.now())
            self.outbox.emit(SetCondition(current.entity_key, condition))
            self.outbox.emit(Evict(current.key, current.uid, by.key, by.uid, node))
            note = f"Preempted by {by.key.kind} {by.uid} on node {node}"
            self.outbox.emit(RecordEvent.of("Normal", "Preempted", current.key, note))

    def clear_nominations(self, pods: tuple[Pod, ...]) -> None:
        """Lower pods lose their nomination to the preemptor's node (spec §5.8.6)."""
        for pod in pods:
            current: Pod | None = self.world.pods.get(pod.key)
            if current is not None and current.status.nominated_node_name:
                self.queue.nominator.delete(current)
                self.outbox.emit(Nominate(current.key, ""))


def _one_node(node: str, status: Status) -> FitError:
    return FitError(1, {node: status}, unschedulable_plugins=frozenset({status.plugin}))
