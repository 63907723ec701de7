"""Placing a run of like pods at once (performance.md §2.9): which rows greedy choice takes, in order.

Each row offers a sequence of totals: with no more pod of the run on it, with one, with two. Greedy choice takes the
largest offer, the first row among equals, and the row then makes its next one. So offers are taken in the order of
(smallest offer of the row so far, falling; row; step): what follows a smaller offer is taken as soon as that one has
been.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gangsched_framework.columns import FilterColumn, ScoreColumn
from gangsched_framework.refusals import Rows

MIN_RUN = 16
"""Pods from which a plan is cheaper than choosing one by one (measured)."""

Scores = Sequence[tuple[ScoreColumn, int]]


def can_plan(filters: Sequence[FilterColumn], scores: Scores) -> bool:
    """Whether every part says how it changes when pods of the run come to a row."""
    rooms = all(column.test is None or column.room is not None for column in filters)
    return rooms and all(score.one is None or score.ahead is not None for score, _ in scores)


def room_of(filters: Sequence[FilterColumn], rows: Rows, most: int) -> NDArray[np.int64]:
    """How many pods of the run feasible rows take, each ``most`` at most."""
    room = np.full(len(rows), most, np.int64)
    for column in filters:
        if column.room is not None:
            room = np.minimum(room, column.room(rows))
    return room


def plan(
    filters: Sequence[FilterColumn], scores: Scores, fixed: NDArray[np.int64], rows: Rows, count: int
) -> list[int]:
    """The rows of the first ``count`` pods, fewer when no more find room. O((rows + count) log count).

    ``rows``: those that are feasible now, ascending; ``fixed``: the part of their totals that pods do not change.
    """
    room = room_of(filters, rows, count)
    size, start, width = len(rows), 0, 1 + count // max(1, len(rows))  # one more than if they went evenly
    going = np.flatnonzero(room > 0)
    low = np.full(len(going), np.iinfo(np.int64).max)
    places = np.zeros(0, np.int64)  # in the order of taking, which a number tells with its row
    while len(going):
        steps = np.arange(start, start + width)[:, None]
        offers = _offers(scores, fixed[going], rows[going], room[going], steps)
        np.minimum(offers[0], low, out=offers[0])
        smallest = _smallest_so_far(offers)
        new = smallest * -size + going
        # stable: rows that offer alike stand in long runs, which only need merging
        places = np.sort(np.concatenate((places, new[smallest >= 0])), kind="stable")[:count]
        start += width
        width *= 2
        # only a row that has taken all that was looked at may take more
        more = (room[going] > start) & (new[-1] <= places[-1])
        going, low = going[more], smallest[-1, more]
    taken: list[int] = rows[places % size].tolist()
    return taken


def _offers(
    scores: Scores, fixed: NDArray[np.int64], rows: Rows, room: NDArray[np.int64], steps: NDArray[np.int64]
) -> NDArray[np.int64]:
    """What rows offer after so many steps, a line for each step; -1 where they have no room."""
    stand = np.minimum(steps, room)
    offers = np.zeros(stand.shape, np.int64)
    offers += fixed
    for score, weight in scores:
        if score.ahead is not None:
            offers += score.ahead(rows, stand) * weight
    offers[steps >= room] = -1
    return offers


def _smallest_so_far(offers: NDArray[np.int64]) -> NDArray[np.int64]:
    """``np.minimum.accumulate(offers)``, in place: whole lines at once, as ``accumulate`` goes column by column."""
    reach = 1
    while reach < len(offers):
        np.minimum(offers[reach:], offers[:-reach], out=offers[reach:])
        reach *= 2
    return offers
