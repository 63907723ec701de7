"""The columnar form of Filter and Score: the same meaning for all nodes at once (architecture.md §5).

A plugin's per-node form is its meaning; ``columns`` is an optional second form over the node table. The engine uses it
when every plugin a pod would be asked by has one, and falls back to the per-node form for that pod otherwise. Both must
agree on every node, byte for byte; a property test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from gangsched_framework.interface import Plugin
from gangsched_framework.node_classes import NodeClass
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node, Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.status import Status
from gangsched_framework.values import value

Mask = NDArray[np.bool_]
Scores = NDArray[np.signedinteger]
Refusals = Iterable[tuple[Status, Rows]]
"""Rows grouped by the status that refuses them; rows that pass are in no group."""


@frozen(eq=False)
class View:
    """The items a domain part is asked about.

    ``rows``: one row for each item. ``whole``: the items stand for all nodes of the table, an item for every row like
    it as far as the part's ``splits`` tell. Otherwise each item is its own row, and no other node is chosen (a
    placement); pods are counted on all nodes all the same.
    """

    rows: Rows
    whole: bool


Split = NDArray[np.intp]
"""A number for each row of the table; rows of one number are alike for who gives it."""


@frozen(eq=False)
class DomainFilter:
    """A verdict that depends on pods elsewhere, alike for all rows that no split tells apart (architecture.md §5).

    ``passes``: per item of a view.
    """

    splits: Sequence[Split]
    passes: Callable[[View], Mask]


@frozen(eq=False)
class DomainScore:
    """A score relative to the other feasible nodes, alike for all rows that no split tells apart.

    ``scores``: the normalised score, 0…100, of each item of a view; those of infeasible items are not looked at. Asked
    with how many feasible nodes each item stands for, None = one each.
    """

    splits: Sequence[Split]
    scores: Callable[[View, NDArray[np.int64] | None], Scores]


@value(eq=False)
class FilterColumn:
    """Filter over rows.

    ``mask``: which nodes pass, now. ``test``: whether one row passes, for what the pods on a node change; None = the
    answer depends on the node's object alone. ``refusals``: why rows are refused (only asked when no node passes).
    ``domain``: what else must pass, when pods elsewhere have a say; ``refusals`` then speaks for both.
    ``room``: how many pods of this kind rows that pass take one after the other; None = unknown, or with no ``test``
    any number. ``beside``: whether a row passes with other pods counted in; None = unknown, or with no ``test`` as
    without them. ``reason``: the status a row is refused with, as a number, 0 = it passes; None = whenever ``test``
    fails it is the same. ``facts``: what ``test`` is asked with for a row, in place of its number; one function for all
    kinds of pods that read alike, which share what it says until the row changes. Who gives ``room`` reads in both the
    table's sums and host ports only: pods of a run are counted there before they stand among the row's pods.
    """

    mask: Callable[[], Mask]
    refusals: Callable[[Rows], Refusals]
    test: Callable[[Any], bool] | None = None
    domain: DomainFilter | None = None
    room: Callable[[Rows], NDArray[np.int64]] | None = None
    beside: Callable[[int, Sequence[Pod]], bool] | None = None
    reason: Callable[[int], int] | None = None
    facts: Callable[[int], Any] | None = None


@value(eq=False)
class ScoreColumn:
    """Score over rows.

    ``vector``: raw scores of all rows, now. ``one``: of one row, for what the pods on a node change; None = it depends
    on the node's object alone. ``normalize``: ``max`` / ``reversed`` = the default normalisation over the feasible
    nodes (node-plugins.md §5.6), only for scores without ``one``; '' = the scores are final, 0…100. ``ahead``: of rows
    on which so many more pods of this kind stand, a column of numbers for each; None = unknown, or without ``one`` no
    change. ``facts``: what ``one`` is asked with, as ``FilterColumn.facts``. Who gives ``ahead`` reads in both the
    table's sums only, as ``FilterColumn.room`` demands of ``test``.
    """

    vector: Callable[[], NDArray[np.signedinteger]]
    one: Callable[[Any], int] | None = None
    normalize: Literal["", "max", "reversed"] = ""
    ahead: Callable[[Rows, NDArray[np.int64]], Scores] | None = None
    facts: Callable[[int], Any] | None = None


@value(eq=False)
class Columns:
    """A plugin's columnar form for one kind of pod. Absent parts: it refuses nobody, scores nothing (or skips).

    Its functions may keep columns of the table: they are asked when these are up to date (``NodeTable.touched``).
    ``guard`` must hold at each use, else the per-node form is used: for plugins silent only while something is absent
    from the cluster.
    """

    filter: FilterColumn | None = None
    score: ScoreColumn | DomainScore | None = None
    guard: Callable[[], bool] | None = None


SILENT = Columns()
"""Refuses nobody and scores nothing."""


@runtime_checkable
class ColumnarPlugin(Plugin, Protocol):
    """A Filter or Score plugin with a columnar form.

    When: a pod of a new signature is met, again after nodes changed. By: the engine. With: a pod of that signature, the
    settled node table. Returns None when this pod needs the per-node form. What it returns may read of the pod what
    makes its signature: requests, host ports, tolerations, node selector and node affinity, images, spread constraints,
    claims, and whether it has affinity terms; who reads more is a ``ParticularColumns``. Undo: nothing.

    Where columns choose the node its PreFilter and PreScore are not asked: at Reserve and later it finds no state.
    """

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None: ...


@runtime_checkable
class ParticularColumns(ColumnarPlugin, Protocol):
    """A columnar plugin that reads more of a pod than its signature, or more of the cluster than the table's rows.

    Of a pod these are the rest of its spec, labels, namespace and owner. ``column_key``: what else ``columns`` reads
    for this pod, equal exactly when it would return the same; None = nothing. ``column_version``: changes whenever the
    key of some pod may have changed. That a pod without affinity terms comes to a node changes no key: while nothing
    else happens on the nodes, and ``lister_version`` stands, the engine need not ask.
    """

    def column_key(self, pod: Pod, table: NodeTable) -> Hashable: ...
    def column_version(self, table: NodeTable) -> Hashable: ...


def domain_filter(table: NodeTable, domain: DomainFilter, refusals: Callable[[Rows], Refusals]) -> FilterColumn:
    """The filter of a plugin with a domain part alone."""
    return FilterColumn(lambda: np.ones(len(table.names), np.bool_), refusals, domain=domain)


def filter_by_class(classes: NodeClass, verdict: Callable[[Node], Status | None]) -> FilterColumn | None:
    """The filter of a plugin whose verdict reads only what ``classes`` tell apart. None = everybody passes."""
    verdicts = [verdict(node) for node in classes.nodes]
    if all(status is None for status in verdicts):
        return None
    passes = np.array([status is None for status in verdicts], np.bool_)

    def refusals(rows: Rows) -> Iterator[tuple[Status, Rows]]:
        ids = classes.ids[rows]
        for number, status in enumerate(verdicts):
            if status is not None:
                yield status, rows[ids == number]

    return FilterColumn(lambda: passes[classes.ids], refusals)


def score_by_class(
    classes: NodeClass, score: Callable[[Node], int], normalize: Literal["max", "reversed"]
) -> ScoreColumn:
    """The score of a plugin that reads only what ``classes`` tell apart."""
    scores = np.array([score(node) for node in classes.nodes], np.int64)
    return ScoreColumn(lambda: scores[classes.ids], normalize=normalize)
