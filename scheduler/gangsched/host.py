"""The default host: carries decisions out at once, as an API server and kubelets without delay would.

Order as recorded from the real scheduler (conformance README §3): bindings by ``namespace/name``, evictions, then the
other writes, pods first, each object by name, its writes in their order, each delivered as one update.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from gangsched.engine.decisions import Bind, Decision, Evict, Nominate, RecordEvent, SetCondition, SetGroupCondition
from gangsched.engine.scheduler import Scheduler
from gangsched_framework.errors import GangschedError, PluginError
from gangsched_framework.objects import POD_GROUP, Condition, EntityKey, PodStatus, replace_condition

PodWrite = SetCondition | Nominate
"""A decision that changes the status of a pod."""

_pod_of = attrgetter("pod")
_group_of = attrgetter("group")
_UNSEEN = PodStatus()

BindCall = Callable[[Bind], "str | None"]
"""Carries out a binding; returns None, or the message of the failure."""


class _Asked:
    """A ``bind_call``. Once it went wrong it is not asked again in that cycle: all further bindings fail."""

    def __init__(self, call: BindCall) -> None:
        self.call = call
        self._problem: BaseException | None = None
        self._message = ""

    def __call__(self, bind: Bind) -> str | None:
        if self._problem is not None:
            return self._message
        try:
            answer: object = self.call(bind)
        except BaseException as problem:
            self._problem = problem
            self._message = f"bind_call raised {type(problem).__name__}: {problem}".removesuffix(": ")
            return self._message
        if answer is None or isinstance(answer, str):
            return answer
        self._message = f"bind_call returned {type(answer).__name__}, allowed None (it is bound) or str (why it failed)"
        self._problem = GangschedError(self._message)
        return self._message

    def end_cycle(self) -> None:
        """Raise what went wrong in this cycle."""
        problem, self._problem = self._problem, None
        if problem is not None:
            raise problem


class Host:
    """Answers the decisions of one core.

    ``evict`` is told of each victim (default: ``delete_victim``). Whoever sets it sees to it that the pod goes: it
    deletes the pod in the core, now or later, and may mark it with a deletion timestamp until then. A pod that stays
    without a mark is chosen again. What it returns is not looked at; when it raises, victims it was not told of yet
    stay, the rest of the cycle is carried out, and then the exception goes on. ``bindings`` holds what is bound now,
    ``evicted`` the victims that ``delete_victim`` deleted, and their preemptors.
    """

    def __init__(self, core: Scheduler) -> None:
        self.core = core
        self._asked: _Asked | None = None
        self.evict: Callable[[Evict], None] = self.delete_victim
        self.bindings: dict[str, str] = {}
        self.evicted: dict[str, EntityKey] = {}
        self._pods = core.world.pods
        self._clock = core.clock
        self._update_status = core.update_status
        self._update_group_status = core.update_group_status
        self._shared = (_UNSEEN, 0, _UNSEEN)
        self._patched: tuple[PodStatus, Condition | None, str | None, PodStatus] = (_UNSEEN, None, None, _UNSEEN)

    @property
    def bind_call(self) -> BindCall | None:
        """Carries out a binding: returns None, or why it failed. None = each succeeds.

        When it raises, or returns anything else, this binding and those of the cycle that it was not asked about yet
        fail, the rest of the cycle is carried out, and then the exception goes on.
        """
        return None if self._asked is None else self._asked.call

    @bind_call.setter
    def bind_call(self, call: BindCall | None) -> None:
        self._asked = None if call is None else _Asked(call)

    def carry_out(self, decisions: Sequence[Decision]) -> tuple[Decision, ...]:
        """Apply the decisions of a cycle; returns them with what carrying them out added (events, failed bindings)."""
        if len(decisions) == 1 and isinstance(lone := decisions[0], Bind) and self._asked is None:
            key, uid, node, update_status = lone.pod, lone.uid, lone.node, self._update_status
            pod = self._pods.get(key)
            if pod is not None and pod.uid == uid:  # as below, where nothing is to be put in order
                self.bindings[key] = node
                event = self.core.bound(key, uid)
                old, now, (before, since, status) = pod.status, self._clock.time, self._shared
                if old is not before or since != now:
                    status = self._scheduled(old, now)
                update_status(pod, node, status)
                return lone, event
        binds: list[Bind] = []
        evictions: list[Evict] = []
        writes: list[Bind | PodWrite] = []
        group_writes: list[SetGroupCondition] = []
        for decision in decisions:
            if isinstance(decision, RecordEvent):
                continue
            if isinstance(decision, Bind):
                binds.append(decision)
            elif isinstance(decision, SetGroupCondition):
                group_writes.append(decision)
            elif isinstance(decision, Evict):
                evictions.append(decision)
            else:
                writes.append(decision)
        if len(binds) > 1:
            binds.sort(key=_pod_of)
        bound, added = self._bind(binds)
        if len(bound) < len(binds):  # a failed binding is written to its pod
            writes += [each for each in added if isinstance(each, SetCondition)]
        try:
            for eviction in evictions:
                self.evict(eviction)
        except PluginError:  # it heard of the deletion, and has ended the core
            raise
        except BaseException:
            self._write(bound, writes, group_writes)
            raise
        else:
            self._write(bound, writes, group_writes)
        finally:
            if self._asked is not None:
                self._asked.end_cycle()
        return (*decisions, *added)

    def _write(
        self, bound: Sequence[Bind], writes: list[Bind | PodWrite], group_writes: list[SetGroupCondition]
    ) -> None:
        """The writes of a cycle, those of pods with what the bindings show."""
        if writes:
            writes[:0] = bound
            self._write_pods(writes)
        else:
            self._confirm(bound)
        if group_writes:
            self._write_groups(group_writes)

    def _bind(self, binds: Sequence[Bind]) -> tuple[list[Bind], list[Decision]]:
        """Carry bindings out and tell the core; returns those that succeeded, and what the core adds."""
        core, pods, bindings, bind_call = self.core, self._pods, self.bindings, self._asked
        bound: list[Bind] = []
        added: list[Decision] = []
        for bind in binds:
            pod = bind.pod
            failure = None if bind_call is None else bind_call(bind)
            if failure is None:
                current = pods.get(pod)
                if current is not None and current.uid == bind.uid:
                    bound.append(bind)
                    bindings[pod] = bind.node
                    added.append(core.bound(pod, bind.uid))
                    continue
                failure = f'pods "{pod.split("/", 1)[1]}" not found'
            added += core.bind_failed(pod, failure, bind.uid)
        return bound, added

    def _confirm(self, bound: Iterable[Bind]) -> None:
        """Show node and PodScheduled=True since now. Pods of equal status bound at one instant share the new status."""
        now, pods, update_status = self._clock.time, self._pods, self._update_status
        before, since, status = self._shared
        for bind in bound:
            pod = pods.get(bind.pod)
            if pod is None:  # evicted meanwhile
                continue
            old = pod.status
            if old is not before or since != now:
                before, since, status = old, now, self._scheduled(old, now)
            update_status(pod, bind.node, status)

    def _scheduled(self, old: PodStatus, now: int) -> PodStatus:
        """What a pod of status ``old`` shows that is bound now."""
        scheduled = Condition("PodScheduled", "True", last_transition_time=now)
        conditions = replace_condition(old.conditions, scheduled)
        status = PodStatus(old.phase, old.nominated_node_name, now, conditions, old.allocated)
        self._shared = old, now, status
        return status

    def _write_pods(self, writes: list[Bind | PodWrite]) -> None:
        """Pod by pod, in the order of its writes.

        Of a tree that failed all pods have one status, and share the new one.
        """
        pods, update_status = self._pods, self._update_status
        writes.sort(key=_pod_of)
        before, wrote, named, status = self._patched
        for write in writes:
            if isinstance(write, Bind):
                self._confirm((write,))
                continue
            pod = pods.get(write.pod)
            if pod is None:
                continue
            if isinstance(write, SetCondition):
                condition, nominated = write.condition, write.nominated_node
            else:
                condition, nominated = None, write.node
            old = pod.status
            if old is not before or condition is not wrote or nominated != named:
                status = _written(old, condition, nominated)
                self._patched = before, wrote, named, status = old, condition, nominated, status
            update_status(pod, pod.node_name, status)

    def _write_groups(self, writes: list[SetGroupCondition]) -> None:
        """PodGroups before those above them, each by name."""
        if len(writes) > 1:
            writes.sort(key=_group_of)  # keys begin with the kind
            leaves = bisect_left(writes, POD_GROUP, key=_group_of)
            writes = writes[leaves:] + writes[:leaves]
        for write in writes:
            self._update_group_status(write.group, write.condition)

    def delete_victim(self, evict: Evict) -> None:
        """The victim is gone at once (architecture.md §11)."""
        pod = self.core.pod(evict.pod)
        if pod is not None:
            self.evicted[evict.pod] = evict.by
            self.bindings.pop(evict.pod, None)
            self.core.delete(pod)


def _written(old: PodStatus, condition: Condition | None, nominated: str | None) -> PodStatus:
    """``old`` with a condition and a nomination; None leaves what is there."""
    return PodStatus(
        old.phase,
        old.nominated_node_name if nominated is None else nominated,
        old.start_time,
        old.conditions if condition is None else replace_condition(old.conditions, condition),
        old.allocated,
    )
