"""The default host: carries decisions out at once, as an API server and kubelets without delay would.

Order as recorded from the real scheduler (conformance README §3): bindings by ``namespace/name``, evictions, then the
other writes, pods first, each object by name, its writes in their order, each delivered as one update.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from gangsched.engine.decisions import Bind, Decision, Evict, Nominate, SetCondition
from gangsched.engine.scheduler import Scheduler
from gangsched_framework.objects import POD, Condition, EntityKey, PodStatus, replace_condition

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
        self._patched: tuple[PodStatus, Condition | None, str | None, PodStatus] | None = None

    def carry_out(self, decisions: Sequence[Decision]) -> tuple[Decision, ...]:
        """Apply the decisions of a cycle; returns them with what carrying them out added (events, failed bindings)."""
        binds: list[Bind] = []
        evictions: list[Evict] = []
        patches: list[PodWrite] = []
        group_writes: list[SetCondition] = []
        for decision in decisions:
            if isinstance(decision, Bind):
                binds.append(decision)
            elif isinstance(decision, SetCondition):
                (patches if decision.key.kind == POD else group_writes).append(decision)
            elif isinstance(decision, Nominate):
                patches.append(decision)
            elif isinstance(decision, Evict):
                evictions.append(decision)
        if len(binds) > 1:
            binds.sort(key=_pod_of)
        added: list[Decision] = []
        bound: list[Bind] = []
        for bind in binds:
            added += self._bind(bind, bound)
        for victim in evictions:
            self.evict(victim)
        if len(bound) < len(binds):  # a failed binding is written to its pod
            patches += (decision for decision in added if isinstance(decision, PodWrite))
        if patches:
            self._write_pods(bound, patches)
        else:
            for bind in bound:
                self._confirm(bind)
        if group_writes:
            self._write_groups(group_writes)
        return (*decisions, *added)

    def _bind(self, bind: Bind, bound: list[Bind]) -> Iterable[Decision]:
        pod, uid, core = bind.pod, bind.uid, self.core
        failure = self.bind_call(bind)
        if failure is None:
            current = core.world.pods.get(pod)
            if current is not None and current.uid == uid:
                bound.append(bind)
                self.bindings[pod] = bind.node
                return core.bound(pod, uid)
            failure = f'pods "{pod.split("/", 1)[1]}" not found'
        return core.bind_failed(pod, failure, uid)

    def _confirm(self, bind: Bind) -> None:
        """Show node and PodScheduled=True since now. Pods of equal status bound at one instant share the new status."""
        core = self.core
        pod = core.world.pods.get(bind.pod)
        if pod is None:  # evicted meanwhile
            return
        old, now, shared = pod.status, core.now, self._shared
        if shared is None or shared[0] is not old or shared[1] != now:
            scheduled = Condition("PodScheduled", "True", last_transition_time=now)
            conditions = replace_condition(old.conditions, scheduled)
            new = PodStatus(old.phase, old.nominated_node_name, now, conditions, old.allocated)
            self._shared = shared = (old, now, new)
        core.update(pod.bound_to(bind.node, shared[2]))

    def _write_pods(self, bound: Sequence[Bind], patches: Sequence[PodWrite]) -> None:
        binds = {bind.pod: bind for bind in bound}
        by_pod: dict[str, list[PodWrite]] = {}
        for patch in patches:
            by_pod.setdefault(patch.key.full_name if isinstance(patch, SetCondition) else patch.pod, []).append(patch)
        for key in sorted({*binds, *by_pod}):
            if key in binds:
                self._confirm(binds[key])
            for patch in by_pod.get(key, ()):
                self._patch_pod(key, patch)

    def _patch_pod(self, key: str, patch: PodWrite) -> None:
        """Write to a pod; of a tree that failed all pods have one status, and share the new one."""
        pod = self.core.pod(key)
        if pod is None:
            return
        condition = None if isinstance(patch, Nominate) else patch.condition
        nominated = patch.node if isinstance(patch, Nominate) else patch.nominated_node
        old, last = pod.status, self._patched
        if last is None or last[0] is not old or last[1] is not condition or last[2] != nominated:
            status = PodStatus(
                old.phase,
                old.nominated_node_name if nominated is None else nominated,
                old.start_time,
                old.conditions if condition is None else replace_condition(old.conditions, condition),
                old.allocated,
            )
            self._patched = last = (old, condition, nominated, status)
        self.core.update(pod.with_status(last[3]))

    def _write_groups(self, writes: Sequence[SetCondition]) -> None:
        if len(writes) > 1:
            writes = sorted(writes, key=lambda d: (d.key.kind != "podgroup", d.key.full_name))
        for write in writes:
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
