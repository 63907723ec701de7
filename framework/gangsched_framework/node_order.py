"""The order in which nodes are searched: by name, or the real scheduler's zone-interleaved list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node

NodeOrder = Callable[[NodeTable], Sequence[int]]
"""Rows of a settled table in search order."""

_REGION = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
_ZONE = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


def by_name(table: NodeTable) -> Sequence[int]:
    """``nodeOrder: name``: rows are in name order already."""
    return range(len(table.names))


def upstream(table: NodeTable) -> Sequence[int]:
    """``nodeOrder: upstream``: one node of each zone in turn, zones by first appearance (node-plugins.md §3.7)."""
    zones: dict[tuple[str, str], list[int]] = {}
    for node in table.known_nodes():
        zones.setdefault(zone_of(node), []).append(table.row_of[node.name])
    order: list[int] = []
    depth = 0
    while len(order) < len(table.names):
        order += [rows[depth] for rows in zones.values() if depth < len(rows)]
        depth += 1
    return order


def zone_of(node: Node) -> tuple[str, str]:
    """(region, zone) of a node; ('', '') when it names neither."""
    return (_first(node, _REGION), _first(node, _ZONE))


def _first(node: Node, keys: tuple[str, ...]) -> str:
    return next((node.labels[k] for k in keys if node.labels.get(k)), "")
