"""Times of traces are exact: decimals to nanoseconds, never through a float."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsched.replay.times import LATEST, parse_duration, parse_seconds, parse_span, seconds
from gangsched.report.columns import duration

SECONDS = {
    "a whole number": ("12", 12_000_000_000),
    "a fraction": ("1.5", 1_500_000_000),
    "what no float holds": ("0.1", 100_000_000),
    "a nanosecond after ten years": ("315360000.000000001", 315360000_000000001),
    "an exponent": ("1e3", 1_000_000_000_000),
    "half a nanosecond goes to the even one": ("0.0000000005", 0),
    "one and a half nanoseconds too": ("0.0000000015", 2),
    "minus zero": ("-0", 0),
}


@pytest.mark.parametrize("text, want", SECONDS.values(), ids=SECONDS)
def test_seconds_become_nanoseconds(text: str, want: int) -> None:
    assert parse_seconds(text) == want


BAD_SECONDS = {
    "no number": ("soon", "not a decimal number"),
    "digits of another script": ("\u0663", "not a decimal number"),
    "underscores": ("1_000", "not a decimal number"),
    "not a number": ("NaN", "not a finite number"),
    "infinite": ("Infinity", "not a finite number"),
    "negative": ("-1", "must not be negative"),
    "beyond the calendar": ("1e400", "beyond 9223372036 s"),
    "absurdly long": ("1" * 61, "more than 60 characters"),
}


@pytest.mark.parametrize("text, why", BAD_SECONDS.values(), ids=BAD_SECONDS)
def test_what_is_no_time_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_seconds(text)


DURATIONS = {
    "seconds": ("300s", 300 * 10**9),
    "hours and minutes": ("1h30m", 5400 * 10**9),
    "a fraction": ("1.5s", 1_500_000_000),
    "milliseconds": ("250ms", 250_000_000),
    "microseconds with the Greek letter": ("3µs", 3_000),
    "nothing": ("0", 0),
}


@pytest.mark.parametrize("text, want", DURATIONS.values(), ids=DURATIONS)
def test_durations_are_read_as_kubernetes_does(text: str, want: int) -> None:
    assert parse_duration(text) == want


@pytest.mark.parametrize(
    "text", ["", "300", "s", "-3s", "3 s", "3d", "1s2", "1e3s", "NaNs", "9" * 70 + "s", "99999999999s"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"numbers with units|beyond|more than"):
        parse_duration(text)


SPANS = {
    "days and hours": ("1d12h", 36 * 3600 * 10**9),
    "as a report shows it": ("2d 13h", 61 * 3600 * 10**9),
    "hours and minutes of a report": ("2h 5m", 7500 * 10**9),
    "days alone": ("3d", 3 * 86400 * 10**9),
    "no day": ("0d", 0),
    "without days": ("1h30m", 5400 * 10**9),
}


@pytest.mark.parametrize("text, want", SPANS.values(), ids=SPANS)
def test_spans_are_read_as_reports_show_them(text: str, want: int) -> None:
    assert parse_span(text) == want


@given(st.integers(1, 10**7))
def test_what_a_report_shows_is_read_back_to_its_two_largest_units(whole: int) -> None:
    assert duration(parse_span(duration(whole * 10**9))) == duration(whole * 10**9)


@pytest.mark.parametrize("text", ["", "d", "1h2d", "1.5d", "1 d", "1d  2h", "1d h", "200000d", "9" * 10 + "d"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"numbers with units|longer than"):
        parse_span(text)


@given(st.integers(0, LATEST))
def test_every_nanosecond_survives_its_decimal_text(time: int) -> None:
    assert parse_seconds(f"{time // 10**9}.{time % 10**9:09d}") == time


def test_seconds_are_whole_where_they_can_be() -> None:
    assert (seconds(3 * 10**9), seconds(1_500_000_000)) == (3, 1.5)
