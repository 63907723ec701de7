"""The columnar form of topology spread: ``filtering`` and ``scoring`` over domains (spec node-plugins.md §7.9.3-7.9.6).

What the per-node form finds for one node after another is found here for all items of a view at once: the same counts,
the same float operations in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from attrs import define, frozen
from numpy.typing import NDArray

from gangsched_framework.columns import DomainFilter, DomainScore, FilterColumn, Refusals, Scores, View, domain_filter
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.status import Status
from gangsched_plugins.common.arithmetic import round_half_away
from gangsched_plugins.common.pod_sums import Cells, Domains, DomainSums, Mask, RowSums, SumsCache, domains_of
from gangsched_plugins.pod_topology_spread.constraints import HOSTNAME, Constraint, NodeInclusion
from gangsched_plugins.pod_topology_spread.scoring import turned

Floats = NDArray[np.floating[Any]]


@frozen(eq=False)
class _Items:
    """What does not change of the items of a view: their ``rows`` (all in order: a slice), the domain of each, which
    have the key (``present``, None = all), and the number of their domains, items without one counting as one more."""

    rows: Rows | slice
    ids: NDArray[np.intp]
    present: Mask | None
    domains: int


@define(eq=False)
class _Part:
    """One constraint over the nodes of a table; pods are counted beyond a placement, too.

    ``present``: the nodes that have the key. ``exists``: the domains with a counting node, ``existing`` = their number.
    """

    constraint: Constraint
    domains: Domains
    rows: RowSums
    sums: DomainSums
    present: Mask
    exists: Mask
    existing: int
    _seen: tuple[View, _Items] | None = None

    def items(self, view: View) -> _Items:
        """Remembered for the last view of all nodes."""
        if self._seen is not None and self._seen[0] is view:
            return self._seen[1]
        present, ids = self.present[view.rows], self.domains.ids[view.rows]
        in_order = len(ids) == len(self.present) and bool((view.rows[1:] > view.rows[:-1]).all())
        rows = slice(None) if in_order else view.rows
        items = _Items(rows, ids, None if present.all() else present, len(np.unique(ids)))
        if view.whole:
            self._seen = (view, items)
        return items

    def minimum(self) -> int:
        """The smallest count of a domain with a counting node (spec §7.9.4)."""
        if self.existing < self.constraint.min_domains:
            return 0
        counts = self.sums.totals[:-1]
        return int(np.minimum.reduce(counts if self.existing == len(counts) else counts[self.exists]))


def _existing(domains: Domains, counting: Mask | None) -> Mask:
    ids = domains.ids if counting is None else domains.ids[counting]
    found: Mask = np.bincount(ids, minlength=domains.count + 1)[: domains.count] > 0
    return found


class SpreadSums:
    """Makes the parts of a pod's constraints; the sums are shared by all pods that count the same pods."""

    def __init__(self) -> None:
        self._cache = SumsCache()

    def parts(
        self, table: NodeTable, pod: Pod, constraints: Sequence[Constraint], inclusion: NodeInclusion, all_keys: bool
    ) -> list[_Part]:
        """``all_keys``: a node must have every key; otherwise a missing label is a domain, that of the empty value."""
        own = [domains_of(table.classes, constraint.key) for constraint in constraints]
        everywhere = np.ones(len(table.names), np.bool_)
        keyed = np.logical_and.reduce([domains.present for domains in own]) if all_keys else everywhere
        return [
            self._part(table, pod, constraint, domains, self._counting(table, constraint, inclusion, keyed), all_keys)
            for constraint, domains in zip(constraints, own, strict=True)
        ]

    @staticmethod
    def _counting(table: NodeTable, constraint: Constraint, inclusion: NodeInclusion, keyed: Mask) -> Mask | None:
        counting = keyed
        if not inclusion.unlimited(constraint):
            admitted = (inclusion.admits(constraint, node) for node in table.nodes)
            counting = keyed & np.fromiter(admitted, np.bool_, len(table.nodes))
        return None if counting.all() else counting

    def _part(
        self,
        table: NodeTable,
        pod: Pod,
        constraint: Constraint,
        domains: Domains,
        counting: Mask | None,
        all_keys: bool,
    ) -> _Part:
        present = domains.present
        if not all_keys:
            domains = _with_missing(domains)
        rows = self._rows(table, pod.namespace, constraint)
        key = (constraint.key, all_keys, None if counting is None else counting.tobytes())
        exists = _existing(domains, counting)
        sums = rows.by_domain(key, domains, counting)
        return _Part(constraint, domains, rows, sums, present, exists, int(exists.sum()))

    def _rows(self, table: NodeTable, namespace: str, constraint: Constraint) -> RowSums:
        """Pods that the selector counts: its namespace, not terminating; ``{}`` counts nobody (spec §7.9.2)."""
        matcher = constraint.matcher
        everything = matcher.everything

        def counts(other: Pod) -> int:
            if everything or other.namespace != namespace or other.deletion_timestamp is not None:
                return 0
            return int(matcher.matches(other.labels))

        return self._cache.of(table, (namespace, everything, matcher.equal, matcher.tests), counts)


