"""Columns give what the per-node form gives, byte for byte: reports, decisions, queue states, nominations.

Two cores hear the same story (``story.py``); one may use columns, the memo and whatever else is fast, the other asks
every plugin about every node (``Settings(oracle=True)``).
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.properties import drive
from tests.properties.test_engine_machine import CHECKS, LONG, EngineMachine


class OracleMachine(EngineMachine):
    oracle = True


TestOracleMachine = OracleMachine.TestCase
TestOracleMachine.settings = settings(
    max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=CHECKS
)


@pytest.mark.slow
def test_the_machine_runs_for_long() -> None:
    run_state_machine_as_test(OracleMachine, settings=LONG)


@pytest.mark.parametrize("seed", range(6))
def test_seeded_worlds_are_the_same_with_and_without_columns(seed: int) -> None:
    for world in range(6):
        drive.tell_world(2000 + seed, world, range(150), oracle=True)


def test_columns_are_used() -> None:
    """Else the comparison would compare the oracle with itself."""
    placed = fallbacks = 0
    for world in range(20):
        story = drive.tell_world(2100, world, range(150), oracle=True)
        columns = story.core.columns
        assert columns is not None
        assert story.cores[1].columns is None
        placed += story.counts.get("by columns", 0)
        fallbacks += sum(columns.fallbacks.values())
    assert placed > 100
    assert fallbacks > 10
