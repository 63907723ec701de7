"""The hash over decisions and the log of outcomes."""

from __future__ import annotations

import hashlib
import io
import json

from gangsched.engine.decisions import Bind, Evict, Nominate, RecordEvent, SetCondition
from gangsched.engine.report import CycleReport, PodVerdict, Refused
from gangsched.replay.decision_log import DecisionHash, OutcomeLog
from gangsched_framework.objects import Condition, EntityKey
from gangsched_framework.status import SUCCESS, unschedulable

SECOND = 1_000_000_000
KEY = EntityKey.of("pod", "default", "a")


def refused(message: str, reason: str = "Unschedulable") -> SetCondition:
    return SetCondition("default/a", Condition("PodScheduled", "False", reason, message))


def chained(*lines: str) -> str:
    digest = b""
    for line in lines:
        digest = hashlib.sha256(digest + line.encode()).digest()
    return digest.hex()


def test_each_line_is_chained_to_the_ones_before() -> None:
    hashed = DecisionHash()
    hashed.add(5, Bind("default/a", "uid", "n1"))
    hashed.add(6, Nominate("default/b", "n2"))
    hashed.add(7, Nominate("default/b", ""))
    hashed.add(8, Evict("default/c", "uid", KEY, "uid", "n1"))
    lines = ("5 bind default/a n1", "6 nominate default/b n2", "7 nominate default/b -", f"8 evict default/c {KEY}")
    assert (hashed.hex, hashed.count) == (chained(*lines), 4)


def test_a_condition_counts_when_status_or_reason_change() -> None:
    hashed = DecisionHash()
    hashed.add(1, refused("no room"))
    hashed.add(2, refused("still no room"))
    assert hashed.count == 1
    hashed.add(3, refused("broken", reason="SchedulerError"))
    hashed.add(4, refused("no room"))
    assert hashed.count == 3


def test_a_new_object_of_an_old_name_starts_without_conditions() -> None:
    hashed = DecisionHash()
    hashed.add(1, refused("no room"))
    hashed.forget(KEY)
    hashed.add(2, refused("no room"))
    assert hashed.count == 2


def test_a_condition_may_carry_a_nomination() -> None:
    hashed = DecisionHash()
    hashed.add(1, SetCondition("default/a", None, nominated_node="n1"))
    assert hashed.hex == chained("1 nominate default/a n1")


def test_events_leave_no_trace_in_the_hash() -> None:
    hashed = DecisionHash()
    hashed.add(1, RecordEvent("Warning", "FailedScheduling", "default/a", "no room"))
    assert (hashed.count, hashed.hex) == (0, hashlib.sha256().hexdigest())


def report(cycle: int, verdict: PodVerdict, entity: EntityKey = KEY) -> CycleReport:
    return CycleReport(cycle, cycle * SECOND, entity, cycle, pods={"default/a": verdict})


def log_of(*reports: CycleReport) -> list[dict[str, object]]:
    sink = io.StringIO()
    log = OutcomeLog(sink)
    for one in reports:
        log.add(one)
    log.close()
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_equal_outcomes_in_a_row_are_one_record() -> None:
    no_room = Refused(status=unschedulable("no room"), plugins=("NodeResourcesFit",))
    still = Refused(status=unschedulable("still no room"), plugins=("NodeResourcesFit",))
    lines = log_of(report(1, no_room), report(2, still), report(3, Bind("default/a", "u", "n1")))
    refusal = {"default/a": {"code": "Unschedulable", "plugins": ["NodeResourcesFit"]}}
    head = {"entity": str(KEY), "cycle": 1, "attempt": 1, "first": 1, "last": 2, "count": 2}
    assert lines == [
        head | {"outcome": "Unschedulable", "pods": refusal},
        head
        | {"cycle": 3, "attempt": 3, "first": 3, "last": 3, "count": 1}
        | {"outcome": "Success", "pods": {"default/a": "n1"}},
    ]


def test_another_rejecting_plugin_is_another_outcome() -> None:
    first = Refused(status=unschedulable("x"), plugins=("NodeResourcesFit",))
    second = Refused(status=unschedulable("x"), plugins=("NodePorts",))
    assert [line["count"] for line in log_of(report(1, first), report(2, second))] == [1, 1]


def test_an_early_end_says_so_and_a_skipped_pod_too() -> None:
    early = CycleReport(1, 0, KEY, 1, early=True, root=unschedulable("bad tree"))
    assert log_of(early)[0]["early"] is True
    assert log_of(CycleReport(1, 0, KEY, 1))[0]["outcome"] == "Skipped"
    assert log_of(CycleReport(1, 0, KEY, 1, root=SUCCESS))[0]["outcome"] == "Success"