def _with_missing(domains: Domains) -> Domains:
    """The domains where nodes without the label share that of the empty value (spec §7.9.6)."""
    empty = domains.values.index("") if "" in domains.values else domains.count
    ids = np.where(domains.present, domains.ids, empty)
    return Domains(ids, domains.values if empty < domains.count else (*domains.values, ""), single=False)


def sync(parts: Sequence[_Part]) -> None:
    """Bring the sums of the parts in step with the table."""
    for part in parts:
        part.rows.sync()


# --- filter -----------------------------------------------------------------------------------------------------------


def filter_column(table: NodeTable, pod: Pod, parts: Sequence[_Part], missing: Status, skewed: Status) -> FilterColumn:
    """The hard constraints. ``missing``: the refusal of a node without a key, ``skewed`` that of a domain ahead."""
    # a domain may take the pod while it has at most so many pods more than the emptiest
    slack = [part.constraint.max_skew - int(part.constraint.matcher.matches(pod.labels)) for part in parts]

    def full(part: _Part, ahead: int) -> Mask:
        full: Mask = part.sums.totals > part.minimum() + ahead
        return full

    def passes(view: View) -> Mask:
        sync(parts)
        mask: Mask | None = None
        for part, ahead in zip(parts, slack, strict=True):
            items = part.items(view)
            allowed = ~full(part, ahead)[items.ids]
            if items.present is not None:
                allowed &= items.present
            mask = allowed if mask is None else mask & allowed
        assert mask is not None
        return mask

    def refusals(rows: Rows) -> Refusals:
        sync(parts)
        left = np.ones(len(rows), np.bool_)
        for part, ahead in zip(parts, slack, strict=True):
            absent = ~part.present[rows]
            over = ~absent & full(part, ahead)[part.domains.ids[rows]]
            yield missing, rows[left & absent]
            yield skewed, rows[left & over]
            left &= ~absent & ~over

    splits = [part.domains.ids for part in parts]
    return domain_filter(table, DomainFilter(splits, passes), refusals)


# --- score ------------------------------------------------------------------------------------------------------------


MAX_KINDS = 64
"""Kinds of nodes up to which scores are found per cell."""
FEW = 16
"""Scores up to which they are normalised one by one, which is cheaper (measured)."""


def score_column(parts: Sequence[_Part], all_keys: bool) -> DomainScore:
    """The soft constraints: fewer matching pods in a node's domains is better."""
    rows = len(parts[0].present)
    missing = ~np.logical_and.reduce([part.present for part in parts])
    ignored = missing if all_keys and missing.any() else None
    grid = _Grid.of(parts, all_keys) if ignored is None else None

    def scores(view: View, nodes: NDArray[np.int64] | None) -> Scores:
        sync(parts)
        if nodes is None and grid is not None and grid.covers(view):
            return grid.scores(view)
        active = np.ones(len(view.rows), np.bool_) if nodes is None else nodes > 0
        skipped = None if ignored is None else ignored[view.rows]
        if skipped is not None:
            active &= ~skipped
        scored = None if np.logical_and.reduce(active) else active
        raw: Floats | None = None
        for part in parts:
            weighted = _weighted(part, view, scored)
            raw = weighted if raw is None else np.add(raw, weighted, out=raw)
        assert raw is not None
        found = _normalized(raw, scored)
        return found if skipped is None else np.where(skipped, 0, found)

    splits: list[NDArray[np.intp]] = []
    for part in parts:
        splits += [part.present.astype(np.intp), np.arange(rows) if _is_hostname(part) else part.domains.ids]
    return DomainScore(splits, scores)


