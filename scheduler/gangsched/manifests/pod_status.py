"""``status`` of pods, and status conditions in general."""

from __future__ import annotations

from typing import Any

from gangsched.manifests.amounts import amounts_of
from gangsched.manifests.context import Context
from gangsched.manifests.errors import InputError
from gangsched.manifests.fields import Raw, each, one_of, part
from gangsched.manifests.shapes import shape
from gangsched_framework.objects import Condition, PodStatus
from gangsched_framework.resources import StatusAmounts
from gangsched_framework.words import CONDITION_STATUSES, PHASES

_SILENT = StatusAmounts()


def read_status(
    context: Context, raw: Any, node_name: str, now: int, current: object | None, *, pod_level: bool = False
) -> PodStatus:
    """The status of a pod. An assigned one without ``startTime`` started when it was created (conformance README §3).

    ``pod_level``: whether the pod's spec requests resources for the pod as a whole.

    Raises InputError.
    """
    raw = {} if raw is None else raw
    try:
        shape("PodStatus").check(raw)
        one_of(raw, "phase", PHASES)
        start = raw.get("startTime")
        started = context.engine_time(start) if start else None
        if started is None and current is not None:
            started = getattr(getattr(current, "status", None), "start_time", None)
        elif started is None and node_name and context.defaults.api_defaulting:
            started = now
        return PodStatus(
            raw.get("phase") or "Pending",
            raw.get("nominatedNodeName") or "",
            started,
            each(raw, "conditions", lambda condition: read_condition(context, condition)),
            _allocated(raw, pod_level),
        )
    except InputError as error:
        raise error.under("status") from None


def read_condition(context: Context, raw: Raw) -> Condition:
    """One status condition of any object."""
    one_of(raw, "status", CONDITION_STATUSES)
    status = raw.get("status")
    changed = raw.get("lastTransitionTime")
    return Condition(
        raw.get("type") or "",
        status if status in CONDITION_STATUSES else "Unknown",
        raw.get("reason") or "",
        raw.get("message") or "",
        context.engine_time(changed) if changed else 0,
        raw.get("observedGeneration") or 0,
    )


def _allocated(raw: Raw, pod_level: bool) -> dict[str, StatusAmounts]:
    """What the status shows of each container, and of the pod ('') if that counts (spec §3.5).

    The pod's own amounts count when it has ``resources`` beside a request of its own, or both amounts without [run].
    An infeasible resize leaves the spec out: then the status counts although it shows nothing.
    """
    allocated: dict[str, StatusAmounts] = {}

    def read_container(container: Raw) -> None:
        amounts = _amounts(container)
        if container.get("name") and amounts != _SILENT:
            allocated[container["name"]] = amounts

    own = _amounts(raw)
    counts = raw.get("resources") is not None if pod_level else None not in own
    if counts:
        allocated[""] = own
    each(raw, "containerStatuses", read_container)
    each(raw, "initContainerStatuses", read_container)
    if not pod_level and _is_infeasible(raw):
        allocated.setdefault("", _SILENT)
    return allocated


def _is_infeasible(raw: Raw) -> bool:
    """Whether a resize of the pod waits that its node can never grant; the status of the condition is not looked at."""
    conditions = raw.get("conditions") or ()
    return any(c.get("type") == "PodResizePending" and c.get("reason") == "Infeasible" for c in conditions)


def _amounts(holder: Raw) -> StatusAmounts:
    requests = part(holder, "resources", lambda resources: part(resources, "requests", _exact))
    return StatusAmounts(part(holder, "allocatedResources", _exact), requests)


def _exact(raw: Raw) -> dict[str, int]:
    return amounts_of(raw, round_up=False)
