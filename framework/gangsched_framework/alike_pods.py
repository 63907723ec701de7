"""Putting a run of like pods on their nodes at once, in thought: what is the same for all of them is looked up once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gangsched_framework.errors import InvariantError
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod

if TYPE_CHECKING:
    from gangsched_framework.snapshot import Step


def add_alike(table: NodeTable, pods: Sequence[Pod], rows: Sequence[int], steps: list[Step]) -> list[str] | None:
    """``NodeTable.add_pod`` of each pod on its row, a step each; returns the names of their nodes. O(pods).

    They request the same, are of one priority, and have neither status amounts nor affinity terms nor host ports.
    None, and nothing is done, when sums might grow too large: then they are to be added singly.
    """
    if not table.sums.note(rows, pods[0].spec.requests):
        return None
    stand, names = table.pods, table.names
    nodes: list[str] = []
    for pod in pods:
        row = rows[len(nodes)]  # for a gang of three `zip` costs twice as much
        on_node, key, node = stand[row], pod.key, names[row]
        if key in on_node:
            raise InvariantError(f"pod {key} is already on {node}")
        on_node[key] = pod
        nodes.append(node)
        steps.append((1, pod, node, None))
    table.priorities[pods[0].priority] += len(pods)
    if table.moves is not None:
        table.moves += [(pod, row, 1) for pod, row in zip(pods, rows, strict=True)]
    return nodes
