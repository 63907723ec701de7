"""Choosing a node when filters and scores depend on other nodes: asked once per class of like nodes (§2.6 of
performance.md).

Rows that no domain part tells apart form a class. Inside one, the node-local total decides; so the best row of each
class is kept, and a pod costs the classes, not the nodes. With too many classes, and inside a placement, each row is a
class of its own and the same questions are asked for all of them at once.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from gangsched_framework.columns import DomainFilter, DomainScore, ScoreColumn, Scores, Split, View
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.refusals import Rows

MAX_CLASSES = 256
"""Classes up to which the best row of each is kept."""

_NOWHERE = -(2**62)
_LARGEST_KEY = 2**61


@frozen(eq=False)
class FixedScore:
    """A raw score of the node's object, normalised over the feasible nodes (node-plugins.md §5.6): it changes only when
    another set of classes is feasible."""

    split: Split
    raw: Scores
    turned: bool

    def scores(self, view: View, nodes: NDArray[np.int64] | None) -> Scores:
        """As ``DomainScore.scores``."""
        values = self.raw[view.rows]
        maximum = int((values if nodes is None else values[nodes > 0]).max())
        if maximum == 0:
            return np.full(len(values), MAX_NODE_SCORE if self.turned else 0, np.int64)
        scaled = MAX_NODE_SCORE * values // maximum
        return MAX_NODE_SCORE - scaled if self.turned else scaled


def normalized(score: ScoreColumn, weight: int) -> FixedScore | int:
    """The relative form of a score to be normalised.

    When all raw values are equal it is one weighted constant for every feasible node, whichever are feasible.
    """
    raw = score.vector().astype(np.int64, copy=False)
    turned = score.normalize == "reversed"
    if len(raw) == 0 or bool((raw == raw[0]).all()):
        positive = len(raw) > 0 and bool(raw[0] > 0)
        return weight * MAX_NODE_SCORE if positive != turned else 0
    _, split = np.unique(raw, return_inverse=True)
    return FixedScore(split, raw, turned)


def classes_of(splits: Sequence[Split], rows: int) -> tuple[NDArray[np.intp], int]:
    """The class of each row, and how many there are: rows are alike when every split says so."""
    ids = np.zeros(rows, np.intp)
    count = 1
    for split in splits:
        _, ids = np.unique(ids * (int(split.max(initial=0)) + 1) + split, return_inverse=True)
        count = int(ids.max(initial=-1)) + 1
        if count > MAX_CLASSES:
            break
    return ids, count


class DomainChoice:
    """The best node of one kind of pod under domain filters and relative scores.

    ``totals`` are the node-local totals by row, negative = infeasible; the owner reports their changes. ``largest``:
    upper bound of a total.
    """

    def __init__(
        self,
        totals: NDArray[np.signedinteger],
        filters: Sequence[DomainFilter],
        scores: Sequence[tuple[DomainScore | FixedScore, int]],
        largest: int,
    ) -> None:
        self._totals = totals
        self._filters = filters
        self._fixed = [(score, weight) for score, weight in scores if isinstance(score, FixedScore)]
        self._moving = [(score, weight) for score, weight in scores if isinstance(score, DomainScore)]
        rows = len(totals)
        splits = [score.split for score, _ in self._fixed]
        parts: list[DomainFilter | DomainScore] = [*filters, *(score for score, _ in self._moving)]
        ids, count = classes_of([*splits, *(split for part in parts for split in part.splits)], rows)
        few = rows > 0 and count <= MAX_CLASSES and largest * rows < _LARGEST_KEY
        self._segments = Segments(ids, count) if few else None
        self._everything = View(np.arange(rows), whole=True)
        self._known: tuple[bytes, NDArray[np.int64]] = (b"", np.zeros(0, np.int64))

    def added(self, rows: Rows) -> Scores:
        """What the fixed scores add to the totals of ``rows``, when these are the feasible ones."""
        return self._sum(self._fixed, View(rows, whole=False), np.ones(len(rows), np.int64))

    def same_added(self, rows: Rows, left: Rows) -> bool:
        """Whether the fixed scores add to the totals of ``left`` what they add while more ``rows`` are feasible."""
        return len(left) > 0 and all(score.raw[left].max() == score.raw[rows].max() for score, _ in self._fixed)

    def fill(self) -> None:
        """All totals are new."""
        if self._segments is not None:
            self._segments.fill(self._totals)

    def put(self, row: int, old: int, new: int) -> None:
        """One total changed."""
        if self._segments is not None:
            self._segments.put(row, old, new)

    def best(self) -> int:
        """Row of the best node, -1 when none is feasible."""
        segments = self._segments
        if segments is None:
            return self._best_item(self._everything, self._totals)
        keys, nodes, view = segments.keys(), segments.nodes, segments.view
        for part in self._filters:
            passes = part.passes(view)
            keys = np.where(passes, keys, _NOWHERE)
            nodes = nodes * passes
        if self._fixed:
            keys = keys + self._fixed_keys(view, nodes)
        if self._moving and np.logical_or.reduce(nodes):
            keys = keys + np.multiply(self._sum(self._moving, view, nodes), len(self._totals), dtype=np.int64)
        number = int(keys.argmax())
        return segments.row_of(number) if nodes[number] > 0 else -1

    def _fixed_keys(self, view: View, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the fixed scores add to the keys, kept until another set of classes is feasible."""
        feasible = (nodes > 0).tobytes()
        if feasible != self._known[0]:
            added = np.zeros(len(nodes), np.int64)
            if nodes.any():
                added = np.multiply(self._sum(self._fixed, view, nodes), len(self._totals), dtype=np.int64)
            self._known = (feasible, added)
        return self._known[1]

    def best_of(self, rows: Rows) -> int:
        """Row of the best node among ``rows`` (ascending) when no other node exists, -1 when none is feasible."""
        return self._best_item(View(rows, whole=False), self._totals[rows])

    def _best_item(self, view: View, totals: NDArray[np.signedinteger]) -> int:
        feasible = totals >= 0
        for part in self._filters:
            feasible &= part.passes(view)
        count = np.count_nonzero(feasible)
        if not count:
            return -1
        everywhere, whole = count == len(feasible), totals
        if self._fixed or self._moving:
            nodes = None if everywhere else feasible.astype(np.int64)
            whole = whole + self._sum((*self._fixed, *self._moving), view, nodes)
        if not everywhere:
            whole = np.where(feasible, whole, -1)
        return int(view.rows[whole.argmax()])

    def _sum(
        self, scores: Sequence[tuple[DomainScore | FixedScore, int]], view: View, nodes: NDArray[np.int64] | None
    ) -> Scores:
        total: Scores | None = None
        for score, weight in scores:
            added = score.scores(view, nodes)
            if weight != 1:  # no wider than totals, which hold the largest sum
                added = np.multiply(added, weight, dtype=np.promote_types(added.dtype, self._totals.dtype))
            total = added if total is None else total + added
        return np.zeros(len(view.rows), np.int64) if total is None else total


