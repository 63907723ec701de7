"""A stateful machine drives the whole engine; every invariant holds after each step (spec §8.7).

The rules are those of ``story.py``; ``python -m tests.properties.drive`` plays them for longer (docs/testing.md).
"""

from __future__ import annotations

from contextlib import ExitStack
from random import Random

import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.properties import drive
from tests.properties.cores import draw_cores, small_limits
from tests.properties.objects import Variety
from tests.properties.story import RULES, Rule, Story

RANDOM = st.randoms(use_true_random=False)


class EngineMachine(RuleBasedStateMachine):
    """One core. ``columns == oracle`` has a machine of its own."""

    oracle = False
    story: Story | None = None

    def __init__(self) -> None:
        super().__init__()
        self._limits = ExitStack()
        self._limits.enter_context(small_limits())

    def teardown(self) -> None:
        self._limits.close()

    @initialize(rng=RANDOM, nodes=st.integers(0, 5), period=st.sampled_from((1, 1, 10)))
    def a_cluster_begins(self, rng: Random, nodes: int, period: int) -> None:
        self.story = Story(draw_cores(rng, oracle=self.oracle), Variety.draw(rng), period)
        for _ in range(nodes):
            self.story.a_node_appears(rng)

    @rule(step=st.sampled_from(RULES), rng=RANDOM)
    def something_happens(self, step: Rule, rng: Random) -> None:
        assert self.story is not None
        told = len(self.story.told)
        try:
            step(self.story, rng)
        finally:
            for line in self.story.told[told:]:
                note(line)

    @invariant()
    def every_invariant_holds(self) -> None:
        if self.story is not None:
            self.story.check()


CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

TestEngineMachine = EngineMachine.TestCase
TestEngineMachine.settings = settings(
    max_examples=20, stateful_step_count=30, deadline=None, suppress_health_check=CHECKS
)


LONG = settings(max_examples=2000, stateful_step_count=60, deadline=None, suppress_health_check=CHECKS)


@pytest.mark.slow
def test_the_machine_runs_for_long() -> None:
    run_state_machine_as_test(EngineMachine, settings=LONG)


@pytest.mark.parametrize("seed", range(4))
def test_seeded_worlds_hold(seed: int) -> None:
    for world in range(6):
        drive.tell_world(1000 + seed, world, range(150), oracle=False)


def test_the_same_seed_tells_the_same_story() -> None:
    one, other = (drive.tell_world(7, 3, range(200), oracle=False) for _ in range(2))
    assert one.told == other.told
    assert one.core.queue_state() == other.core.queue_state()


def test_stories_reach_what_they_are_about() -> None:
    """Bindings, evictions, refusals and whole trees occur: a driver that tries nothing would prove nothing."""
    counts: dict[str, int] = {}
    for world in range(24):
        for what, count in drive.tell_world(5, world, range(150), oracle=False).counts.items():
            counts[what] = counts.get(what, 0) + count
    assert counts["cycles"] > 100
    assert counts["bindings"] > 40
    assert counts["evictions"] > 0
