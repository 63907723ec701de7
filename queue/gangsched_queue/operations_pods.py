"""A pod appears, changes, goes, or is called up: by where it is (spec §2.11)."""

from __future__ import annotations

from collections.abc import Iterable

from gangsched_framework.events import WILDCARD_EVENT
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey, Pod
from gangsched_queue.containers import Containers
from gangsched_queue.entities import Entity, QueuedPodGroupInfo
from gangsched_queue.operations_events import member_added
from gangsched_queue.pod_events import pod_update_events
from gangsched_queue.requeue import IMMEDIATELY, SKIP, Occurrence, strategy_of_update
from gangsched_queue.waiting import ACTIVE, PARKED, Place


def add(queue: Containers, pod: Pod) -> None:
    """A waiting pod appears; that of a member is an event, too (spec §2.12)."""
    queue.nominator.add(pod)  # even a gated pod's nomination counts for others (spec §2.10.3)
    info = QueuedPodInfo(pod=pod, timestamp=queue.clock.now())
    leaf = pod.group_key
    if leaf is None:
        queue.waiting.enter(info)
    else:
        member_added(queue, pod, queue.place_member(leaf, info, arrives=True))


def _add_quietly(queue: Containers, pod: Pod) -> None:
    """Without the event of a member's arrival: what is known otherwise is only new here (spec §2.11 Update 1, 7)."""
    queue.nominator.add(pod)
    info = QueuedPodInfo(pod=pod, timestamp=queue.clock.now())
    leaf = pod.group_key
    if leaf is None:
        queue.waiting.enter(info)
    else:
        queue.place_member(leaf, info)


def update(queue: Containers, old: Pod, new: Pod) -> None:
    """A waiting pod changes; one that is nowhere is added."""
    if old.uid != new.uid or old.group_name != new.group_name:
        delete(queue, old)
        _add_quietly(queue, new)
        return
    if new.uid in queue.in_flight:
        for event in pod_update_events(old, new):
            queue.in_flight.record(event, old, new, only=new.uid)
        queue.nominator.update(old, new)
        return
    leaf = new.group_key
    if leaf is None:
        _update_plain(queue, old, new)
        return
    outside = queue.incomplete.get(leaf, new.key) or queue.pending.get(leaf, new.key)
    if outside is not None:
        outside.pod = new
        queue.nominator.update(old, new)
        return
    found = _find_member(queue, leaf, new.key)
    if found is None:
        _add_quietly(queue, new)
        return
    queue.nominator.update(old, new)
    entity, place, info = found
    entity.replace(info, new)
    if place is PARKED:
        _wake_by_update(queue, entity, info, old, new)
    elif place is ACTIVE:
        queue.waiting.active.touch(entity)


def _update_plain(queue: Containers, old: Pod, new: Pod) -> None:
    key = new.entity_key
    found = queue.waiting.find_pod(key)
    if found is None:
        _add_quietly(queue, new)
        return
    queue.nominator.update(old, new)
    entity, place = found
    if place is PARKED:
        entity.pod = new
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
        queue.waiting.take(pod.entity_key)
        return
    if queue.incomplete.remove(leaf, pod.key) or queue.pending.remove(leaf, pod.key):
        return
    found = _find_member(queue, leaf, pod.key)
    if found is None:
        return
    entity, place, _ = found
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
        found: tuple[Entity, Place] | None
        if leaf is None:
            found = queue.waiting.find_pod(pod.entity_key)
        else:
            member = _find_member(queue, leaf, pod.key)
            found = member[:2] if member is not None else None
        if found is not None and found[1] is not ACTIVE:
            queue.waiting.requeue(found[0], IMMEDIATELY, found[1])


def _find_member(
    queue: Containers, leaf: EntityKey, pod_key: str
) -> tuple[QueuedPodGroupInfo, Place, QueuedPodInfo] | None:
    """The waiting tree that holds a member, where it is, and the member."""
    root = queue.forest.root(leaf)
    found = queue.waiting.find_tree(root) if root is not None else None
    info = found[0].get(leaf, pod_key) if found is not None else None
    return (*found, info) if found is not None and info is not None else None