class Segments:
    """Totals grouped by class, in row order inside one, with the best of each class at hand.

    ``nodes``: how many rows of each class are feasible. ``view``: the classes.
    """

    def __init__(self, ids: NDArray[np.intp], count: int) -> None:
        self._rows = len(ids)
        order = np.argsort(ids, kind="stable")
        slots = np.empty(len(ids), np.intp)
        slots[order] = np.arange(len(ids))
        self._slot_of: list[int] = slots.tolist()
        self._row_at: list[int] = order.tolist()
        self._class_of: list[int] = ids.tolist()
        self._bounds: list[int] = np.searchsorted(ids[order], np.arange(count + 1)).tolist()
        self._buffer: array[int] = array("q", [-1]) * len(ids)
        self._totals = np.frombuffer(self._buffer, np.int64)
        self._best: list[int] = [0] * count
        self._keys: array[int] = array("q", [_NOWHERE]) * count
        self._nodes: array[int] = array("q", [0]) * count
        self._stale: dict[int, None] = {}
        self._order = order
        self._key_view = np.frombuffer(self._keys, np.int64)
        self.nodes: NDArray[np.int64] = np.frombuffer(self._nodes, np.int64)
        self.view = View(order[np.array(self._bounds[:-1], np.intp)], whole=True)

    def fill(self, totals: NDArray[np.signedinteger]) -> None:
        """All totals are new."""
        self._totals[:] = totals[self._order]
        for number in range(len(self._best)):
            start, end = self._bounds[number], self._bounds[number + 1]
            self._nodes[number] = int((self._totals[start:end] >= 0).sum())
            self._stale[number] = None

    def put(self, row: int, old: int, new: int) -> None:
        """One total changed."""
        number = self._class_of[row]
        self._buffer[self._slot_of[row]] = new
        if (old < 0) != (new < 0):
            self._nodes[number] += 1 if new >= 0 else -1
        self._stale[number] = None

    def keys(self) -> NDArray[np.int64]:
        """One number per class, larger for a larger best total and then for a smaller row; a total weighs the number
        of rows."""
        for number in self._stale:
            start = self._bounds[number]
            slot = start + int(self._totals[start : self._bounds[number + 1]].argmax())
            total, row = self._buffer[slot], self._row_at[slot]
            self._best[number] = row
            self._keys[number] = total * self._rows - row if total >= 0 else _NOWHERE
        self._stale.clear()
        return self._key_view

    def row_of(self, number: int) -> int:
        """The best row of a class; ``keys`` has been asked."""
        return self._best[number]
