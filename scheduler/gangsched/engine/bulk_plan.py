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

_SPARE = 1
"""Steps looked ahead beyond an even distribution."""

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
    """The rows of the first ``count`` pods, fewer when no more find room.

    ``rows``: those that are feasible now, ascending; ``fixed``: the part of their totals that pods do not change.
    """
    room = room_of(filters, rows, count)
    before = np.zeros(len(rows), np.int64)
    taken: list[int] = []
    width = _SPARE + count // max(1, len(rows))
    while len(taken) < count and bool((before < room).any()):
        chosen = _greedy(scores, fixed, rows, room, before, width)[: count - len(taken)]
        before += np.bincount(chosen, minlength=len(rows))
        taken += rows[chosen].tolist()
        width *= 2
    return taken


def _greedy(
    scores: Scores,
    fixed: NDArray[np.int64],
    rows: Rows,
    room: NDArray[np.int64],
    before: NDArray[np.int64],
    width: int,
) -> NDArray[np.intp]:
    """The choices in order, as positions in ``rows``, up to where a row has made ``width`` offers and may make more."""
    steps = before[:, None] + np.arange(width)
    offers = np.repeat(fixed[:, None], width, axis=1)
    for score, weight in scores:
        if score.ahead is not None:
            offers += score.ahead(rows, np.minimum(steps, room[:, None])) * weight
    offers[steps >= room[:, None]] = -1
    smallest = np.minimum.accumulate(offers, axis=1).ravel()
    order = np.argsort(-smallest, kind="stable")
    order = order[smallest[order] >= 0]
    at, step = np.divmod(order, width)
    more = (step == width - 1) & (before[at] + width < room[at])
    end = int(more.argmax()) + 1 if more.any() else len(at)
    return at[:end]
