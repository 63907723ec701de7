"""Nodes grouped by what their API objects say, so that a rule is asked once per kind of node and not once per node.

A cluster has few distinct taint lists and few distinct combinations of the labels a pod asks about. A plugin whose
verdict reads only those asks its per-node form for one representative of each class; numpy spreads the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from gangsched_framework.objects import Node


@frozen(eq=False)
class NodeClass:
    """``ids`` gives each row its class; ``nodes`` holds one representative per class."""

    ids: NDArray[np.int32]
    nodes: tuple[Node, ...]


class NodeClasses:
    """Classes of the nodes of one table, made when first asked for; renewed when a node's object changes.

    ``version`` counts the renewals: what was derived from an older version is stale.
    """

    def __init__(self, nodes: Sequence[Node], version: int) -> None:
        self.version = version
        self._nodes = nodes
        self._known: dict[Hashable, NodeClass] = {}

    def renewed(self, nodes: Sequence[Node]) -> NodeClasses:
        """The classes after a change."""
        return NodeClasses(nodes, self.version + 1)

    def by_taints(self) -> NodeClass:
        """Nodes with equal lists of taints."""
        return self._by("taints", attrgetter("taints"))

    def by_unschedulable(self) -> NodeClass:
        """Open and cordoned nodes."""
        return self._by("unschedulable", attrgetter("unschedulable"))

    def by_labels(self, keys: tuple[str, ...]) -> NodeClass:
        """Nodes with equal values of these labels (absent counts as a value of its own)."""
        if len(keys) == 1:
            key = keys[0]
            return self._by(keys, lambda node: node.labels.get(key))
        return self._by(keys, (lambda node: tuple(map(node.labels.get, keys))) if keys else None)

    def _by(self, name: Hashable, kind: Callable[[Node], Hashable] | None) -> NodeClass:
        """Numbered in the order of their first nodes, which represent them; without ``kind`` all nodes are alike."""
        known = self._known.get(name)
        if known is None:
            nodes = self._nodes
            kinds = [None] if kind is None else list(map(kind, nodes))
            numbers = {each: number for number, each in enumerate(dict.fromkeys(kinds))}
            if len(numbers) > 1:
                first = dict(zip(reversed(kinds), reversed(nodes), strict=True))  # what is written last stays
                ids = np.fromiter(map(numbers.__getitem__, kinds), np.int32, len(nodes))
                known = NodeClass(ids, tuple(map(first.__getitem__, numbers)))
            else:
                known = NodeClass(np.zeros(len(nodes), np.int32), tuple(nodes[:1]))
            self._known[name] = known
        return known
