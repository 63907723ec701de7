"""Durations as Go writes them."""

from __future__ import annotations

import pytest

from gangsched.config.durations import nanoseconds

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
