"""Spec podgroup-scheduling.md §2.4: length, end and release of a penalty."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.infos import QueuedPodInfo
from gangsched_queue.backoff import backoff_count, backoff_duration, expiration, is_served, release_time
from gangsched_queue.settings import SECOND, QueueSettings
from tests.queue_room.cluster import pod

DEFAULT = QueueSettings()
NO_EARLY_POPS = QueueSettings(pop_from_backoff=False)

SECONDS: dict[int, list[float]] = {
    1: [1, 2, 4, 8, 10, 10],
    2: [1, 2, 4, 8, 14.142, 14.142],
    4: [1, 2, 4, 8, 16, 20, 20],
    9: [1, 2, 4, 8, 16, 30, 30],
    16: [1, 2, 4, 8, 16, 32, 40, 40],
    100: [1, 2, 4, 8, 16, 32, 64, 100, 100],
}


@pytest.mark.parametrize("members", SECONDS, ids=lambda members: f"rows 63-65: {members} members")
def test_the_table_of_penalties(members: int) -> None:
    lengths = [backoff_duration(count, members, DEFAULT) for count in range(1, len(SECONDS[members]) + 1)]
    assert [math.floor(length / (SECOND // 1000)) / 1000 for length in lengths] == SECONDS[members]


def test_two_members_wait_at_most_the_square_root_of_two_in_float_nanoseconds() -> None:
    assert backoff_duration(9, 2, DEFAULT) == 14_142_135_623


@pytest.mark.parametrize(
    ("count", "settings", "length"),
    [
        pytest.param(0, DEFAULT, 0, id="no failure, no penalty"),
        pytest.param(3, QueueSettings(max_backoff=0), 0, id="row 72: maximum 0 switches backoff off"),
        pytest.param(2, QueueSettings(5 * SECOND, 11 * SECOND), 10 * SECOND, id="a doubling that just fits is not cut"),
        pytest.param(10**6, DEFAULT, 10 * SECOND, id="a huge count does not overflow"),
        pytest.param(
            1, QueueSettings(initial_backoff=30 * SECOND), 10 * SECOND, id="an initial above the maximum is cut"
        ),
    ],
)
def test_bounds_of_a_penalty(count: int, settings: QueueSettings, length: int) -> None:
    assert backoff_duration(count, 1, settings) == length


@given(st.integers(1, 80), st.integers(1, 5000), st.integers(1, 10**11), st.integers(1, 10**12))
def test_a_penalty_never_shrinks_with_the_count_nor_exceeds_the_maximum(
    count: int, members: int, initial: int, maximum: int
) -> None:
    settings = QueueSettings(initial_backoff=initial, max_backoff=maximum)
    length = backoff_duration(count, members, settings)
    assert 0 < length <= max(maximum, maximum * math.sqrt(members))
    assert length <= backoff_duration(count + 1, members, settings)
    assert length == backoff_duration(count + 1, members, settings) or length == initial << (count - 1)


@pytest.mark.parametrize(
    ("errors", "rejections", "count"),
    [(0, 0, 0), (2, 5, 2), (0, 5, 5)],
    ids=["nothing failed", "errors win", "rejections count without errors"],
)
def test_what_is_counted(errors: int, rejections: int, count: int) -> None:
    info = QueuedPodInfo(pod("p"), 0)
    info.consecutive_errors, info.unschedulable_count = errors, rejections
    assert backoff_count(info) == count


@pytest.mark.parametrize(
    ("settings", "began", "expires", "held_at", "free_at"),
    [
        pytest.param(DEFAULT, 10.3, 11, 11.999, 12, id="row 66: released at 12.0, not at 11.3"),
        pytest.param(DEFAULT, 10, 11, 11.999, 12, id="row 67: a whole second waits one more"),
        pytest.param(NO_EARLY_POPS, 10.3, 11.3, 11.3, 11.301, id="row 68: without early pops held at its expiration"),
    ],
)
def test_the_end_of_a_penalty(
    settings: QueueSettings, began: float, expires: float, held_at: float, free_at: float
) -> None:
    def at(seconds: float) -> int:
        return round(seconds * 1000) * (SECOND // 1000)

    end = expiration(at(began), SECOND, settings)
    assert end == at(expires)
    assert not is_served(end, at(held_at), settings)
    assert is_served(end, at(free_at), settings)
    assert release_time(end) == 12 * SECOND


@given(st.integers(0, 10**13), st.booleans())
def test_the_release_is_the_first_whole_second_at_which_the_penalty_is_served(expires: int, early: bool) -> None:
    settings = QueueSettings(pop_from_backoff=early)
    end = expiration(expires, 0, settings)
    release = release_time(end)
    assert release % SECOND == 0
    assert is_served(end, release, settings)
    assert not is_served(end, release - SECOND, settings)
