"""Whether two cores did the same, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gangsched.engine.report import CycleReport, PodVerdict
from gangsched.engine.scheduler import Scheduler
from gangsched.host import Host
from gangsched_framework.status import Status


def spelled(report: CycleReport) -> dict[str, Any]:
    """A report as plain values, order included."""
    return {
        "cycle": (report.cycle, report.time, report.entity, report.attempt, report.early),
        "root": _status(report.root),
        "raw": list(report.raw.items()),
        "groups": [(k, _status(v.status), v.waiting_on_preemption) for k, v in report.groups.items()],
        "pods": [(key, _verdict(verdict)) for key, verdict in report.pods.items()],
        "decisions": list(report.decisions),
        "trace": list(report.trace),
    }


def _status(status: Status | None) -> tuple[Any, ...] | None:
    return None if status is None else (status.code.value, status.reasons, status.plugin)


def _verdict(verdict: PodVerdict) -> tuple[Any, ...]:
    return (verdict.node, _status(verdict.status), verdict.nominated, verdict.plugins)


def assert_same_report(one: CycleReport, other: CycleReport) -> None:
    for part, (left, right) in _pairs(spelled(one), spelled(other)).items():
        assert left == right, f"{part}: {left} != {right}"


def step_alike(cores: Sequence[Scheduler], hosts: Sequence[Host]) -> bool:
    """A step of each of two cores, which say the same, carried out by their hosts. False when nothing is ready."""
    one, other = (core.step() for core in cores)
    if one is None or other is None:
        assert one is other
        return False
    assert_same_report(one, other)
    for host, report in zip(hosts, (one, other), strict=True):
        host.carry_out(report.decisions)
    return True


def _pairs(one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {part: (one[part], other[part]) for part in one}


def assert_same_state(one: Scheduler, other: Scheduler) -> None:
    """Queue, nominations and bindings under way."""
    left, right = one.queue_state(), other.queue_state()
    for container in ("active", "backoff", "parked", "incomplete", "pending", "in_flight"):
        assert getattr(left, container) == getattr(right, container), container
    assert one.binding == other.binding
    for key, pod in one.world.pods.items():
        twin = other.world.pods[key]
        assert one.nominator.nominated_node(pod) == other.nominator.nominated_node(twin), key
        assert (pod.status, pod.node_name) == (twin.status, twin.node_name), key
