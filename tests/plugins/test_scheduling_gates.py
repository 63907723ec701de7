"""SchedulingGates: spec node-plugins.md §7.11, rows 204-205."""

from __future__ import annotations

from operator import attrgetter

import pytest

from gangsched_framework.events import Hint
from gangsched_framework.testing import FakeHandle, make_pod
from gangsched_plugins.scheduling_gates import SchedulingGates
from tests.plugins.judge import HintCase, check_hint, verdict

POD = make_pod("p")
HINTS = [
    HintCase(
        name="the last gate is removed",
        event="TargetPod/UpdatePodSchedulingGatesEliminated",
        pod=POD,
        old=POD.gate("x"),
        new=POD,
        want=Hint.QUEUE,
    ),
    HintCase(
        name="one of two gates is removed, a plain update that is not registered",
        event="TargetPod/Update",
        pod=POD.gate("x"),
        old=POD.gate("x", "y"),
        new=POD.gate("x"),
        want=None,
    ),
]


def test_a_pod_without_gates_passes() -> None:
    assert verdict(SchedulingGates({}, FakeHandle()).pre_enqueue(POD.obj())) == "Ok"


def test_gates_are_named_in_the_order_of_the_manifest() -> None:
    status = SchedulingGates({}, FakeHandle()).pre_enqueue(POD.gate("b", "a").obj())
    assert verdict(status) == "UU waiting for scheduling gates: [b a]"


@pytest.mark.parametrize("case", HINTS, ids=attrgetter("name"))
def test_hints(case: HintCase) -> None:
    check_hint(SchedulingGates, case)