@frozen(eq=False)
class _Grid:
    """Scores of all nodes, each of them scored, when one constraint is about single nodes: these score alike when they
    are of one kind (no other constraint tells them apart) and hold as many pods.

    ``parts``: each with the domain of every kind, and the kinds that have its key, None = all.
    """

    parts: Sequence[tuple[_Part, NDArray[np.intp], Mask | None]]
    kinds: int
    cells: Cells

    @classmethod
    def of(cls, parts: Sequence[_Part], all_keys: bool) -> _Grid | None:
        """None when there is no such constraint, or there are too many kinds."""
        single = [part for part in parts if _is_hostname(part)]
        if len(single) != 1:
            return None
        ids = np.zeros(len(single[0].present), np.intp)
        for part in parts:
            ids = 2 * ids + part.present
            if part is not single[0]:
                _, ids = np.unique(ids * (part.domains.count + 1) + part.domains.ids, return_inverse=True)
        _, likes, kinds = np.unique(ids, return_index=True, return_inverse=True)
        if len(likes) > MAX_KINDS:
            return None
        of_kinds = []
        for part in parts:
            present = part.present[likes][:, None]
            of_kinds.append((part, part.domains.ids[likes][:, None], None if present.all() else present))
        key = (all_keys, *(part.constraint.key for part in parts))
        return cls(of_kinds, len(likes), single[0].rows.by_cell(key, kinds, len(likes)))

    def covers(self, view: View) -> bool:
        """Whether the items are all nodes in order."""
        part = self.parts[0][0]
        return len(view.rows) == len(part.present) and isinstance(part.items(view).rows, slice)

    def scores(self, view: View) -> Scores:
        """The score of each node."""
        cells, raw = self.cells, np.zeros((self.kinds, self.cells.width))
        for part, domains, present in self.parts:
            offset = float(part.constraint.max_skew - 1)
            if _is_hostname(part):
                weighted: Floats = np.arange(cells.width) * math.log(len(view.rows) + 2)
            else:
                weighted = (part.sums.totals * math.log(part.items(view).domains + 2)).take(domains)
            weighted += offset
            raw += weighted if present is None else np.where(present, weighted, 0.0)
        return _normalized(raw.ravel(), cells.held > 0).take(cells.ids, mode="clip")


def _is_hostname(part: _Part) -> bool:
    return part.constraint.key == HOSTNAME


def _weighted(part: _Part, view: View, scored: Mask | None) -> Floats:
    """What a constraint adds to the raw score of each item. ``scored``: the items that are scored, None = all."""
    items, offset = part.items(view), float(part.constraint.max_skew - 1)
    if _is_hostname(part):  # counted on the node itself, whatever the policies say; each item is one node
        size = len(view.rows) if scored is None else int(np.count_nonzero(scored))
        weighted: Floats = part.rows.amounts[items.rows] * math.log(size + 2)
        weighted += offset
    else:
        size = items.domains if scored is None else _domains_among(items.ids[scored], part.domains)
        weighted = (part.sums.totals * math.log(size + 2) + offset).take(items.ids)
    return weighted if items.present is None else np.where(items.present, weighted, 0.0)


def _domains_among(ids: NDArray[np.intp], domains: Domains) -> int:
    found = np.zeros(domains.count + 1, np.bool_)
    found[ids] = True
    return int(np.count_nonzero(found))


def _normalized(raw: Floats, kept: Mask | None) -> Scores:
    """The emptiest domains get the most, measured by the raw scores ``kept``, those of scored nodes, None = all."""
    if len(raw) <= FEW:
        scores = [round_half_away(score) for score in raw.tolist()]
        measured = scores if kept is None else list(compress(scores, kept.tolist()))
        lowest, highest = min(measured, default=0), max(measured, default=0)
        return np.array([turned(score, lowest, highest) for score in scores], np.int32)
    rounded = np.trunc(raw)
    rounded += raw - rounded >= 0.5  # halves go away from zero, as no score is negative
    known = rounded if kept is None else rounded[kept]
    least, most = (float(np.minimum.reduce(known)), float(np.maximum.reduce(known))) if len(known) else (0.0, 0.0)
    if most == 0:
        return np.full(len(raw), MAX_NODE_SCORE, np.int32)
    # whole numbers: cutting their quotients in floats divides them as integers
    rest = (most + least) - rounded
    rest *= MAX_NODE_SCORE
    rest /= most
    return rest.astype(np.int32)
