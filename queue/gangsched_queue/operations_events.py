"""Cluster events and time: whom they wake (spec §2.7)."""

from __future__ import annotations

from collections.abc import Callable

from gangsched_framework.events import WILDCARD_EVENT, ClusterEvent
from gangsched_framework.objects import EntityKey, Node, Pod
from gangsched_queue.containers import Containers
from gangsched_queue.entities import Entity
from gangsched_queue.in_flight import EventObject
from gangsched_queue.requeue import Occurrence, Strategy, strategy_of
from gangsched_queue.settings import QueueSettings
from gangsched_queue.waiting import Place

PreCheck = Callable[[Pod], bool]


def move_all(
    queue: Containers, event: ClusterEvent, old: EventObject, new: EventObject, pre_check: PreCheck | None
) -> None:
    parked, in_flight = queue.waiting.parked, queue.in_flight
    if not parked and not in_flight:
        return  # nobody to wake, nobody to remember it for
    if not queue.registrations.knows(event):
        return
    if parked:
        entities = _concerned(queue, event, old, new)
        if entities:
            _wake(queue, entities, Occurrence(event, old, new), pre_check)
    in_flight.record(event, old, new)


def _wake(queue: Containers, entities: list[Entity], happened: Occurrence, pre_check: PreCheck | None) -> None:
    for entity in entities:
        if pre_check is not None and not any(pre_check(info.pod) for info in entity.members()):
            continue
        strategy = strategy_of(entity, happened, queue.registrations)
        if strategy is not Strategy.SKIP:
            queue.waiting.requeue(entity, strategy, Place.PARKED)


def _concerned(queue: Containers, event: ClusterEvent, old: EventObject, new: EventObject) -> list[Entity]:
    """Parked entities the event may wake; gated ones only by an event of the plugin that gates them (§2.7.6c)."""
    if event.wildcard:
        return list(queue.waiting.parked)
    plugins = queue.registrations.of_any(event)
    tree = _tree_of(queue, new if new is not None else old) if any(plugins.values()) else None
    return queue.waiting.parked.concerned(plugins, tree)


def _tree_of(queue: Containers, subject: EventObject) -> EntityKey | None:
    """Root of the tree that an object belongs to."""
    if subject is None or isinstance(subject, Node):
        return None
    key = subject.group_key if isinstance(subject, Pod) else subject.key
    return queue.forest.root(key) if key is not None else None


def flush_leftovers(queue: Containers, settings: QueueSettings) -> None:
    now = queue.clock.now()
    overdue: list[Entity] = []
    while (entity := queue.waiting.parked.pop_overdue(now - settings.unschedulable_timeout)) is not None:
        overdue.append(entity)
    for entity in overdue:
        entity.was_flushed = True
        entity.flush_timestamp = now
        queue.waiting.requeue(entity, Strategy.AFTER_BACKOFF)
    if overdue:
        queue.in_flight.record(WILDCARD_EVENT, None, None)


def next_flush(queue: Containers, settings: QueueSettings) -> int | None:
    """First time at which a flush would move somebody: of the backoff queue, or of those parked too long."""
    times: list[int] = []
    release = queue.waiting.backoff.next_release()
    if release is not None:
        times.append(release)
    oldest = queue.waiting.parked.oldest_stay()
    if oldest is not None:
        # not in the past: an entity may have been parked with an old timestamp after it was due (spec §2.2.1)
        overdue = max(oldest + settings.unschedulable_timeout, queue.clock.now())
        times.append(overdue - overdue % settings.leftover_period + settings.leftover_period)
    return min(times, default=None)
