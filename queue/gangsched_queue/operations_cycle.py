"""One attempt: an entity is popped, its pods come back one by one, and the tree at the end (spec §2.5, §2.11)."""

from __future__ import annotations

from gangsched_framework.errors import InvariantError
from gangsched_framework.infos import PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.status import Code, Status
from gangsched_queue.containers import Containers
from gangsched_queue.entities import QueuedPodGroupInfo
from gangsched_queue.requeue import AFTER_BACKOFF, IMMEDIATELY, strategy_of_missed


def pop(queue: Containers) -> QueuedPodInfo | PoppedPodGroupInfo | None:
    """The next entity, its pods marked as in flight; None when nothing may be popped now."""
    waiting, in_flight = queue.waiting, queue.in_flight
    while (entity := waiting.active.pop() or waiting.backoff.pop_early()) is not None:  # spec §2.5.2
        if isinstance(entity, QueuedPodInfo):
            if in_flight.mark(entity.pod):  # else it is dropped, and the next is popped (spec §2.5.4)
                entity.attempts += 1
                return entity
            continue
        key, position = entity.key, in_flight.position
        waiting.popped(key)
        tree = queue.forest.tree(key)
        leaves = in_flight.begin(entity.ordered(tree))
        if leaves:
            queue.last_popped, queue.popped_alike, queue.popped_at = key, entity.alike, position
            entity.attempts += 1
            return PoppedPodGroupInfo(key, tree, leaves, entity.attempts, entity)
    return None


def popped_tree(queue: Containers, entity: QueuedPodGroupInfo) -> PoppedPodGroupInfo:
    """The tree as a pop would give it, without popping it."""
    tree = queue.forest.tree(entity.key)
    return PoppedPodGroupInfo(entity.key, tree, entity.ordered(tree), entity.attempts + 1)


def add_unschedulable(queue: Containers, info: QueuedPodInfo) -> None:
    """Give back a pod whose attempt or binding failed, its rejector sets filled anew. Ends its attempt.

    Raises InvariantError when the pod is queued already.
    """
    pod, in_flight = info.pod, queue.in_flight
    leaf = pod.group_key
    if leaf is None:
        _give_plain_back(queue, info)
        return
    # a member is pending until the cycle of its tree ends; what it has missed is not replayed (spec §2.6.4)
    mark = in_flight.done(pod.uid)
    root = queue.forest.roots.get(leaf)
    if root is None or root != queue.last_popped:
        if queue.find_member(leaf, pod.key) is not None:
            raise _queued_already(info)
        info.timestamp = queue.clock.time
        queue.place_member(leaf, info)
        return
    unchanged = mark is not None and mark[1] is pod and mark[0] == queue.popped_at
    if not queue.pending.add(leaf, info, True, unchanged):
        raise _queued_already(info)
    info.timestamp = queue.clock.time


def _give_plain_back(queue: Containers, info: QueuedPodInfo) -> None:
    uid = info.pod.uid
    try:
        if queue.waiting.find_pod(info.key) is not None:
            raise _queued_already(info)
        info.timestamp = queue.clock.time
        info.backoff_expiration = None
        info.was_flushed = False
        info.flush_timestamp = 0
        _count_failure(info, not info.unschedulable_plugins and not info.pending_plugins)
        missed = queue.in_flight.missed(uid)
        queue.waiting.requeue(info, strategy_of_missed(info, missed, queue.registrations))
    finally:
        queue.in_flight.done(uid)


def _queued_already(info: QueuedPodInfo) -> InvariantError:
    return InvariantError(f"pod {info.pod.key} failed, but is queued already")


def add_attempted(queue: Containers, popped: PoppedPodGroupInfo, root_status: Status) -> None:
    """End the cycle of a tree; ``root_status`` decides its penalty. Every popped tree must come back through here.

    Raises InvariantError when the tree is queued already.
    """
    if queue.waiting.find_tree(popped.key) is not None:
        raise InvariantError(f"{popped.key} ends its cycle, but is queued already")
    queue.last_popped = None
    if not queue.pending:
        return  # the entity leaves for good
    leaves, unasked = queue.pending.drain()
    group = queue.forest.group(popped.key)
    assert group is not None, "pending pods of a root that is gone"
    entity = popped.params
    assert isinstance(entity, QueuedPodGroupInfo), "a rehearsed tree ends no cycle"
    entity.come_back(group, leaves)
    if unasked:
        entity.fresh = {i.pod.key: i for i in entity.members() if i.initial_attempt_timestamp is None}
    elif queue.popped_alike is not None:
        depth, depth_of = queue.popped_alike.depth, queue.forest.depth
        if all(depth_of(leaf) == depth for leaf in leaves):
            entity.alike = queue.popped_alike
    if root_status.ok:  # decided by the root alone (spec §2.11 AddAttempted, B-02)
        entity.unschedulable_count = entity.consecutive_errors = 0
        if entity.size == sum(not attempted for attempted in unasked.values()):
            entity.timestamp = queue.clock.time
        queue.waiting.requeue(entity, IMMEDIATELY)
        return
    _count_failure(entity, root_status.code is Code.ERROR)
    entity.timestamp = queue.clock.time
    queue.waiting.requeue(entity, AFTER_BACKOFF)


def _count_failure(entity: QueuedPodInfo | QueuedPodGroupInfo, error: bool) -> None:
    """An error and a rejection are counted apart (spec §2.4.11)."""
    if error:
        entity.consecutive_errors += 1
    else:
        entity.unschedulable_count += 1
        entity.consecutive_errors = 0
