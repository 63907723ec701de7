"""An answer to a binding returns what it adds itself, also while another cycle is under way."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from gangsched.engine.cycle import Cycle
from gangsched.engine.decisions import Bind, Decision, RecordEvent, SetCondition, SetGroupCondition
from gangsched.engine.scheduler import Scheduler
from tests.cycles.harness import Cluster, leaf, node, pod, pods

ANSWERS: dict[str, tuple[Callable[[Scheduler], tuple[Decision, ...]], list[str]]] = {
    "carried out": (lambda core: (core.bound("default/early"),), ["Scheduled early"]),
    "failed": (lambda core: core.bind_failed("default/early", "no"), ["FailedScheduling early", "condition early"]),
}


def _cycle(core: Scheduler) -> Cycle:
    cycle = core.pop()
    assert cycle is not None
    cycle.decide()
    return cycle


def _said(decisions: Iterable[Decision]) -> list[str]:
    found: list[str] = []
    for decision in decisions:
        if isinstance(decision, RecordEvent):
            found.append(f"{decision.reason} {decision.regarding.split('/')[1]}")
        elif isinstance(decision, Bind):
            found.append(f"bind {decision.pod.split('/')[1]}")
        elif isinstance(decision, SetCondition):
            found.append(f"condition {decision.pod.split('/')[1]}")
        elif isinstance(decision, SetGroupCondition):
            found.append(f"condition {decision.group.name}")
    return found


@pytest.mark.parametrize(("answer", "want"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_inside_a_cycle_leaves_what_the_cycle_said_to_its_report(
    answer: Callable[[Scheduler], tuple[Decision, ...]], want: list[str]
) -> None:
    cluster = Cluster(node("n"), pod("early"))
    core = cluster.core
    _cycle(core).submit()
    cluster.add(leaf("g", 1), pods("g", 2))
    cluster.change("g-1", deletion_timestamp=1)

    cycle = _cycle(core)  # which skips the pod being deleted
    assert _said(answer(core)) == want
    assert _said(cycle.submit().decisions) == ["FailedScheduling g-1", "bind g-0", "condition g"]
    core._check()


@pytest.mark.parametrize(("answer", "want"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_between_cycles_returns_the_same(
    answer: Callable[[Scheduler], tuple[Decision, ...]], want: list[str]
) -> None:
    cluster = Cluster(node("n"), pod("early"))
    _cycle(cluster.core).submit()
    assert _said(answer(cluster.core)) == want
    assert cluster.core.settle() == ()
