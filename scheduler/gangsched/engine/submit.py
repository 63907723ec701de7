"""Submit: THE ONLY WRITER. Verdicts become reservations, decisions, events, returned pods (spec §4.9.5-§4.10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from gangsched.engine.complete import NOMINATION_CLEARED, End, Failure, own_failure
from gangsched.engine.conditions import group_condition, pod_condition
from gangsched.engine.decisions import Bind, Evict, Nominate, RecordEvent, SetCondition, SetGroupCondition, event_note
from gangsched.engine.outbox import Outbox
from gangsched.engine.report import PodVerdict, Refused
from gangsched.engine.results import PodOutcome
from gangsched.engine.world import World
from gangsched_framework.errors import GangschedError
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Clock
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Condition, EntityKey, Group, Pod, PodStatus
from gangsched_framework.status import FitError, Status, error, unschedulable
from gangsched_queue.scheduling_queue import SchedulingQueue


@frozen
class Preemptor:
    """On whose behalf victims are evicted: a pod or a root group."""

    key: EntityKey
    uid: str
    scheduler_name: str


@define(eq=False)
class _Told:
    """What a failure says at one instant of every pod it befalls; ``note``: its message in an event.

    ``condition`` is what it writes to pods of status ``shown``, that of the pod it befell last.
    """

    failure: Failure
    time: int
    message: str
    note: str
    unschedulable: frozenset[str]
    pending: frozenset[str]
    verdict: Refused
    shown: PodStatus | None = None
    condition: Condition | None = None


_NO_PLUGINS: frozenset[str] = frozenset()
_MANY = 8
"""So many pods are bound together sooner than one by one."""


@define(eq=False)
class Submitter:
    """Acts on the ends of a cycle. ``binding`` holds the outcomes whose binding is not answered yet, by uid."""

    world: World
    queue: SchedulingQueue
    clock: Clock
    outbox: Outbox
    binding: dict[str, PodOutcome] = field(factory=dict)
    _told: _Told | None = None
    """The failure met last."""
    _said: dict[str, tuple[tuple[Status, int, int], Condition | None]] = field(factory=dict)
    """By kind of group, what was last said of one that showed nothing (status, time, generation), and how."""

    # --- pods -------------------------------------------------------------------------------------------------------

    def submit(self, framework: Framework, ends: Sequence[End], counted: bool = False) -> Mapping[str, PodVerdict]:
        """Each pod of a tree in order: bound where it was placed, or failed. ``counted``: see ``bind``."""
        if counted and len(ends) >= _MANY and framework.binds_plainly and not self.queue.nominator.node_of:
            placed = [end for end in ends if isinstance(end, PodOutcome) and end.status is None]
            together = self._bind_together(placed) if len(placed) == len(ends) else None
            if together is not None:
                return together
        verdicts: dict[str, PodVerdict] = {}
        told: _Told | None = None
        for end in ends:
            if isinstance(end, PodOutcome):
                info = end.info
                if end.status is None:
                    verdicts[info.pod.key] = self.bind(framework, end, counted)
                    continue
                failure = own_failure(end)
            else:
                info, failure = end
            if told is None or told.failure is not failure:
                told = self._tell(failure)
            verdicts[info.pod.key] = self._fail(info, told)
        return verdicts

    def _bind_together(self, outcomes: Sequence[PodOutcome]) -> dict[str, Bind] | None:
        """``bind`` of pods about which nobody has a say any more; None when one of them is not as it was popped."""
        nodes = [outcome.node for outcome in outcomes]
        pods = {pod.key: pod for pod in [outcome.info.pod for outcome in outcomes]}
        if not self.world.assume_all(pods, nodes):
            return None
        uids = [pod.uid for pod in pods.values()]
        self.binding.update(zip(uids, outcomes, strict=True))
        binds = list(map(Bind, pods, uids, nodes))
        self.outbox.emit_all(binds)
        self.queue.in_flight.done_all(uids)
        return dict(zip(pods, binds, strict=True))

    def bind(self, framework: Framework, outcome: PodOutcome, counted: bool) -> PodVerdict:
        """Assume, reserve, permit and decide the binding of one pod; a refusal fails this pod alone (spec §4.9.5).

        ``counted``: the node table counts the pod already.
        """
        info, node, queue, emit = outcome.info, outcome.node, self.queue, self.outbox.emit
        pod = info.pod
        uid = pod.uid
        if not self.world.assume(pod, node, counted):  # someone else assigned it meanwhile
            status = error(f"pod {uid}({pod.key}) is in the cache, so can't be assumed")
            return self.fail(info, Failure(status, NOMINATION_CLEARED))
        if queue.nominator.node_of:
            queue.nominator.delete(pod)
        if not framework.binds_plainly:
            failure = self._ask_binding_plugins(framework, outcome)
            if failure is not None:
                return self.fail(info, failure)
        self.binding[uid] = outcome
        bind = Bind(pod.key, uid, node)
        emit(bind)
        queue.in_flight.done(uid)
        return bind

    def _ask_binding_plugins(self, framework: Framework, outcome: PodOutcome) -> Failure | None:
        """How a pod fails that has a node; its place is given back then."""
        state, pod, node = outcome.state, outcome.info.pod, outcome.node
        state.placement = None  # binding is about the pod alone
        status = framework.run_reserve(state, pod, node)
        if status is None:
            status = framework.run_permit(state, pod, node) or framework.run_bind(state, pod, node)
            if status is None:
                return None
            framework.run_unreserve(state, pod, node)
        self.world.forget(pod)
        if not status.rejected:
            return Failure(status, NOMINATION_CLEARED)
        fit_error = FitError(1, {node: status}, unschedulable_plugins=frozenset({status.plugin}))
        return Failure(unschedulable(fit_error.message), NOMINATION_CLEARED, fit_error)

    def answered(self, key: str, uid: str) -> PodOutcome:
        """Take out the binding of a pod; without a uid, the oldest of pods of that name. Raises GangschedError."""
        if not uid:
            uid = next((uid for uid, each in self.binding.items() if each.info.pod.key == key), "")
        outcome = self.binding.pop(uid, None)
        if outcome is None:
            raise GangschedError(f"pod {key} is not being bound")
        return outcome

    def fail(self, info: QueuedPodInfo, failure: Failure) -> Refused:
        """The failure handler (spec §4.9.6)."""
        return self._fail(info, self._tell(failure))

    def _tell(self, failure: Failure) -> _Told:
        """What is said of pods that fail so now. Those that fail alike, as most of a tree do, share the condition."""
        now, last = self.clock.time, self._told
        if last is not None and last.failure is failure and last.time == now:
            return last
        status, fit_error = failure.status, failure.fit_error
        message, unschedulable, pending = status.message, _NO_PLUGINS, _NO_PLUGINS
        if fit_error is not None:
            unschedulable, pending = fit_error.unschedulable_plugins, fit_error.pending_plugins
        verdict = Refused(status, failure.nominate or "", tuple(sorted(unschedulable)))
        told = self._told = _Told(failure, now, message, event_note(message), unschedulable, pending, verdict)
        if (
            last is not None
            and last.time == now
            and last.message == message
            and last.failure.status.code is status.code
        ):
            told.shown, told.condition = last.shown, last.condition
        return told

    def _fail(self, info: QueuedPodInfo, told: _Told) -> Refused:
        info.unschedulable_plugins, info.pending_plugins = told.unschedulable, told.pending
        pod, queue, emit, nominate = info.pod, self.queue, self.outbox.emit, told.failure.nominate
        key = pod.key
        current = self.world.pods.get(key)
        if current is None:
            queue.done(pod.uid)
            emit(RecordEvent("Warning", "FailedScheduling", key, told.note))
            return told.verdict
        if current is not pod and current.uid != pod.uid:
            queue.done(pod.uid)  # replaced by a new pod: the handler stops
            return Refused(told.failure.status)
        old = current.status
        if current.node_name:
            queue.done(pod.uid)
        else:
            info.pod, info.priority = current, current.priority
            queue.add_unschedulable(info)
            if nominate or queue.nominator.node_of or (nominate is None and old.nominated_node_name):
                queue.nominator.add(current, nominate)
        emit(RecordEvent("Warning", "FailedScheduling", key, told.note))
        if told.shown is not old:
            told.shown, told.condition = old, pod_condition(current, told.failure.status, told.time)
        nominated = nominate if nominate != old.nominated_node_name else None
        if told.condition is not None or nominated is not None:
            emit(SetCondition(key, told.condition, nominated))
        if info.unschedulable_plugins is told.unschedulable:
            return told.verdict
        # a gate refused it on its way back
        return Refused(told.failure.status, nominate or "", tuple(sorted(info.unschedulable_plugins)))

    def skip(self, pod: Pod) -> None:
        """A deleting or already assumed pod leaves the cycle without a verdict (spec §4.4)."""
        self.queue.done(pod.uid)
        self.queue.nominator.leave(pod)
        if pod.deleting:
            note = f"skip schedule deleting pod: {pod.key}"
            self.outbox.emit(RecordEvent("Warning", "FailedScheduling", pod.key, event_note(note)))

    # --- groups -----------------------------------------------------------------------------------------------------

    def write_group(self, group: Group, status: Status) -> None:
        """The condition of a group as the cycle saw it, unless it is gone or showed it already (spec §4.10)."""
        if self.world.forest.group(group.key) is None:
            return
        condition = self._condition(group, status)
        if condition is not None:
            self.outbox.emit(SetGroupCondition(group.key, condition))

    def _condition(self, group: Group, status: Status) -> Condition | None:
        """Groups that show none yet, and fare alike at one instant, share the condition."""
        now = self.clock.time
        if group.conditions:
            return group_condition(group, status, now)
        kind, says = group.kind, (status, now, group.generation)
        known = self._said.get(kind)
        if known is None or known[0] != says:
            known = self._said[kind] = says, group_condition(group, status, now)
        return known[1]

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
            condition = Condition("DisruptionTarget", "True", "PreemptionByScheduler", message, self.clock.time)
            self.outbox.emit(SetCondition(current.key, condition))
            self.outbox.emit(Evict(current.key, current.uid, by.key, by.uid, node))
            note = f"Preempted by {by.key.kind} {by.uid} on node {node}"
            self.outbox.emit(RecordEvent("Normal", "Preempted", current.key, event_note(note)))

    def clear_nominations(self, pods: tuple[Pod, ...]) -> None:
        """Lower pods lose their nomination to the preemptor's node (spec §5.8.6)."""
        for pod in pods:
            current: Pod | None = self.world.pods.get(pod.key)
            if current is not None and current.status.nominated_node_name:
                self.queue.nominator.delete(current)
                self.outbox.emit(Nominate(current.key, ""))
