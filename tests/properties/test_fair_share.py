"""Random worlds shared by tenants: what is kept in step equals what is derived anew, under every kind of tiers."""

from __future__ import annotations

import pytest

from tests.properties.cores import small_limits
from tests.properties.fair_story import TIERS, tell_fair_world


@pytest.mark.parametrize("name", TIERS)
def test_shares_and_orders_stay_in_step(name: str) -> None:
    for world in range(2):
        tell_fair_world(1, world, 80, name)


@pytest.mark.parametrize("name", ["proportion", "capacity", "hdrf"])
def test_columns_and_the_oracle_agree_under_tiers(name: str) -> None:
    with small_limits():
        tell_fair_world(2, 0, 80, name, oracle=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", TIERS)
@pytest.mark.parametrize("world", range(100))
def test_shares_and_orders_stay_in_step_for_long(name: str, world: int) -> None:
    tell_fair_world(3, world, 250, name, oracle=world % 4 == 0)


def test_stories_reach_what_they_are_about() -> None:
    counts: dict[str, int] = {}
    for world in range(6):
        for what, count in tell_fair_world(1, world, 100, "proportion").counts.items():
            counts[what] = counts.get(what, 0) + count
    assert counts["cycles"] > 8
    assert counts["bindings"] > 4
