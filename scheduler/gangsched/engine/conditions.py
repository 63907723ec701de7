"""Conditions the core writes (spec podgroup-scheduling.md §1.6, §4.10). Pure: object and status in, condition out."""

from __future__ import annotations

from gangsched_framework.objects import COMPOSITE_POD_GROUP, POD_GROUP, Condition, Group, Pod
from gangsched_framework.status import Status

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


INITIALLY_SCHEDULED = {
    POD_GROUP: "PodGroupInitiallyScheduled",
    COMPOSITE_POD_GROUP: "CompositePodGroupInitiallyScheduled",
}
"""The condition by the kind of the group."""


def group_condition(group: Group, status: Status, now: int) -> Condition | None:
    """``…InitiallyScheduled`` of a group after its cycle; None when nothing is to be written (spec §4.10.1-3).

    True never regresses: a later failure leaves it untouched, generation included.
    """
    kind = INITIALLY_SCHEDULED[group.kind]
    old = group.condition(kind) if group.conditions else None
    if status.ok:
        return _changed(old, Condition(kind, "True", SCHEDULED, status.message, now, group.generation))
    if old is not None and old.status == "True":
        return None
    return _changed(old, Condition(kind, "False", failure_reason(status), status.message, now, group.generation))


def _changed(old: Condition | None, new: Condition) -> Condition | None:
    """``new``, since when the status is as it is; None when that is what ``old`` says."""
    if old is None:
        return new
    at = old.last_transition_time if old.status == new.status else new.last_transition_time
    kept = Condition(new.type, new.status, new.reason, new.message, at, new.observed_generation)
    return None if kept == old else kept
