"""The operations of the queue that are timed one by one; their cost must not grow with what else waits."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from gangsched.bench.queue_case import REPEATS, Operation, Work
from gangsched.bench.workloads import DEFAULT, TOO_LARGE, pods_like
from gangsched.engine.scheduler import Scheduler
from gangsched_framework.infos import PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import Pod, PodGroup
from gangsched_framework.status import unschedulable
from gangsched_framework.testing import PodGroupBuilder, make_node, make_pod_group

GANG = 3
FIT = frozenset({"NodeResourcesFit"})


def _plain(core: Scheduler, n: int) -> tuple[Pod, ...]:
    pods = pods_like(DEFAULT, n, "waiting")
    for pod in pods:
        core.add(pod)
    return pods


def _gangs(core: Scheduler, n: int, prefix: str = "gang") -> list[PodGroupBuilder]:
    """``n`` ready gangs."""
    gangs = [make_pod_group(f"{prefix}-{g:06}").min_count(GANG) for g in range(n)]
    for gang in gangs:
        group = gang.obj()
        core.add(group)
        for pod in pods_like(DEFAULT, GANG, group.name, group.name):
            core.add(pod)
    return gangs


def _parked(core: Scheduler, n: int) -> None:
    """``n`` pods that wait because NodeResourcesFit refused them."""
    for pod in pods_like(TOO_LARGE, n, "parked"):
        core.add(pod)
    for info in _pop_pods(core, n):
        _refuse(core, info)


def _pop_pods(core: Scheduler, count: int) -> list[QueuedPodInfo]:
    popped = []
    for _ in range(count):
        info = core.queue.pop()
        assert isinstance(info, QueuedPodInfo)
        popped.append(info)
    return popped


def _refuse(core: Scheduler, info: QueuedPodInfo) -> None:
    info.unschedulable_plugins = FIT
    core.queue.add_unschedulable(info)


# --- pods -------------------------------------------------------------------------------------------------------------


def add_pod(core: Scheduler, n: int) -> Work:
    _plain(core, n)
    return _adding(core, pods_like(DEFAULT, REPEATS, "new"))


def _adding(core: Scheduler, pods: Sequence[Pod]) -> Work:
    def work() -> int:
        for pod in pods:
            core.add(pod)
        return len(pods)

    return work


def update_pod(core: Scheduler, n: int) -> Work:
    return _adding(core, [evolve(pod, labels={"step": "2"}) for pod in _plain(core, n)[:REPEATS]])


def delete_pod(core: Scheduler, n: int) -> Work:
    pods = _plain(core, n)[:REPEATS]

    def work() -> int:
        for pod in pods:
            core.delete(pod)
        return len(pods)

    return work


def pop_pod(core: Scheduler, n: int) -> Work:
    _plain(core, n)
    queue, count = core.queue, min(n, REPEATS)

    def work() -> int:
        for _ in range(count):
            queue.pop()
        return count

    queue.peek()  # whoever looks first puts those that arrived in order
    return work


def requeue_pod(core: Scheduler, n: int) -> Work:
    """Popped pods come back refused while ``n`` others are parked."""
    _parked(core, n)
    for pod in pods_like(DEFAULT, REPEATS, "tried"):
        core.add(pod)
    popped = _pop_pods(core, REPEATS)

    def work() -> int:
        for info in popped:
            _refuse(core, info)
        return len(popped)

    return work


# --- groups -----------------------------------------------------------------------------------------------------------


def add_group(core: Scheduler, n: int) -> Work:
    _gangs(core, n)
    groups = [make_pod_group(f"new-{g:06}").min_count(GANG).obj() for g in range(REPEATS)]

    def work() -> int:
        for group in groups:
            core.add(group)
        return len(groups)

    return work


def update_group(core: Scheduler, n: int) -> Work:
    changed = [gang.priority(5).obj() for gang in _gangs(core, n)[:REPEATS]]

    def work() -> int:
        for group in changed:
            core.update(group)
        return len(changed)

    return work


def delete_group(core: Scheduler, n: int) -> Work:
    gone: list[PodGroup] = [gang.obj() for gang in _gangs(core, n)[:REPEATS]]

    def work() -> int:
        for group in gone:
            core.delete(group)
        return len(gone)

    return work


def pop_group(core: Scheduler, n: int) -> Work:
    _gangs(core, n)
    queue, count = core.queue, min(n, REPEATS)
    status = unschedulable("no room")

    def work() -> int:
        for _ in range(count):
            popped = queue.pop()
            assert isinstance(popped, PoppedPodGroupInfo)
            for info in popped.members():
                _refuse(core, info)
            queue.add_attempted(popped, status)
        return count

    queue.peek()
    return work


# --- readiness and events ---------------------------------------------------------------------------------------------


def fill_gang(core: Scheduler, n: int) -> Work:
    """The members of one gang arrive; the last one makes it ready."""
    core.add(make_pod_group("gang").min_count(n).obj())
    return _adding(core, pods_like(DEFAULT, n, "member", "gang"))


def change_readiness(core: Scheduler, n: int) -> Work:
    """A gang of ``n`` loses its quorum and finds it again."""
    fill_gang(core, n)()
    last = pods_like(DEFAULT, n, "member", "gang")[-1]

    def work() -> int:
        for _ in range(REPEATS):
            core.delete(last)
            core.add(last)
        return 2 * REPEATS

    return work


def event_for_nobody(core: Scheduler, n: int) -> Work:
    """A node's label changes: nothing that NodeResourcesFit's rejects wait for."""
    node = make_node("node").capacity(cpu=4, memory="32Gi", pods=110)
    core.add(node.obj())
    _parked(core, n)
    versions = [node.label("step", str(i)).obj() for i in range(REPEATS)]

    def work() -> int:
        for version in versions:
            core.update(version)
        return len(versions)

    return work


def event_for_all(core: Scheduler, n: int) -> Work:
    """A node grows, and every parked pod may go: one event, counted per pod."""
    node = make_node("node").capacity(cpu=4, memory="32Gi", pods=110)
    core.add(node.obj())
    _parked(core, n)
    grown = node.capacity(cpu=16, memory="32Gi", pods=110).obj()

    def work() -> int:
        core.update(grown)
        return n

    return work


OPERATIONS: tuple[Operation, ...] = (
    Operation("AddPod", "a pod arrives while n wait", add_pod),
    Operation("UpdatePod", "a waiting pod changes, one of n", update_pod),
    Operation("DeletePod", "a waiting pod goes, one of n", delete_pod),
    Operation("PopPod", "the next of n pods", pop_pod),
    Operation("RequeuePod", "a refused pod comes back while n are parked", requeue_pod),
    Operation("AddGroup", "a gang arrives while n wait", add_group),
    Operation("UpdateGroup", "a waiting gang changes, one of n", update_group),
    Operation("DeleteGroup", "a waiting gang goes, one of n", delete_group),
    Operation("PopGroup", "the next of n gangs of three, and back", pop_group),
    Operation("FillGang", "the n members of a gang arrive, per pod", fill_gang),
    Operation("ChangeReadiness", "a gang of n loses its quorum or finds it", change_readiness),
    Operation("EventForNobody", "an event that concerns none of n parked pods", event_for_nobody),
    Operation("EventForAll", "an event that wakes n parked pods, per pod", event_for_all),
)
