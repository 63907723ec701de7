"""What the engine and the API server show, in the form of the recordings (conformance README §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gangsched.conform.api_server import ApiServer, Manifest
from gangsched.engine.report import CycleReport
from gangsched_framework.objects import EntityKey
from gangsched_framework.queue_state import EntityState, QueueState
from gangsched_framework.status import Status

Record = dict[str, Any]
SECOND = 1_000_000_000


def seconds(nanoseconds: int) -> int | float:
    """Engine time as the recordings write it: a whole number where it is one."""
    whole, rest = divmod(nanoseconds, SECOND)
    return nanoseconds / SECOND if rest else whole


def without_empty(record: Record) -> Record:
    """Absent lists and maps are empty, absent numbers are 0, absent texts and truths are empty and false."""
    return {key: value for key, value in record.items() if value or (value == 0 and key in ("t", "ts", "expires"))}


def queue_record(state: QueueState) -> Record:
    return without_empty(
        {
            "active": [_entity(entity) for entity in state.active],
            "backoff": [_entity(entity) for entity in state.backoff],
            "parked": [_entity(entity) for entity in state.parked],
            "incomplete": _names(state.incomplete),
            "pending": _names(state.pending),
            "inFlight": list(state.in_flight),
        }
    )


def _entity(entity: EntityState) -> Record:
    record = without_empty(
        {
            "key": str(entity.key),
            "ts": seconds(entity.ts),
            "attempts": entity.attempts,
            "unschedulable": entity.unschedulable,
            "errors": entity.errors,
            "members": _names(entity.members),
            "gatedBy": entity.gated_by,
            "rejectedBy": _names(entity.rejected_by),
            "heap": entity.heap,
        }
    )
    if entity.expires is not None:
        record["expires"] = seconds(entity.expires)
    return record


def _names(lists: Mapping[Any, tuple[str, ...]]) -> dict[str, list[str]]:
    return {str(key): list(names) for key, names in lists.items() if names}


def status_record(status: Status) -> Record:
    return without_empty({"code": status.code.value, "msg": status.message})


def cycle_record(report: CycleReport, bind_failures: Mapping[str, Status], events: Iterable[str] | None) -> Record:
    """One entry of ``cycles``. ``events`` None = the scenario records neither trace nor events."""
    is_group = report.entity.kind != "pod"
    record: Record = {
        "popped": str(report.entity),
        "attempt": report.attempt,
        "early": report.early,
        "order": list(report.pods),
        "pods": {key: _pod(verdict) for key, verdict in report.pods.items()},
        "bindFailures": {key: status_record(status) for key, status in bind_failures.items()},
    }
    if is_group and report.root is not None:
        record["root"] = status_record(report.root)
    if not report.early:
        record["raw"] = {str(key): code.value for key, code in report.raw.items()}
        record["groups"] = {str(key): _group(verdict) for key, verdict in report.groups.items()}
    if events is not None:
        record["trace"] = [step.line for step in report.trace if step.kind == "feasible"]
        record["events"] = sorted(events)
    pods = record["pods"]
    return without_empty(record) | {"pods": pods}


def _pod(verdict: Any) -> Record:
    if verdict.node is not None:
        return {"node": verdict.node}
    return without_empty(status_record(verdict.status) | {"nominated": verdict.nominated})


def _group(verdict: Any) -> Record:
    return without_empty(status_record(verdict.status) | {"waitingOnPreemption": verdict.waiting_on_preemption})


def object_maps(api: ApiServer, bound: Mapping[str, str]) -> Record:
    """``bound``, ``nominated`` and the conditions of pods and groups, as stored now."""
    pods = list(api.objects("Pod"))
    nominated = {key: pod["status"].get("nominatedNodeName", "") for key, pod in pods}
    groups = {str(EntityKey.of("podgroup", *key.split("/"))): group for key, group in api.objects("PodGroup")}
    return without_empty(
        {
            "bound": dict(bound),
            "nominated": {key: node for key, node in nominated.items() if node},
            "podConditions": {key: lines for key, pod in pods if (lines := _pod_conditions(pod))},
            "groupConditions": {key: lines for key, group in groups.items() if (lines := _group_conditions(group))},
        }
    )


def _pod_conditions(pod: Manifest) -> list[str]:
    lines = sorted(_condition(c, c.get("reason", "")) for c in pod["status"].get("conditions") or ())
    return [*lines, "deleting"] if pod["metadata"].get("deletionTimestamp") else lines


def _condition(condition: Manifest, reason: str) -> str:
    message = condition.get("message", "")
    text = f"{condition['type']}={condition['status']} {reason}: {message}"
    return text if reason or message else text.removesuffix(" : ")


def _group_conditions(group: Manifest) -> list[str]:
    return sorted(
        f"{c['type']}={c['status']} {c.get('reason', '')}@{c.get('observedGeneration', 0)}: {c.get('message', '')}"
        for c in (group.get("status") or {}).get("conditions") or ()
    )
