"""What a report says of its cycle, and a report with other decisions."""

from __future__ import annotations

import pytest
from attrs import evolve

from gangsched import Engine
from gangsched.engine.decisions import Bind, Decision, Evict, Nominate, RecordEvent, SetCondition, SetGroupCondition
from gangsched.engine.report import CycleReport, GroupVerdict, Refused, changes, report_of_pod
from gangsched.engine.trace import TraceStep
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Condition, EntityKey
from gangsched_framework.status import SUCCESS, Code, unschedulable
from gangsched_framework.testing import make_node, make_pod, make_pod_group

GANG = EntityKey("podgroup/default/g")
PLACED = Bind("default/p", "u", "n1")
REFUSED = Condition("PodScheduled", "False")

DECISIONS: dict[str, tuple[Decision, bool]] = {
    "a binding changes something": (PLACED, True),
    "a nomination does": (Nominate("default/p", "n1"), True),
    "so does its end": (Nominate("default/p", ""), True),
    "an eviction does": (Evict("default/p", "u", GANG, "g", "cluster"), True),
    "a condition does not": (SetCondition("default/p", REFUSED), False),
    "a condition written with a nomination does": (SetCondition("default/p", REFUSED, "n1"), True),
    "a condition of a group does not": (SetGroupCondition(GANG, REFUSED), False),
    "an event does not": (RecordEvent("Warning", "FailedScheduling", "default/p", "no room"), False),
}


@pytest.mark.parametrize("decision, expected", DECISIONS.values(), ids=DECISIONS)
def test_another_attempt_can_see(decision: Decision, expected: bool) -> None:
    assert changes(decision) == expected
    quiet = RecordEvent("Normal", "Scheduled", "default/p", "")
    assert CycleReport(1, 0, GANG, 1, decisions=(quiet, decision, quiet)).changed == expected


def test_the_report_of_a_plain_pod_is_one_without_groups() -> None:
    info = QueuedPodInfo(make_pod("p").obj(), 0)
    info.attempts = 3
    pods, decisions, trace = {"default/p": PLACED}, (PLACED,), (TraceStep("pod", "default/p"),)
    made = report_of_pod(7, 8, info, pods, decisions, trace)
    assert made == CycleReport(7, 8, info.key, 3, pods=pods, decisions=decisions, trace=trace)
    assert repr(made) == repr(evolve(made))


def test_reports_and_decisions_are_whole_however_they_were_made() -> None:
    """Some are made field by field: a field their class has and they lack would be missed here."""
    engine = Engine()
    engine.apply(make_node("n1").capacity(cpu=4, pods=110).obj(), make_pod("low").requests(cpu=2).obj())
    for name, cpu in (("fits", 1), ("large", 9)):
        engine.apply(
            make_pod_group(name).min_count(1).obj(), make_pod(f"{name}-0").requests(cpu=cpu).in_group(name).obj()
        )
    engine.apply(make_pod("huge").requests(cpu=9).obj())
    reports = engine.run()
    engine.apply(make_pod("high").requests(cpu=3).priority(9).obj())
    reports += engine.run()
    values = [*reports, *(decision for report in reports for decision in report.decisions)]
    assert {type(value) for value in values} == {CycleReport, Bind, Evict, SetCondition, SetGroupCondition, RecordEvent}
    for value in values:
        assert evolve(value) == value
        assert repr(evolve(value)) == repr(value)


def test_a_report_with_other_decisions_is_the_same_in_all_else() -> None:
    report = CycleReport(
        7,
        8,
        GANG,
        9,
        True,
        unschedulable("no room"),
        {GANG: Code.UNSCHEDULABLE},
        {GANG: GroupVerdict(SUCCESS, True)},
        {"default/p": Refused(SUCCESS, "n1")},
        (Nominate("default/p", "n1"),),
        (TraceStep("root", GANG),),
    )
    others = (PLACED, RecordEvent("Normal", "Scheduled", "default/p", ""))
    assert report.with_decisions(others) == evolve(report, decisions=others)
