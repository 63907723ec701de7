"""Durations as Go writes them."""

from __future__ import annotations

import pytest

from gangsched.config.durations import canonical, nanoseconds

CASES = {
    "0": 0,
    "10s": 10 * 10**9,
    "1m30s": 90 * 10**9,
    "10m0s": 600 * 10**9,
    "1.5h": 5400 * 10**9,
    ".5s": 5 * 10**8,
    "1.s": 10**9,
    "-1s": -(10**9),
    "+1us": 1000,
    "1µs": 1000,
    "1.5ns": 1,
    "2562047h": 2562047 * 3600 * 10**9,
    "2562048h": None,
    "": None,
    "-": None,
    "1": None,
    "s": None,
    ".s": None,
    "1s ": None,
    "1 s": None,
    "1d": None,
    "1s\n": None,
    "１s": None,
}


@pytest.mark.parametrize("text", CASES)
def test_nanoseconds(text: str) -> None:
    assert nanoseconds(text) == CASES[text]


PRINTED = {
    "1m": "1m0s",
    "60m": "1h0m0s",
    "90s": "1m30s",
    "1.50s": "1.5s",
    "0h": "0s",
    "0.25s": "250ms",
    "1500ns": "1.5µs",
    "7ns": "7ns",
    "-.5h": "-30m0s",
}


@pytest.mark.parametrize("text", PRINTED)
def test_printed_as_go_does(text: str) -> None:
    nanos = nanoseconds(text)
    assert nanos is not None
    assert canonical(nanos) == PRINTED[text]
