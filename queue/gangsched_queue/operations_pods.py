"""A pod appears, changes, goes, or is called up: by where it is (spec §2.11)."""

from __future__ import annotations

from collections.abc import Iterable

from gangsched_framework.entity_key import key_of_pod
from gangsched_framework.events import WILDCARD_EVENT
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Pod
from gangsched_queue.containers import Containers
from gangsched_queue.entities import Entity
from gangsched_queue.operations_events import member_added
from gangsched_queue.pod_events import pod_update_events
from gangsched_queue.requeue import IMMEDIATELY, SKIP, Occurrence, strategy_of_update
from gangsched_queue.waiting import ACTIVE, BACKOFF, PARKED, Place


def add(queue: Containers, pod: Pod) -> None:
    """A waiting pod appears; that of a member is an event, too (spec §2.12)."""
    nominator, leaf = queue.nominator, pod.group_key
    if nominator.node_of or pod.status.nominated_node_name:
        nominator.add(pod)  # even a gated pod's nomination counts for others (spec §2.10.3)
    info = QueuedPodInfo(pod, queue.clock.time)
    if leaf is None:
        queue.waiting.enter(info)
        return
    tree = queue.place_member(leaf, info, True)
    # else nobody hears of it: no tree to be woken, no attempt that may miss it, no parked entity or plugin that listens
    if tree is not None or queue.in_flight.marks or queue.waiting.parked.open or queue.registrations.all_hear:
        member_added(queue, pod, tree)


def _add_quietly(queue: Containers, pod: Pod) -> None:
    """Without the event of a member's arrival: what is known otherwise is only new here (spec §2.11 Update 1, 7)."""
    queue.nominator.add(pod)
    info = QueuedPodInfo(pod, queue.clock.time)
    leaf = pod.group_key
    if leaf is None:
        queue.waiting.enter(info)
    else:
        queue.place_member(leaf, info)


def update(queue: Containers, old: Pod, new: Pod, status_only: bool = False) -> None:
    """A waiting pod changes, ``status_only``: in nothing else; one that is nowhere is added."""
    uid, leaf = new.uid, new.group_key
    if old.uid != uid or old.group_name != new.group_name:
        delete(queue, old)
        _add_quietly(queue, new)
    elif uid in queue.in_flight.marks:
        for event in pod_update_events(old, new):
            queue.in_flight.record(event, old, new, only=uid)
        queue.nominator.update(old, new)
    elif leaf is None:
        _update_plain(queue, old, new)
    else:
        found = queue.find_member(leaf, new.key)
        if found is None:
            _add_quietly(queue, new)
            return
        if queue.nominator.node_of or new.status.nominated_node_name:
            queue.nominator.update(old, new)
        info, entity, place = found
        if status_only:
            info.pod = new  # which PreEnqueue does not look at, and no order
        elif entity is not None:
            entity.replace(info, new)
        else:
            info.renew(new)
            queue.pending.changed(leaf, new.key)
        if entity is None or place is BACKOFF:
            return
        if place is PARKED:
            _wake_by_update(queue, entity, info, old, new)
        else:
            queue.waiting.active.touch(entity)


def _update_plain(queue: Containers, old: Pod, new: Pod) -> None:
    key = key_of_pod(new.key)
    found = queue.waiting.find_pod(key)
    if found is None:
        _add_quietly(queue, new)
        return
    queue.nominator.update(old, new)
    entity, place = found
    if place is PARKED:
        entity.renew(new)
        _wake_by_update(queue, entity, entity, old, new)
    else:
        queue.waiting.reorder(entity, place, new)


def _wake_by_update(queue: Containers, entity: Entity, info: QueuedPodInfo, old: Pod, new: Pod) -> None:
    """Each change may wake the parked entity of the pod; the plugin that gates it is not looked at (spec §2.11.5)."""
    for event in pod_update_events(old, new):
        strategy = strategy_of_update(entity, info, Occurrence(event, old, new), queue.registrations)
        if strategy is SKIP:
            continue
        if queue.waiting.requeue(entity, strategy, PARKED) is not PARKED:
            return


def delete(queue: Containers, pod: Pod) -> None:
    """A waiting pod goes away or is assigned. A mark of its attempt stays until ``done``."""
    queue.nominator.delete(pod)
    leaf = pod.group_key
    if leaf is None:
        queue.waiting.take(key_of_pod(pod.key))
        return
    if queue.incomplete.remove(leaf, pod.key) or queue.pending.remove(leaf, pod.key):
        return
    found = queue.find_member(leaf, pod.key)
    if found is None:
        return
    _, entity, place = found
    assert entity is not None
    assert place is not None
    entity.remove(leaf, pod.key)
    if entity.size:
        queue.waiting.requeue(entity, place.way_back, place)
    else:
        queue.waiting.take(entity.key)


def activate(queue: Containers, pods: Iterable[Pod]) -> None:
    """Call the entities of some pods into the active queue, whatever they wait for; gates still hold."""
    for pod in pods:
        if pod.uid in queue.in_flight:
            queue.in_flight.record(WILDCARD_EVENT, None, pod, only=pod.uid)
            continue
        leaf = pod.group_key
        entity: Entity | None = None
        place: Place | None = None
        if leaf is None:
            entity, place = queue.waiting.find_pod(key_of_pod(pod.key)) or (None, None)
        else:
            _, entity, place = queue.find_member(leaf, pod.key) or (None, None, None)
        if entity is not None and place is not ACTIVE:
            queue.waiting.requeue(entity, IMMEDIATELY, place)
