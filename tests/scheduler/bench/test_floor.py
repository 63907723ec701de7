"""The floor of the benchmarks: it places what the engine places, and counts every pod."""

from __future__ import annotations

import pytest

from benchmarks.floor_comparison import CASES, Floor
from gangsched.bench.case import Case
from gangsched.bench.cases import find


@pytest.mark.parametrize("name", CASES)
def test_the_floor_handles_the_pods_of_a_case_and_places_them_where_the_engine_did(name: str) -> None:
    (case,) = find([name])
    assert isinstance(case, Case)
    small = case.scaled(0.01)
    ours = small.trial().run()
    floor = Floor(small.build(small.sizes), ours.bindings)
    outcome = floor.run()
    assert outcome.pods == ours.pods
    assert dict(outcome.bindings) == dict(ours.bindings)
