"""The ledger of a replay: what became of every pod and gang, and how much was in use for how long.

It is fed with decisions and events only and never asks the engine, so it can also bear witness against it (check.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import define, field, frozen

from gangsched_framework.objects import EntityKey, Group, Node, Pod, PodGroup
from gangsched_framework.resources import CPU, MEMORY, PODS, Resources


@define(eq=False)
class PodRecord:
    """One pod of the trace, or one more run of an evicted one. Times in engine nanoseconds, None = has not happened.

    ``gone``: deleted, or evicted and gone. ``restarts`` counts the runs before this one, ``arrived`` is the time at
    which the first of them was created.
    """

    pod: Pod
    created: int
    duration: int | None
    bound: int | None = None
    node: str = ""
    finished: int | None = None
    gone: int | None = None
    restarts: int = 0
    arrived: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.arrived = self.created

    @property
    def running(self) -> bool:
        return self.bound is not None and self.finished is None and self.gone is None


@define(eq=False)
class GangRecord:
    """One PodGroup of the trace.

    ``placed`` is the first moment at which as many pods run as the group requires, ``finished`` the moment at which
    all its pods have succeeded. ``pods`` counts those that were not deleted before their end (lost ones included, so
    a gang that lost a pod never finishes), ``running`` those bound and not ended, ``succeeded`` those that succeeded.
    ``why`` is the reason of the last refusal.
    """

    group: PodGroup
    created: int
    pods: int = 0
    running: int = 0
    succeeded: int = 0
    placed: int | None = None
    finished: int | None = None
    gone: int | None = None
    why: str = ""

    @property
    def arrived(self) -> int:
        return self.created


@frozen
class Integrals:
    """What nodes offered and pods used up to ``time``: amount × nanoseconds by resource."""

    time: int = 0
    offered: Mapping[str, int] = {}
    served: Mapping[str, int] = {}


@define(eq=False)
class Ledger:
    """All records of a replay, and integrals over time.

    ``pods`` and ``gangs`` are the newest record of each name; earlier ones of a reused name stand in ``past_pods`` and
    ``past_gangs``. ``members`` holds the existing pods that name a group, known or not, ``children`` the groups that
    name a parent. ``on_node`` is what runs on each node. ``capacity`` and ``used`` are the amounts now, ``offered``
    and ``served`` their integrals (amount × nanoseconds; milli-CPU, bytes, counts) since time 0; ``arrived`` is their
    state at the last arrival.
    """

    pods: dict[str, PodRecord] = field(factory=dict)
    gangs: dict[EntityKey, GangRecord] = field(factory=dict)
    groups: dict[EntityKey, Group] = field(factory=dict)
    nodes: dict[str, Node] = field(factory=dict)
    past_pods: list[PodRecord] = field(factory=list)
    past_gangs: list[GangRecord] = field(factory=list)
    members: dict[EntityKey, dict[str, PodRecord]] = field(factory=dict)
    children: dict[EntityKey, dict[EntityKey, None]] = field(factory=dict)
    on_node: dict[str, dict[str, int]] = field(factory=dict)
    capacity: dict[str, int] = field(factory=dict)
    used: dict[str, int] = field(factory=dict)
    offered: dict[str, int] = field(factory=dict)
    served: dict[str, int] = field(factory=dict)
    arrived: Integrals = Integrals()
    now: int = 0

    # --- time -------------------------------------------------------------------------------------------------------

    def advance(self, time: int) -> None:
        """Everything that was in use stayed so until ``time``."""
        passed = time - self.now
        if passed:
            for integral, amounts in ((self.offered, self.capacity), (self.served, self.used)):
                for name, amount in amounts.items():
                    integral[name] = integral.get(name, 0) + amount * passed
            self.now = time

    def mark_arrival(self) -> None:
        """Something arrives now."""
        self.arrived = Integrals(self.now, dict(self.offered), dict(self.served))

    def integrals_at(self, time: int) -> Integrals:
        """The integrals at ``time``, not after ``now``, if nothing has changed since then."""
        rest = self.now - time
        offered = {name: amount - self.capacity[name] * rest for name, amount in self.offered.items()}
        served = {name: amount - self.used[name] * rest for name, amount in self.served.items()}
        return Integrals(time, offered, served)

    # --- the trace --------------------------------------------------------------------------------------------------

    def node_added(self, node: Node) -> None:
        self.nodes[node.name] = node
        _count(self.capacity, amounts(node.allocatable), 1)

    def node_updated(self, node: Node) -> None:
        self.node_deleted(node.name)
        self.node_added(node)

    def node_deleted(self, name: str) -> None:
        _count(self.capacity, amounts(self.nodes.pop(name).allocatable), -1)

    def group_added(self, group: Group) -> None:
        self.groups[group.key] = group
        if group.parent_key:
            self.children.setdefault(group.parent_key, {})[group.key] = None
        if isinstance(group, PodGroup):
            if group.key in self.gangs:
                self.past_gangs.append(self.gangs.pop(group.key))
            gang = self.gangs[group.key] = GangRecord(group, self.now)
            for record in self.members.get(group.key, {}).values():  # links are by name (spec §1.5.3)
                gang.pods += 1
                gang.running += record.running
                gang.succeeded += record.finished is not None
            self._look_whether_placed(gang)

    def group_updated(self, group: Group) -> None:
        self.groups[group.key] = group
        if isinstance(group, PodGroup):
            self.gangs[group.key].group = group

    def group_deleted(self, key: EntityKey) -> None:
        parent = self.groups.pop(key).parent_key
        if parent:
            del self.children[parent][key]
        if key in self.gangs:
            self.gangs[key].gone = self.now

    def pod_added(self, pod: Pod, duration: int | None) -> PodRecord:
        """A pod appears; one that names its node already runs."""
        if pod.key in self.pods:
            self.past_pods.append(self.pods.pop(pod.key))
        record = self.pods[pod.key] = PodRecord(pod, self.now, duration)
        if pod.group_key:
            self.members.setdefault(pod.group_key, {})[pod.key] = record
        if gang := self.gang_of(pod):
            gang.pods += 1
        if pod.node_name:
            self.pod_bound(pod.key, pod.node_name)
        return record

    def pod_updated(self, pod: Pod, duration: int | None) -> None:
        """The object of a pod is replaced; it may now name a node or have ended."""
        record = self.pods[pod.key]
        if record.running:
            self._occupy(record, -1)
        record.pod, record.duration = pod, duration
        if record.running:
            self._occupy(record, 1)
        elif pod.node_name:
            self.pod_bound(pod.key, pod.node_name)
        if pod.terminal and record.running:
            self.pod_finished(pod.key)

    # --- what becomes of pods ---------------------------------------------------------------------------------------

    def pod_bound(self, key: str, node: str) -> PodRecord:
        """A pod starts to run on a node."""
        record = self.pods[key]
        record.bound, record.node = self.now, node
        self._occupy(record, 1)
        if gang := self.gang_of(record.pod):
            gang.running += 1
            self._look_whether_placed(gang)
        return record

    def pod_finished(self, key: str) -> GangRecord | None:
        """A pod succeeds. Returns its gang when that was the last one of its pods."""
        record = self.pods[key]
        self._stop(record)
        record.finished = self.now
        gang = self.gang_of(record.pod)
        if gang is None:
            return None
        gang.succeeded += 1
        if gang.succeeded < gang.pods or gang.placed is None:
            return None
        gang.finished = self.now
        return gang

    def pod_restarted(self, new: Pod) -> None:
        """An evicted pod is gone and ``new`` of the same name waits in its place."""
        old = self.pods[new.key]
        self.pod_deleted(new.key)
        record = self.pod_added(new, old.duration)
        record.restarts, record.arrived = old.restarts + 1, old.arrived

    def pod_lost(self, key: str) -> None:
        """An evicted pod is gone for good. To the trace, which knows nothing of evictions, it exists until deleted."""
        record = self.pods[key]
        self._stop(record)
        record.gone = self.now

    def pod_deleted(self, key: str) -> None:
        """A pod is deleted, waiting, running or lost; one that has succeeded keeps its record as it is."""
        record = self.pods[key]
        if record.pod.group_key:
            del self.members[record.pod.group_key][key]
        if record.finished is None:
            self._stop(record)
            record.gone = self.now if record.gone is None else record.gone
            if gang := self.gang_of(record.pod):
                gang.pods -= 1

    def _stop(self, record: PodRecord) -> None:
        if record.running:
            self._occupy(record, -1)
            if gang := self.gang_of(record.pod):
                gang.running -= 1

    def _occupy(self, record: PodRecord, sign: int) -> None:
        wanted = requested(record.pod)
        _count(self.used, wanted, sign)
        _count(self.on_node.setdefault(record.node, {}), wanted, sign)

    def _look_whether_placed(self, gang: GangRecord) -> None:
        if gang.placed is None and gang.running >= gang.group.required:
            gang.placed = self.now

    # --- views ------------------------------------------------------------------------------------------------------

    def gang_of(self, pod: Pod) -> GangRecord | None:
        """The gang a pod belongs to, None for a plain pod or an unknown group."""
        return self.gangs.get(pod.group_key) if pod.group_key else None

    def all_pods(self) -> Iterator[PodRecord]:
        """Every record, in order of creation within each name."""
        yield from self.past_pods
        yield from self.pods.values()

    def all_gangs(self) -> Iterator[GangRecord]:
        yield from self.past_gangs
        yield from self.gangs.values()


def amounts(resources: Resources) -> dict[str, int]:
    """CPU (milli), memory (bytes), pods, and the counts of every extended resource."""
    return {CPU: resources.milli_cpu, MEMORY: resources.memory, PODS: resources.pods, **resources.scalars}


def requested(pod: Pod) -> dict[str, int]:
    """What a pod takes of its node, itself included in the count of pods."""
    return {**amounts(pod.incoming.requested), PODS: 1}


def _count(total: dict[str, int], change: dict[str, int], sign: int) -> None:
    for name, amount in change.items():
        total[name] = total.get(name, 0) + sign * amount
