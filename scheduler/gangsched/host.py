"""The default host: carries decisions out at once, as an API server and kubelets without delay would.

Order as recorded from the real scheduler (conformance README §3): bindings by ``namespace/name``, evictions, then the
other writes, pods first, each object by name, its writes in their order, each delivered as one update.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from gangsched.engine.decisions import Bind, Decision, Evict, Nominate, SetCondition
from gangsched.engine.scheduler import Scheduler
from gangsched_framework.objects import POD, Condition, EntityKey, Pod, PodStatus, replace_condition

PodWrite = SetCondition | Nominate
"""A decision that changes the status of a pod."""

_pod_of = attrgetter("pod")

BindCall = Callable[[Bind], "str | None"]
"""Carries out a binding; returns None, or the message of the failure."""


def always_binds(bind: Bind) -> None:
    """Every binding succeeds."""


class Host:
    """Answers the decisions of one core.

    ``bind_call`` carries out a binding (default: it succeeds); ``evict`` is told of each victim (default: the pod is
    gone at once). ``bindings`` holds what is bound now, ``evicted`` the victims and their preemptors.
    """

    def __init__(self, core: Scheduler) -> None:
        self.core = core
        self.bind_call: BindCall = always_binds
        self.evict: Callable[[Evict], None] = self.delete_victim
        self.bindings: dict[str, str] = {}
        self.evicted: dict[str, EntityKey] = {}
        self._shared: tuple[PodStatus, int, PodStatus] | None = None

    def carry_out(self, decisions: Sequence[Decision]) -> tuple[Decision, ...]:
        """Apply the decisions of a cycle; returns them with what carrying them out added (events, failed bindings)."""
        binds, evictions, pod_writes, group_writes = _by_kind(decisions)
        added: list[Decision] = []
        bound: list[Bind] = []
        for bind in sorted(binds, key=_pod_of) if len(binds) > 1 else binds:
            added += self._bind(bind, bound)
        for victim in evictions:
            self.evict(victim)
        writes = {bind.pod: self._assigned(bind) for bind in bound}
        if len(bound) < len(binds):  # a failed binding is written to its pod
            pod_writes += _by_kind(added)[2]
        self._write_pods(writes, pod_writes)
        if group_writes:
            self._write_groups(group_writes)
        return (*decisions, *added)

    def _bind(self, bind: Bind, bound: list[Bind]) -> Iterable[Decision]:
        failure = self.bind_call(bind)
        current = self.core.world.pods.get(bind.pod)
        if failure is None and (current is None or current.uid != bind.uid):
            failure = f'pods "{bind.pod.split("/", 1)[1]}" not found'
        if failure is not None:
            return self.core.bind_failed(bind.pod, failure, bind.uid)
        bound.append(bind)
        self.bindings[bind.pod] = bind.node
        return self.core.bound(bind.pod, bind.uid)

    def _assigned(self, bind: Bind) -> Pod | None:
        pod = self.core.world.pods.get(bind.pod)
        if pod is None:
            return None
        return pod.bound_to(bind.node, self._scheduled(pod.status))

    def _scheduled(self, old: PodStatus) -> PodStatus:
        """The status with PodScheduled=True since now; pods of equal status bound at one instant share it."""
        now = self.core.now
        if self._shared is None or self._shared[0] is not old or self._shared[1] != now:
            scheduled = Condition("PodScheduled", "True", last_transition_time=now)
            conditions = replace_condition(old.conditions, scheduled)
            new = PodStatus(old.phase, old.nominated_node_name, now, conditions, old.allocated)
            self._shared = (old, now, new)
        return self._shared[2]

    def _write_pods(self, writes: dict[str, Pod | None], patches: Sequence[PodWrite]) -> None:
        by_pod: dict[str, list[PodWrite]] = {}
        for patch in patches:
            by_pod.setdefault(patch.key.full_name if isinstance(patch, SetCondition) else patch.pod, []).append(patch)
        for key in sorted({*writes, *by_pod}) if by_pod else writes:  # bindings are sorted
            bound = writes.get(key)
            if bound is not None:
                self.core.update(bound)
            for patch in by_pod.get(key, ()):
                self._patch_pod(key, patch)

    def _patch_pod(self, key: str, patch: PodWrite) -> None:
        pod = self.core.pod(key)
        if pod is None:
            return
        old = pod.status
        condition = None if isinstance(patch, Nominate) else patch.condition
        nominated = patch.node if isinstance(patch, Nominate) else patch.nominated_node
        status = PodStatus(
            old.phase,
            old.nominated_node_name if nominated is None else nominated,
            old.start_time,
            old.conditions if condition is None else replace_condition(old.conditions, condition),
            old.allocated,
        )
        self.core.update(pod.with_status(status))

    def _write_groups(self, writes: Sequence[SetCondition]) -> None:
        for write in sorted(writes, key=lambda d: (d.key.kind != "podgroup", d.key.full_name)):
            group = self.core.world.forest.group(write.key)
            if group is not None and write.condition is not None:
                self.core.update(group.with_condition(write.condition))

    def delete_victim(self, evict: Evict) -> None:
        """The victim is gone at once (architecture.md §11)."""
        pod = self.core.pod(evict.pod)
        if pod is not None:
            self.evicted[evict.pod] = evict.by
            self.bindings.pop(evict.pod, None)
            self.core.delete(pod)


def _by_kind(decisions: Iterable[Decision]) -> tuple[list[Bind], list[Evict], list[PodWrite], list[SetCondition]]:
    """Bindings, evictions, writes to pods and writes to groups, each kind in the order it was decided."""
    binds: list[Bind] = []
    evictions: list[Evict] = []
    pod_writes: list[PodWrite] = []
    group_writes: list[SetCondition] = []
    for decision in decisions:
        if isinstance(decision, Bind):
            binds.append(decision)
        elif isinstance(decision, SetCondition):
            (pod_writes if decision.key.kind == POD else group_writes).append(decision)
        elif isinstance(decision, Nominate):
            pod_writes.append(decision)
        elif isinstance(decision, Evict):
            evictions.append(decision)
    return binds, evictions, pod_writes, group_writes
