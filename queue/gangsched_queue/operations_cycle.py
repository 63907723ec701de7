"""One attempt: an entity is popped, its pods come back one by one, and the tree at the end (spec §2.5, §2.11)."""

from __future__ import annotations

from gangsched_framework.errors import InvariantError
from gangsched_framework.infos import PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.status import Code, Status
from gangsched_queue.containers import Containers
from gangsched_queue.entities import QueuedPodGroupInfo
from gangsched_queue.pending_pods import PendingPod
from gangsched_queue.requeue import AFTER_BACKOFF, IMMEDIATELY, strategy_of_missed


def pop(queue: Containers) -> QueuedPodInfo | PoppedPodGroupInfo | None:
    """The next entity, its pods marked as in flight; None when nothing may be popped now."""
    while True:
        entity = queue.waiting.pop()
        if entity is None:
            return None
        if not isinstance(entity, QueuedPodInfo):
            leaves = _start_members(queue, entity)
            if leaves:
                queue.last_popped = entity.key
                return _popped(queue, entity, leaves)
        elif queue.in_flight.mark(entity.pod):  # else it is dropped, and the next is popped (spec §2.5.4)
            entity.attempts += 1
            queue.last_popped = entity.key
            return entity


def _start_members(queue: Containers, entity: QueuedPodGroupInfo) -> dict[EntityKey, list[QueuedPodInfo]]:
    """The members whose attempts begin, leaf by leaf: all that are not in flight already (spec §2.5.4)."""
    mark = queue.in_flight.mark
    leaves: dict[EntityKey, list[QueuedPodInfo]] = {}
    for leaf, members in entity.ordered(queue.forest).items():
        free = [info for info in members if mark(info.pod)]
        if free:
            leaves[leaf] = free
        for info in free:
            info.gating_plugin = ""
            info.attempts += 1
    return leaves


def popped_tree(queue: Containers, entity: QueuedPodGroupInfo) -> PoppedPodGroupInfo:
    """The tree as a pop would give it, without popping it."""
    return _popped(queue, entity, entity.ordered(queue.forest))


def _popped(
    queue: Containers, entity: QueuedPodGroupInfo, leaves: dict[EntityKey, list[QueuedPodInfo]]
) -> PoppedPodGroupInfo:
    return PoppedPodGroupInfo(
        key=entity.key,
        tree=queue.forest.tree(entity.key),
        leaves=leaves,
        timestamp=entity.timestamp,
        initial_attempt_timestamp=entity.initial_attempt_timestamp,
        attempts=entity.attempts + 1,
        unschedulable_count=entity.unschedulable_count,
        consecutive_errors=entity.consecutive_errors,
        backoff_expiration=entity.backoff_expiration,
        was_flushed=entity.was_flushed,
        flush_timestamp=entity.flush_timestamp,
    )


def add_unschedulable(queue: Containers, info: QueuedPodInfo) -> None:
    """Give back a pod whose attempt or binding failed, its rejector sets filled anew. Ends its attempt.

    Raises InvariantError when the pod is queued already.
    """
    pod = info.pod
    leaf = pod.group_key
    try:
        if _is_queued(queue, info):
            raise InvariantError(f"pod {pod.key} failed, but is queued already")
        info.timestamp = queue.clock.now()
        info.backoff_expiration = None
        info.was_flushed = False
        info.flush_timestamp = 0
        if leaf is None:
            _count_failure(info, error=not info.unschedulable_plugins and not info.pending_plugins)
            missed = queue.in_flight.missed(pod.uid)
            queue.waiting.requeue(info, strategy_of_missed(info, missed, queue.registrations))
    finally:
        queue.in_flight.done(pod.uid)
    if leaf is not None:  # no replay for members (spec §2.6.4)
        queue.place_member(leaf, info, attempted=True)


def _is_queued(queue: Containers, info: QueuedPodInfo) -> bool:
    leaf = info.pod.group_key
    if leaf is None:
        return queue.waiting.find_pod(info.key) is not None
    if queue.incomplete.get(leaf, info.pod.key) or queue.pending.get(leaf, info.pod.key):
        return True
    root = queue.forest.root(leaf)
    found = queue.waiting.find_tree(root) if root is not None else None
    return found is not None and found[0].get(leaf, info.pod.key) is not None


def add_attempted(queue: Containers, popped: PoppedPodGroupInfo, root_status: Status) -> None:
    """End the cycle of a tree; ``root_status`` decides its penalty. Every popped tree must come back through here.

    Raises InvariantError when the tree is queued already.
    """
    if queue.waiting.find_tree(popped.key) is not None:
        raise InvariantError(f"{popped.key} ends its cycle, but is queued already")
    queue.last_popped = None
    drained = queue.pending.drain()
    if not drained:
        return  # the entity leaves for good
    group = queue.forest.group(popped.key)
    assert group is not None, "pending pods of a root that is gone"
    entity = QueuedPodGroupInfo(
        key=popped.key,
        group=group,
        timestamp=popped.timestamp,
        initial_attempt_timestamp=popped.initial_attempt_timestamp,
        attempts=popped.attempts,
        unschedulable_count=popped.unschedulable_count,
        consecutive_errors=popped.consecutive_errors,
    )
    attempted = _fill(entity, drained)
    if root_status.ok:  # decided by the root alone (spec §2.11 AddAttempted, B-02)
        entity.unschedulable_count = entity.consecutive_errors = 0
        if not attempted:
            entity.timestamp = queue.clock.now()
        queue.waiting.requeue(entity, IMMEDIATELY)
        return
    _count_failure(entity, error=root_status.code is Code.ERROR)
    entity.timestamp = queue.clock.now()
    queue.waiting.requeue(entity, AFTER_BACKOFF)


def _fill(entity: QueuedPodGroupInfo, drained: dict[EntityKey, dict[str, PendingPod]]) -> bool:
    """Put the drained pods into the entity. Returns whether one of them was attempted in this cycle."""
    attempted = False
    for leaf, pods in drained.items():
        for pending in pods.values():
            entity.insert(leaf, pending.info)
            attempted = attempted or pending.attempted
    return attempted


def _count_failure(entity: QueuedPodInfo | QueuedPodGroupInfo, *, error: bool) -> None:
    """An error and a rejection are counted apart (spec §2.4.11)."""
    if error:
        entity.consecutive_errors += 1
    else:
        entity.unschedulable_count += 1
        entity.consecutive_errors = 0
