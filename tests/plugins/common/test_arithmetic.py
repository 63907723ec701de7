"""Arithmetic of the real scheduler, and the default normalising: spec node-plugins.md §5.6, §9."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsched_plugins.common.arithmetic import round_half_away, truncating_division
from gangsched_plugins.common.normalize import normalize_by_maximum


@given(st.integers(), st.integers().filter(bool))
def test_division_truncates_toward_zero(dividend: int, divisor: int) -> None:
    assert truncating_division(dividend, divisor) == math.trunc(Fraction(dividend, divisor))


@pytest.mark.parametrize(
    "number, want",
    [(0.5, 1), (1.5, 2), (2.5, 3), (-0.5, -1), (-2.5, -3), (2.4, 2), (-2.4, -2), (0.49999999999999994, 0), (7.0, 7)],
)
def test_halves_round_away_from_zero(number: float, want: int) -> None:
    assert round_half_away(number) == want


@pytest.mark.parametrize(
    "scores, reverse, want",
    [
        ([0, 0], False, [0, 0]),
        ([0, 0], True, [100, 100]),
        ([1, 2, 3], False, [33, 66, 100]),
        ([1, 2, 3], True, [67, 34, 0]),
        ([], True, []),
    ],
)
def test_normalising_by_the_maximum(scores: list[int], reverse: bool, want: list[int]) -> None:
    normalize_by_maximum(scores, reverse=reverse)
    assert scores == want
