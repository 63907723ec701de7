"""Where an entity goes after an event: pure judgement from rejectors, event and hints (spec §2.7)."""

from __future__ import annotations

from enum import IntEnum

from gangsched_framework.events import ClusterEvent, ClusterEventWithHint, Hint
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Pod
from gangsched_framework.values import value
from gangsched_queue.entities import Entity, QueuedPodGroupInfo
from gangsched_queue.in_flight import EventObject, MissedEvent
from gangsched_queue.registrations import Registrations


class Strategy(IntEnum):
    """What an event is worth, in rising order (spec §2.7.2)."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


SKIP, AFTER_BACKOFF, IMMEDIATELY = Strategy.SKIP, Strategy.AFTER_BACKOFF, Strategy.IMMEDIATELY
"""By names of their own, which are found faster than on the class (before Python 3.12)."""


@value(eq=False)
class Occurrence:
    """An event that happened, with the object it happened to."""

    event: ClusterEvent
    old: EventObject = None
    new: EventObject = None

    @property
    def pod_uid(self) -> str:
        """UID of the pod the event carries, '' when it carries none."""
        subject = self.new if self.new is not None else self.old
        return subject.uid if isinstance(subject, Pod) else ""


def strategy_of_pod(info: QueuedPodInfo, happened: Occurrence, registrations: Registrations) -> Strategy:
    """What one event is worth to one pod (spec §2.7.3)."""
    if not info.unschedulable_plugins and not info.pending_plugins:
        return AFTER_BACKOFF
    if happened.event.wildcard:
        return AFTER_BACKOFF if happened.pod_uid in ("", info.pod.uid) else SKIP
    interested = registrations.of_profile(info.pod.scheduler_name, happened.event)
    if interested is None:
        return AFTER_BACKOFF
    best = SKIP
    for plugin, registered in interested.items():
        if plugin in info.pending_plugins:
            if _any_queues(registered, info.pod, happened):
                return IMMEDIATELY
        elif best is SKIP and plugin in info.unschedulable_plugins:
            if _any_queues(registered, info.pod, happened):
                best = AFTER_BACKOFF
            if best is not SKIP and not info.pending_plugins:
                break
    return best


def strategy_of_group(entity: QueuedPodGroupInfo, happened: Occurrence, registrations: Registrations) -> Strategy:
    """Maximum over the members (spec §2.7.4), asking only members whose rejectors registered the event."""
    best = AFTER_BACKOFF if entity.rejected.unrejected else SKIP
    if best is not SKIP and not entity.rejected.pending:
        return best  # whatever happened (spec §2.7.3a)
    if happened.event.wildcard:
        if happened.pod_uid == "" or any(info.pod.uid == happened.pod_uid for info in entity.members()):
            return AFTER_BACKOFF
        return best
    for info in entity.rejected.pending.values():
        best = max(best, strategy_of_pod(info, happened, registrations))
        if best is IMMEDIATELY:
            break
    if best is not SKIP:
        return best
    for plugin, within_tree in registrations.of_any(happened.event).plugins.items():
        for info in entity.rejected.by_plugin.get(plugin, {}).values():
            if strategy_of_pod(info, happened, registrations) is not SKIP:
                return AFTER_BACKOFF
            if within_tree:
                break  # the answer is the same for all members
    return SKIP


def strategy_of(entity: Entity, happened: Occurrence, registrations: Registrations) -> Strategy:
    """What an event is worth to an entity."""
    if isinstance(entity, QueuedPodInfo):
        return strategy_of_pod(entity, happened, registrations)
    return strategy_of_group(entity, happened, registrations)


def strategy_of_update(
    entity: Entity, info: QueuedPodInfo, happened: Occurrence, registrations: Registrations
) -> Strategy:
    """What a change of one of its pods is worth to an entity: other members are not asked (spec §2.11 Update 5)."""
    own = strategy_of_pod(info, happened, registrations)
    if isinstance(entity, QueuedPodGroupInfo) and entity.rejected.unrejected:
        return max(own, AFTER_BACKOFF)
    return own


def strategy_of_missed(info: QueuedPodInfo, missed: list[MissedEvent], registrations: Registrations) -> Strategy:
    """What the events of its attempt are worth to a plain pod that failed (spec §2.6.3)."""
    if not info.unschedulable_plugins and not info.pending_plugins:
        return AFTER_BACKOFF
    best = SKIP
    for each in missed:
        best = max(best, strategy_of_pod(info, Occurrence(each.event, each.old, each.new), registrations))
        if best is IMMEDIATELY or (best is AFTER_BACKOFF and not info.pending_plugins):
            break
    return best


def _any_queues(registered: tuple[ClusterEventWithHint, ...], pod: Pod, happened: Occurrence) -> bool:
    for each in registered:  # noqa: SIM110 - asked for every event
        if each.hint is None or each.hint(pod, happened.old, happened.new) is Hint.QUEUE:
            return True
    return False
