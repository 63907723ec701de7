"""What a report says of its cycle, and a report with other decisions."""

from __future__ import annotations

import pytest
from attrs import evolve

from gangsched.engine.decisions import Bind, Decision, Evict, Nominate, RecordEvent, SetCondition
from gangsched.engine.report import CycleReport, GroupVerdict, Refused, changes
from gangsched.engine.trace import TraceStep
from gangsched_framework.objects import Condition, EntityKey
from gangsched_framework.status import SUCCESS, Code, unschedulable

GANG = EntityKey("podgroup/default/g")
REFUSED = Condition("PodScheduled", "False")

DECISIONS: dict[str, tuple[Decision, bool]] = {
    "a binding changes something": (Bind("default/p", "u", "n1"), True),
    "a nomination does": (Nominate("default/p", "n1"), True),
    "so does its end": (Nominate("default/p", ""), True),
    "an eviction does": (Evict("default/p", "u", GANG, "g", "cluster"), True),
    "a condition does not": (SetCondition(GANG, REFUSED), False),
    "a condition written with a nomination does": (SetCondition(GANG, REFUSED, "n1"), True),
    "an event does not": (RecordEvent("Warning", "FailedScheduling", "default/p", "no room"), False),
}


@pytest.mark.parametrize("decision, expected", DECISIONS.values(), ids=DECISIONS)
def test_another_attempt_can_see(decision: Decision, expected: bool) -> None:
    assert changes(decision) == expected
    quiet = RecordEvent("Normal", "Scheduled", "default/p", "")
    assert CycleReport(1, 0, GANG, 1, decisions=(quiet, decision, quiet)).changed == expected


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
    others = (Bind("default/p", "u", "n1"), RecordEvent("Normal", "Scheduled", "default/p", ""))
    assert report.with_decisions(others) == evolve(report, decisions=others)
