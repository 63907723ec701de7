"""Why a pod waits: where its entity stands, and what keeps it from being tried. A pure read."""

from __future__ import annotations

from attrs import frozen

from gangsched.engine.conditions import INITIALLY_SCHEDULED, POD_SCHEDULED
from gangsched.engine.scheduler import Scheduler
from gangsched_framework.errors import did_you_mean
from gangsched_framework.hierarchy import Forest
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.queue_state import EntityState, QueueState
from gangsched_queue.backoff import release_time


@frozen
class Waiting:
    """Why a pod waits. ``container`` of its entity: ``active``, ``backoff``, ``parked``, ``incomplete`` (a group of its
    tree is not there), ``in flight``, '' = nowhere.

    ``backoff_left`` in nanoseconds, None outside the backoff queue. ``gated_by``: the gating plugin, with its
    ``reason``; without a gate, ``reason`` is why the entity is passed over or in no queue. ``rejected_by``: the pod's
    rejector set. ``message``: what its last attempt, or its tree's, came to.
    """

    container: str
    attempts: int = 0
    backoff_left: int | None = None
    gated_by: str = ""
    reason: str = ""
    rejected_by: tuple[str, ...] = ()
    message: str = ""


def entity_of(core: Scheduler, pod: Pod) -> EntityKey:
    """The pod itself, the root of its tree, or its group while no root is known."""
    if pod.group_key is None:
        return pod.entity_key
    return core.world.forest.root(pod.group_key) or pod.group_key


def waiting(core: Scheduler, pod: Pod, entity: EntityKey) -> Waiting:
    """Why ``pod``, which has no node, waits; ``entity`` is what ``entity_of`` says of it."""
    queue = core.queue_state()
    message, outside = _last_message(core, pod, entity), why_not_queued(core, queue, pod)
    container, state = _container(queue, pod, entity)
    if state is None or (outside and not _member(state, pod)):
        left_out = container if state is None else ""
        return Waiting(left_out, reason=outside + _hint(core, queue, pod), message=message)
    left = release_time(state.expires) - core.now if state.expires is not None else None
    return Waiting(
        container,
        state.attempts,
        left,
        state.gated_by,
        state.reason or outside,
        state.rejected_by.get(pod.key, ()),
        message,
    )


def why_not_queued(core: Scheduler, queue: QueueState, pod: Pod) -> str:
    """Why a pod without a node is no part of an entity that may be tried; '' when it is one."""
    if pod.scheduler_name not in core.frameworks:
        return f"no profile for scheduler {pod.scheduler_name}; a configuration (-c) may bring one"
    if pod.deleting:
        return "is being deleted"
    if pod.group_key is not None and _incomplete(queue, pod):
        return _why_incomplete(core.world.forest, pod.group_key)
    return ""


def _incomplete(queue: QueueState, pod: Pod) -> bool:
    return pod.group_key is not None and pod.name in queue.incomplete.get(pod.group_key, ())


def _why_incomplete(forest: Forest, key: EntityKey) -> str:
    end, there = _end_of_climb(forest, key)
    return f"{end} is its own ancestor" if there else f"{end} is not there"


def _end_of_climb(forest: Forest, key: EntityKey) -> tuple[EntityKey, bool]:
    """The group, at ``key`` or above, that is not there (False), or that climbing meets again (True; spec §2.1)."""
    seen: dict[EntityKey, None] = {}
    while key not in seen:
        seen[key] = None
        group = forest.group(key)
        if group is None or group.parent_key is None:
            return key, False
        key = group.parent_key
    return key, True


def _hint(core: Scheduler, queue: QueueState, pod: Pod) -> str:
    """Which group an incomplete pod, or a group above it, was probably meant to name; '' when none is near."""
    if pod.group_key is None or pod.scheduler_name not in core.frameworks or not _incomplete(queue, pod):
        return ""
    missing, there = _end_of_climb(core.world.forest, pod.group_key)
    if there:
        return ""
    known = [group.key for group in core.world.forest.groups()]
    if others := [key for key in known if key.name == missing.name]:  # in another namespace, or of the other kind
        return f"; there is {others[0]}"
    alike = (key for key in known if (key.kind, key.namespace) == (missing.kind, missing.namespace))
    return did_you_mean(missing.name, [key.name for key in alike])


def _member(state: EntityState, pod: Pod) -> bool:
    """Whether the entity is tried with ``pod``: a plain pod is, a group's unless it was never let in."""
    return pod.group_key is None or pod.name in state.members.get(pod.group_key, ())


def _container(queue: QueueState, pod: Pod, entity: EntityKey) -> tuple[str, EntityState | None]:
    for name, entities in (("active", queue.active), ("backoff", queue.backoff), ("parked", queue.parked)):
        for state in entities:
            if state.key == entity:
                return name, state
    if _incomplete(queue, pod):
        return "incomplete", None
    return "in flight" if pod.key in queue.in_flight else "", None


def _last_message(core: Scheduler, pod: Pod, entity: EntityKey) -> str:
    """As the conditions show it: the pod's, else its root group's."""
    condition = pod.condition(POD_SCHEDULED)
    group = core.world.forest.group(entity) if pod.group_key is not None else None
    if condition is None and group is not None:
        condition = group.condition(INITIALLY_SCHEDULED[group.kind])
    return condition.message if condition is not None and condition.status == "False" else ""
