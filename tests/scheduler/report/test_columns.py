"""Columns and durations for people."""

from __future__ import annotations

import pytest

from gangsched.report.columns import columns, duration, grouped

SECOND = 10**9


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    assert columns([("A", "LONG", "C"), ("bb", "x", "")]) == "A    LONG   C\nbb   x"


def test_numbers_may_stand_at_the_right() -> None:
    assert columns([("", "N"), ("a", "10"), ("b", "5")], right=(1,)) == "     N\na   10\nb    5"


def test_no_rows_are_no_text() -> None:
    assert columns([]) == ""


DURATIONS = {
    "nothing": (0, "0s"),
    "a quarter of a second": (SECOND // 4, "0.25s"),
    "seconds": (59 * SECOND, "59s"),
    "a fraction beyond a second is dropped": (59 * SECOND + 5, "59s"),
    "minutes and seconds": (61 * SECOND, "1m 1s"),
    "hours and minutes": (7325 * SECOND, "2h 2m"),
    "no zero in between": (3605 * SECOND, "1h"),
    "days and hours": (90_000 * SECOND, "1d 1h"),
}


@pytest.mark.parametrize("time, want", DURATIONS.values(), ids=DURATIONS)
def test_durations_show_their_two_largest_units(time: int, want: str) -> None:
    assert duration(time) == want


def test_thousands_are_grouped() -> None:
    assert grouped(1234567) == "1,234,567"
