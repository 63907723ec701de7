"""The columnar form of inter-pod affinity: ``filtering`` and ``scoring`` over domains (spec node-plugins.md §7.10.2-4).

A key whose domains are single nodes makes anti-affinity a matter of the node alone; everything else is asked per
domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from gangsched_framework.columns import DomainFilter, DomainScore, FilterColumn, Refusals, Scores, View
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.status import Status
from gangsched_plugins.common.pod_sums import Domains, DomainSums, Mask, RowSums, SumsCache, Totals, domains_of
from gangsched_plugins.inter_pod_affinity.templates import Regard, Templates
from gangsched_plugins.inter_pod_affinity.terms import NO_LABELS, PodTerms, Term, Terms, matches_all, preferences


@frozen(eq=False)
class _Count:
    """Pods, or their weights, per domain of one topology key."""

    domains: Domains
    present: Mask
    rows: RowSums
    sums: DomainSums

    def at(self, rows: Rows) -> Totals:
        """The sum in the domain of each of ``rows``; 0 for those without a domain."""
        return np.where(self.present[rows], self.sums.totals[self.domains.ids[rows]], 0)

    def none(self) -> bool:
        """Whether no domain has any; the last sum is that outside all."""
        return not self.sums.totals[:-1].any()


class AffinitySums:
    """Makes the counts; the sums are shared by all pods that ask for the same."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._cache = SumsCache()

    def _count(self, table: NodeTable, key: str, rows: RowSums) -> _Count:
        domains = domains_of(table.classes, key)
        return _Count(domains, domains.present, rows, rows.by_domain(key, domains))

    def matching(self, table: NodeTable, terms: Terms, keys: Iterable[str]) -> list[_Count]:
        """Pods that match all of ``terms``, per key."""
        meaning = ("all", *(term.meaning for term in terms))
        rows = self._cache.of(table, meaning, lambda other: int(matches_all(terms, other)))
        return [self._count(table, key, rows) for key in dict.fromkeys(keys)]

    def repelling(self, table: NodeTable, regards: Sequence[Regard]) -> list[_Count]:
        """Anti-affinity terms of running pods that are about the incoming one, per key."""
        keys = dict.fromkeys(key for regard in regards for key, _ in regard.repelling)
        return [self._weighed(table, key, (), _amounts_of(regards, key, repelling=True)) for key in keys]

    def weights(self, table: NodeTable, terms: PodTerms, regards: Sequence[Regard]) -> list[_Count]:
        """What own preferences and the terms of running pods add to the score, per key."""
        own = preferences(terms)
        keys = [term.key for term, _ in own] + [key for regard in regards for key, _ in regard.weights]
        return [
            self._weighed(
                table, key, [(t, w) for t, w in own if t.key == key], _amounts_of(regards, key, repelling=False)
            )
            for key in dict.fromkeys(keys)
        ]

    def _weighed(self, table: NodeTable, key: str, own: Sequence[tuple[Term, int]], theirs: dict[int, int]) -> _Count:
        templates = self._templates

        def weight(other: Pod) -> int:
            total = 0
            for term, amount in own:
                if term.matches(other, NO_LABELS):
                    total += amount
            if theirs and other.spec.has_affinity:
                total += theirs.get(templates.number(other), 0)
            return total

        meaning = ("sum", tuple((term.meaning, amount) for term, amount in own), tuple(theirs.items()))
        return self._count(table, key, self._cache.of(table, meaning, weight, sparse=not own))


def _amounts_of(regards: Sequence[Regard], key: str, *, repelling: bool) -> dict[int, int]:
    """Template -> amount for one topology key."""
    amounts: dict[int, int] = {}
    for regard in regards:
        for found, amount in regard.repelling if repelling else regard.weights:
            if found == key:
                amounts[regard.template] = amount
    return amounts


# --- filter -----------------------------------------------------------------------------------------------------------


