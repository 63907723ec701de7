"""Cluster events and time: whom they wake (spec §2.7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from gangsched_framework.events import WILDCARD_EVENT, ClusterEvent
from gangsched_framework.objects import EntityKey, Node, Pod
from gangsched_queue.containers import Containers
from gangsched_queue.entities import Entity
from gangsched_queue.in_flight import EventObject
from gangsched_queue.registrations import MEMBER_ADD
from gangsched_queue.requeue import AFTER_BACKOFF, SKIP, Occurrence, strategy_of
from gangsched_queue.waiting import PARKED

PreCheck = Callable[[Pod], bool]


def move_all(
    queue: Containers,
    event: ClusterEvent,
    old: EventObject = None,
    new: EventObject = None,
    pre_check: PreCheck | None = None,
) -> None:
    """An event happened: wake the parked entities it may help, and remember it for the pods in flight.

    ``pre_check`` must hold for some pod of an entity, else the entity is passed by.
    """
    parked, in_flight = queue.waiting.parked, queue.in_flight
    if parked.unlisted:
        parked.enlist()
    if not parked.waits_for and not in_flight.marks:
        return  # nobody to wake, nobody to remember it for
    if event.wildcard:
        concerned: Collection[Entity] = list(parked)
    else:
        audience = queue.registrations.of_any(event)
        if not audience.plugins:
            return
        tree = _tree_of(queue, new if new is not None else old) if audience.within_tree and parked.waits_for else None
        concerned = parked.concerned(audience, tree)
    if concerned:
        _wake(queue, concerned, Occurrence(event, old, new), pre_check)
    in_flight.record(event, old, new)


def member_added(queue: Containers, pod: Pod, tree: EntityKey | None) -> None:
    """The event of a member's arrival (spec §2.12). ``tree``: what it joined, None = its own tree cannot be the better
    for it, as PreEnqueue has just seen it, too.
    """
    audience = queue.registrations.of_arrival
    if not audience.plugins:
        return
    concerned = queue.waiting.parked.concerned(audience, tree)
    if concerned:
        _wake(queue, concerned, Occurrence(MEMBER_ADD, None, pod), None)
    queue.in_flight.record(MEMBER_ADD, None, pod)


def _wake(queue: Containers, entities: Iterable[Entity], happened: Occurrence, pre_check: PreCheck | None) -> None:
    """Each by what the event is worth to it; gated ones are here only if it is one of their gate's (spec §2.7.6c)."""
    for entity in entities:
        if pre_check is not None and not any(pre_check(info.pod) for info in entity.members()):
            continue
        strategy = strategy_of(entity, happened, queue.registrations)
        if strategy is not SKIP:
            queue.waiting.requeue(entity, strategy, PARKED)


def _tree_of(queue: Containers, subject: EventObject) -> EntityKey | None:
    """Root of the tree that an object belongs to."""
    if subject is None or isinstance(subject, Node):
        return None
    key = subject.group_key if isinstance(subject, Pod) else subject.key
    return queue.forest.root(key) if key is not None else None


def flush_leftovers(queue: Containers) -> None:
    """Give every entity parked for more than the timeout another try; due every 30 s."""
    now = queue.clock.time
    overdue: list[Entity] = []
    while (entity := queue.waiting.pop_overdue(now - queue.settings.unschedulable_timeout)) is not None:
        overdue.append(entity)
    for entity in overdue:
        entity.was_flushed = True
        entity.flush_timestamp = now
        queue.waiting.requeue(entity, AFTER_BACKOFF)
    if overdue:
        queue.in_flight.record(WILDCARD_EVENT, None, None)


def next_due(queue: Containers) -> int | None:
    """First engine time at which a flush would move somebody; None when nobody waits for time."""
    settings = queue.settings
    times: list[int] = []
    release = queue.waiting.backoff.next_release()
    if release is not None:
        times.append(release)
    oldest = queue.waiting.parked.oldest_stay()
    if oldest is not None:
        # not in the past: an entity may have been parked with an old timestamp after it was due (spec §2.2.1)
        overdue = max(oldest + settings.unschedulable_timeout, queue.clock.time)
        times.append(overdue - overdue % settings.leftover_period + settings.leftover_period)
    return min(times, default=None)
