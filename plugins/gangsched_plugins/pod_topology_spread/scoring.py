"""Scores of the soft constraints: fewer matching pods in a node's domains is better (spec node-plugins.md §7.9.6)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import define

from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_info import NodeInfo
from gangsched_plugins.common.arithmetic import round_half_away
from gangsched_plugins.pod_topology_spread.constraints import HOSTNAME, Constraint, NodeInclusion, has_keys


@define(eq=False)
class ScoreState:
    """What PreScore leaves for Score.

    ``ignored`` names feasible nodes that lack a key; ``columns`` are matching pods by row; ``counts`` maps scored
    domains to pods, empty for the hostname (counted on the node itself); ``weights`` = ln(number of domains + 2).
    """

    constraints: tuple[Constraint, ...]
    columns: Sequence[Sequence[int]]
    ignored: frozenset[str]
    counts: list[dict[str, int]]
    weights: list[float]

    @classmethod
    def of(
        cls,
        constraints: tuple[Constraint, ...],
        columns: Sequence[Sequence[int]],
        feasible: Sequence[NodeInfo],
        all_keys: bool,
    ) -> ScoreState:
        """Find the scored domains among ``feasible``; ``count`` fills them.

        ``all_keys``: a node must have every key; with system defaults it need not.
        """
        ignored = frozenset(node.name for node in feasible if all_keys and not has_keys(constraints, node.labels))
        counts: list[dict[str, int]] = []
        weights: list[float] = []
        for constraint in constraints:
            domains: dict[str, int] = {}
            if constraint.key == HOSTNAME:
                size = len(feasible) - len(ignored)
            else:
                for node in feasible:
                    if node.name not in ignored:
                        domains[node.labels.get(constraint.key, "")] = 0
                size = len(domains)
            counts.append(domains)
            weights.append(math.log(size + 2))
        return cls(constraints, columns, ignored, counts, weights)

    def count(self, inclusion: NodeInclusion, nodes: Sequence[NodeInfo], all_keys: bool) -> None:
        """Add up the pods of ``nodes``, feasible or not, in the scored domains. O(nodes)."""
        scored = [
            (constraint, inclusion.unlimited(constraint), domains, column)
            for constraint, domains, column in zip(self.constraints, self.counts, self.columns, strict=True)
            if domains
        ]
        for node in nodes if scored else ():
            labels, row = node.labels, node.row
            if all_keys and not has_keys(self.constraints, labels):
                continue
            for constraint, unlimited, domains, column in scored:
                domain = labels.get(constraint.key, "")
                if domain in domains and (unlimited or inclusion.admits(constraint, node.node)):
                    domains[domain] += column[row]

    def score(self, node: NodeInfo) -> int:
        """Weighted number of matching pods in the node's domains; 0 for ignored nodes."""
        if node.name in self.ignored:
            return 0
        score = 0.0
        parts = zip(self.constraints, self.counts, self.columns, self.weights, strict=True)
        for constraint, domains, column, weight in parts:
            domain = node.labels.get(constraint.key)
            if domain is None:
                continue
            count = column[node.row] if constraint.key == HOSTNAME else domains[domain]
            # float64 in this order of operations, as the real scheduler (spec §9)
            score += count * weight + float(constraint.max_skew - 1)
        return round_half_away(score)

    def normalize(self, nodes: Sequence[NodeInfo], scores: list[int]) -> None:
        """Turn the scores round over the nodes that are not ignored; those stay at 0."""
        kept = [score for node, score in zip(nodes, scores, strict=True) if node.name not in self.ignored]
        lowest, highest = min(kept, default=0), max(kept, default=0)
        for i, node in enumerate(nodes):
            if node.name in self.ignored:
                scores[i] = 0
            else:
                scores[i] = turned(scores[i], lowest, highest)


def turned(score: int, lowest: int, highest: int) -> int:
    """The emptiest domains get the most."""
    return MAX_NODE_SCORE if highest == 0 else MAX_NODE_SCORE * (highest + lowest - score) // highest
