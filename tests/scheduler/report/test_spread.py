"""Percentiles by nearest rank."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gangsched.report.spread import PERCENTS, Spread


def test_a_hundred_values_are_their_own_percentiles() -> None:
    spread = Spread.of(range(1, 101))
    assert (spread.percentiles, spread.maximum, spread.count) == ((50, 90, 99), 100, 100)


def test_one_value_is_everything() -> None:
    spread = Spread.of([7])
    assert (spread.mean, spread.percentiles, spread.maximum) == (7, (7, 7, 7), 7)


def test_no_value_is_zero() -> None:
    assert Spread.of([]) == Spread(0, 0, (0, 0, 0), 0)


def test_documents_are_in_seconds_to_the_millisecond() -> None:
    document = Spread.of([1_500_400_000, 2_500_400_000]).document()
    assert document == {"count": 2, "mean": 2.0, "p50": 1.5, "p90": 2.5, "p99": 2.5, "max": 2.5}


@given(st.lists(st.integers(0, 10**18), min_size=1))
def test_a_percentile_is_the_smallest_value_that_enough_do_not_exceed(values: list[int]) -> None:
    spread = Spread.of(values)
    for percent, value in zip(PERCENTS, spread.percentiles, strict=True):
        assert value in values
        assert sum(v <= value for v in values) * 100 >= percent * len(values)
        assert sum(v < value for v in values) * 100 < percent * len(values)
