"""Which child of a composite group is tried first, where that depends on what waits below (docs/choices.md).

By name and by creation the Forest keeps children sorted itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial

from attrs import evolve

from gangsched.engine.settings import ChildOrder
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import EntityKey, Pod

Waiting = Mapping[EntityKey, Sequence[QueuedPodInfo]]
Rank = Callable[[PodGroupInfo, Waiting], tuple[object, ...]]


def arranged(tree: PodGroupInfo, waiting: Waiting, order: ChildOrder, table: NodeTable) -> PodGroupInfo:
    """The tree with the children of every group in the order to be tried; of equal ones the first by name comes first.

    ``smallest``: the fewest waiting pods. ``hardest``: first what must stay in one topology domain, then the largest
    single pod (dominant share of the cluster), then the most waiting pods.
    """
    if order in ("name", "creation"):
        return tree
    return _sorted(tree, waiting, _smallness if order == "smallest" else partial(_hardness, _totals(table)))


def _sorted(group: PodGroupInfo, waiting: Waiting, rank: Rank) -> PodGroupInfo:
    children = sorted(group.children, key=lambda child: rank(child, waiting))
    return evolve(group, children=tuple(_sorted(child, waiting, rank) for child in children))


def _pods(group: PodGroupInfo, waiting: Waiting) -> list[Pod]:
    return [info.pod for leaf in group.leaves() for info in waiting.get(leaf.key, ())]


def _smallness(group: PodGroupInfo, waiting: Waiting) -> tuple[int]:
    return (len(_pods(group, waiting)),)


def _hardness(totals: Mapping[str, int], group: PodGroupInfo, waiting: Waiting) -> tuple[bool, Fraction, int]:
    pods = _pods(group, waiting)
    free = not any(below.group.topology_key for below in group.walk())
    largest = max((_dominant_share(pod, totals) for pod in pods), default=Fraction(0))
    return (free, -largest, -len(pods))


def _dominant_share(pod: Pod, totals: Mapping[str, int]) -> Fraction:
    """The largest part of any resource of the cluster that the pod asks for; exact."""
    requested = pod.incoming.requested
    amounts = ((requested.get(name), total) for name, total in totals.items())
    return max((Fraction(asked, total) for asked, total in amounts if asked and total), default=Fraction(0))


def _totals(table: NodeTable) -> Mapping[str, int]:
    """What the nodes have of each resource. O(nodes)."""
    return {name: sum(column) for name, column in table.allocatable.items()}
