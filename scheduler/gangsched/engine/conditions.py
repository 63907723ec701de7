"""Conditions the core writes (spec podgroup-scheduling.md §1.6, §4.10). Pure: object and status in, condition out."""

from __future__ import annotations

from gangsched_framework.objects import COMPOSITE_POD_GROUP, Condition, Group, Pod
from gangsched_framework.status import Code, Status

POD_SCHEDULED = "PodScheduled"
SCHEDULED = "Scheduled"
UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"


def failure_reason(status: Status) -> str:
    """``Unschedulable`` for a rejection, else ``SchedulerError`` (spec §4.9.6)."""
    return UNSCHEDULABLE if status.rejected else SCHEDULER_ERROR


def pod_condition(pod: Pod, status: Status, now: int) -> Condition | None:
    """``PodScheduled=False`` for a failed pod; None when the pod shows it already."""
    new = Condition(POD_SCHEDULED, "False", failure_reason(status), status.message, now)
    return _changed(pod.condition(POD_SCHEDULED), new)


def group_condition_type(group: Group) -> str:
    composite = group.kind == COMPOSITE_POD_GROUP
    return "CompositePodGroupInitiallyScheduled" if composite else "PodGroupInitiallyScheduled"


def group_condition(group: Group, status: Status, now: int) -> Condition | None:
    """``…InitiallyScheduled`` of a group after its cycle; None when nothing is to be written (spec §4.10.1-3).

    True never regresses: a later failure leaves it untouched, generation included.
    """
    kind = group_condition_type(group)
    old = group.condition(kind)
    if status.code is Code.SUCCESS:
        return _changed(old, Condition(kind, "True", SCHEDULED, status.message, now, group.generation))
    if old is not None and old.status == "True":
        return None
    return _changed(old, Condition(kind, "False", failure_reason(status), status.message, now, group.generation))


def _changed(old: Condition | None, new: Condition) -> Condition | None:
    if old is None:
        return new
    at = old.last_transition_time if old.status == new.status else new.last_transition_time
    kept = Condition(new.type, new.status, new.reason, new.message, at, new.observed_generation)
    return None if kept == old else kept
