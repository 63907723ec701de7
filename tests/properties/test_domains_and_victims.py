"""Crowded clusters where domains and victims decide: columns give what the per-node form gives (``worlds.py``)."""

from __future__ import annotations

import pytest

from tests.properties.cores import small_limits
from tests.properties.worlds import THEMES, World, seeds

STEPS = 25
FEW = 3


@pytest.mark.parametrize("theme, seed", seeds(tuple(THEMES), FEW))
def test_columns_equal_the_oracle(theme: str, seed: int) -> None:
    World(seed, THEMES[theme]).live(STEPS)


@pytest.mark.parametrize("theme, seed", seeds(tuple(THEMES), FEW))
def test_they_do_when_what_only_big_clusters_meet_happens_in_small_ones(theme: str, seed: int) -> None:
    with small_limits():
        World(1000 + seed, THEMES[theme]).live(STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
def test_they_do_in_many_worlds(theme: str) -> None:
    for seed in range(150):
        World(10_000 + seed, THEMES[theme]).live(STEPS)
        with small_limits():
            World(20_000 + seed, THEMES[theme]).live(STEPS)


@pytest.mark.parametrize("theme", THEMES)
def test_the_worlds_are_about_what_they_say(theme: str) -> None:
    """Pods are bound by columns, and where there are priorities somebody is evicted."""
    bound = evicted = 0
    for seed in range(8):
        world = World(seed, THEMES[theme])
        world.live(STEPS)
        columns = world.cores[0].columns
        assert columns is not None
        assert not columns.fallbacks
        bound += len(world.hosts[0].bindings)
        evicted += len(world.hosts[0].evicted)
    assert bound > 30
    assert bool(evicted) == bool(THEMES[theme].priorities)