@frozen(eq=False)
class Rules:
    """The required terms that bear on a pod.

    ``near``: counts of pods that match all own affinity terms, per key; ``alone``: with no such pod anywhere the pod
    may be the first of its group; ``anywhere``: a match outside every domain counts as one (hostname fast path, spec
    §7.10.6). ``away``: of pods that match an own anti-affinity term; ``repelling``: of terms that keep the pod away.
    """

    near: Sequence[_Count]
    alone: bool
    anywhere: bool
    away: Sequence[_Count]
    repelling: Sequence[_Count]

    def sync(self) -> None:
        """Bring all sums in step with the table."""
        for count in (*self.near, *self.away, *self.repelling):
            count.rows.sync()

    def far(self, rows: Rows) -> Mask:
        """Which rows the own affinity refuses."""
        met = np.ones(len(rows), np.bool_)
        if not self.near:
            return ~met
        keyed = met.copy()
        for count in self.near:
            keyed &= count.present[rows]
            met &= count.at(rows) > 0
        if self.alone and self._nobody():
            met[:] = True
        refused: Mask = ~(keyed & met)
        return refused

    def _nobody(self) -> bool:
        if not all(count.none() for count in self.near):
            return False
        everywhere = self.near[0].rows.amounts
        return not (self.anywhere and everywhere.any())


def _struck(counts: Sequence[_Count], rows: Rows) -> Mask:
    """Which rows have a count in one of their domains."""
    struck = np.zeros(len(rows), np.bool_)
    for count in counts:
        struck |= count.at(rows) > 0
    return struck


def filter_column(rules: Rules, affinity: Status, anti: Status, existing: Status) -> FilterColumn | None:
    """The filter and its three refusals; None when nothing bears on the pod."""
    against = [*rules.away, *rules.repelling]
    if not against and not rules.near:
        return None
    single = [count for count in against if count.domains.single]
    shared = [count for count in against if not count.domains.single]
    present = [count.present.tolist() for count in single]
    tests = list(zip([count.rows for count in single], present, strict=True))
    nodes = len(present[0]) if present else len((shared or rules.near)[0].present)

    def mask() -> Mask:
        passes = np.ones(nodes, np.bool_)
        for count in single:
            count.rows.sync()
            passes &= ~(count.present & (count.rows.amounts > 0))
        return passes

    def test(row: int) -> bool:
        for rows, here in tests:
            rows.sync()
            if rows.counts[row] > 0 and here[row]:
                return False
        return True

    def passes(view: View) -> Mask:
        rules.sync()
        allowed: Mask = ~(rules.far(view.rows) | _struck(shared, view.rows))
        return allowed

    def refusals(rows: Rows) -> Refusals:
        rules.sync()
        left = np.ones(len(rows), np.bool_)
        for status, refused in (
            (affinity, rules.far(rows)),
            (anti, _struck(rules.away, rows)),
            (existing, _struck(rules.repelling, rows)),
        ):
            yield status, rows[left & refused]
            left &= ~refused

    domain = None
    if shared or rules.near:
        domain = DomainFilter([count.domains.ids for count in (*shared, *rules.near)], passes)
    return FilterColumn(mask, refusals, test if single else None, domain)


# --- score ------------------------------------------------------------------------------------------------------------


def score_column(counts: Sequence[_Count]) -> DomainScore | None:
    """Weights in a node's domains, spread over 0…100; None when there are none."""
    if not counts:
        return None

    def scores(view: View, nodes: NDArray[np.int64] | None) -> Scores:
        raw = np.zeros(len(view.rows), np.int64)
        for count in counts:
            count.rows.sync()
            raw += count.at(view.rows)
        feasible = raw if nodes is None else raw[nodes > 0]
        lowest, highest = int(feasible.min()), int(feasible.max())
        if lowest == highest:
            return np.zeros(len(raw), np.int64)
        # float64 in the order of the per-node form, truncated
        return (MAX_NODE_SCORE * ((raw - lowest) / (highest - lowest))).astype(np.int64)

    return DomainScore([count.domains.ids for count in counts], scores)
