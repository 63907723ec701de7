"""The queue as a user may see it: every container, frozen (conformance README §4)."""

from __future__ import annotations

from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.queue_state import EntityState, QueueState
from gangsched_queue.containers import Containers
from gangsched_queue.entities import Entity
from gangsched_queue.entity_heap import EntityHeap


def queue_state(queue: Containers) -> QueueState:
    waiting, forest = queue.waiting, queue.forest
    backoff = [*_backoff(waiting.backoff.entity_heap, "entity", forest)]
    backoff += _backoff(waiting.backoff.error_heap, "error", forest)
    return QueueState(
        active=tuple(_state(e, forest, reason=waiting.active.why_not(e)) for e in waiting.active.in_order()),
        backoff=tuple(sorted(backoff, key=lambda entity: (entity.expires or 0, entity.key))),
        parked=tuple(_state(entity, forest) for entity in sorted(waiting.parked, key=lambda entity: entity.key)),
        incomplete={leaf: _names(list(pods.values())) for leaf, pods in sorted(queue.incomplete.leaves())},
        pending={leaf: _names(list(pods.values())) for leaf, pods in sorted(queue.pending.leaves())},
        in_flight=tuple(queue.in_flight.pods()),
    )


def _names(infos: list[QueuedPodInfo]) -> tuple[str, ...]:
    return tuple(sorted(info.pod.name for info in infos))


def _backoff(heap: EntityHeap, name: str, forest: Forest) -> list[EntityState]:
    return [_state(entity, forest, heap=name) for entity in heap]


def _state(entity: Entity, forest: Forest, heap: str = "", reason: str = "") -> EntityState:
    ordered = {} if isinstance(entity, QueuedPodInfo) else entity.ordered(forest.tree(entity.key))
    return EntityState(
        key=entity.key,
        ts=entity.timestamp,
        attempts=entity.attempts,
        unschedulable=entity.unschedulable_count,
        errors=entity.consecutive_errors,
        members={leaf: tuple(info.pod.name for info in infos) for leaf, infos in ordered.items()},
        gated_by=entity.gating_plugin,
        reason=reason or (entity.refusal.message if entity.refusal is not None else ""),
        rejected_by={info.pod.key: _rejected_by(info) for info in entity.members() if _rejected_by(info)},
        expires=entity.backoff_expiration if heap else None,
        heap=heap,
    )


def _rejected_by(info: QueuedPodInfo) -> tuple[str, ...]:
    pending = tuple(f"pending:{plugin}" for plugin in sorted(info.pending_plugins))
    return (*sorted(info.unschedulable_plugins), *pending)
