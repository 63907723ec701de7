"""A plan of a run of like pods is what choosing a node for one after the other gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gangsched.engine.bulk_plan import can_plan, plan
from gangsched_framework.columns import FilterColumn, Refusals, ScoreColumn
from gangsched_framework.refusals import Rows

Numbers = NDArray[np.int64]
Offers = list[list[int]]
"""For each row the totals it offers, one pod after the other; its room is their number."""

offers = st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=6)


def columns_of(rows: Offers) -> tuple[FilterColumn, ScoreColumn]:
    width = max(map(len, rows), default=0) + 1
    table = np.array([row + [0] * (width - len(row)) for row in rows], np.int64)
    room = np.array([len(row) for row in rows], np.int64)
    refuse = FilterColumn(lambda: room > 0, _nobody, bool, room=lambda rows: room[rows])

    def ahead(chosen: Rows, steps: Numbers) -> Numbers:
        offered: Numbers = table[chosen, np.minimum(steps, width - 1)]
        return offered

    return refuse, ScoreColumn(lambda: table[:, 0], int, ahead=ahead)


def one_by_one(rows: Offers, fixed: Sequence[int], count: int) -> list[int]:
    """The largest total, the first row among equals; the row then makes its next offer."""
    taken: list[int] = []
    steps = [0] * len(rows)
    while len(taken) < count:
        heads = [(rows[r][s] + fixed[r], -r) for r, s in enumerate(steps) if s < len(rows[r])]
        if not heads:
            break
        row = -max(heads)[1]
        steps[row] += 1
        taken.append(row)
    return taken


@settings(deadline=None, max_examples=300)
@given(offers, st.lists(st.integers(0, 3), min_size=6, max_size=6), st.integers(1, 20))
def test_a_plan_equals_choosing_one_by_one(rows: Offers, fixed: list[int], count: int) -> None:
    refuse, score = columns_of(rows)
    feasible = np.array([r for r, row in enumerate(rows) if row], np.intp)
    got = plan([refuse], [(score, 1)], np.array(fixed, np.int64)[feasible], feasible, count)
    assert got == one_by_one(rows, fixed, count)


def _no_mask() -> NDArray[np.bool_]:
    return np.zeros(0, np.bool_)


def _no_scores() -> Numbers:
    return np.zeros(0, np.int64)


def _nobody(rows: Rows) -> Refusals:
    return ()


STILL, FIXED = FilterColumn(_no_mask, _nobody), ScoreColumn(_no_scores)
CASES: dict[str, tuple[FilterColumn, ScoreColumn, bool]] = {
    "parts that pods do not change": (STILL, FIXED, True),
    "a filter that pods change and that says nothing": (FilterColumn(_no_mask, _nobody, bool), FIXED, False),
    "a score that pods change and that says nothing": (STILL, ScoreColumn(_no_scores, int), False),
}


@pytest.mark.parametrize("refuse, score, want", CASES.values(), ids=CASES)
def test_a_plan_needs_parts_that_say_how_they_change(refuse: FilterColumn, score: ScoreColumn, want: bool) -> None:
    assert can_plan([refuse], [(score, 3)]) is want


def test_a_dip_in_a_sequence_is_taken_with_what_follows_it() -> None:
    rows: Offers = [[5, 1, 9], [4, 4]]
    refuse, score = columns_of(rows)
    assert _plan(refuse, score, rows, 5) == [0, 1, 1, 0, 0]


def _plan(refuse: FilterColumn, score: ScoreColumn, rows: Offers, count: int) -> list[int]:
    return plan([refuse], [(score, 1)], np.zeros(len(rows), np.int64), np.arange(len(rows)), count)


UNEVEN: dict[str, tuple[int, list[int]]] = {
    "one node takes nearly all": (50, [1000, *[40] * 999]),
    "each node is filled before the next": (0, [1000] * 1000),
    "each takes some in turn": (40, [1000] * 1000),
    "few nodes take many": (40, [10_000] * 4),
}


@pytest.mark.parametrize("falls, rooms", UNEVEN.values(), ids=UNEVEN)
def test_offers_are_looked_up_about_as_often_as_pods_are_placed(falls: int, rooms: list[int]) -> None:
    """The more pods a row has, the less it offers: by a step where it is full by ``falls``."""
    asked: list[int] = []
    room, count = np.array(rooms, np.int64), 1000

    def ahead(chosen: Rows, steps: Numbers) -> Numbers:
        asked.append(steps.size)
        return 100 - falls * steps // room[chosen]

    refuse = FilterColumn(lambda: room > 0, _nobody, bool, room=lambda rows: room[rows])
    score = ScoreColumn(lambda: room, int, ahead=ahead)
    taken = plan([refuse], [(score, 1)], np.zeros(len(rooms), np.int64), np.arange(len(rooms)), count)
    assert len(taken) == count
    assert sum(asked) <= 16 * count
    assert len(asked) <= 10  # looks, each of which is numpy's
