"""Putting a run of like pods on their nodes at once, in thought: what is the same for all of them is looked up once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gangsched_framework.errors import InvariantError
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS

if TYPE_CHECKING:
    from gangsched_framework.snapshot import Step


def add_alike(table: NodeTable, pods: Sequence[Pod], rows: Sequence[int], steps: list[Step]) -> list[str]:
    """``NodeTable.add_pod`` of each pod on its row, a step each; returns the names of their nodes. O(pods).

    They request the same, are of one priority, and have neither status amounts nor affinity terms nor host ports.
    Raises OverflowError, and nothing is done, when a sum would grow too large.
    """
    requests, used = pods[0].spec.requests, table.used
    amounts, nonzero_cpu, nonzero_memory = requests.requested, table.nonzero_cpu, table.nonzero_memory
    counts, cpu, memory = used[PODS], used[CPU], used[MEMORY]
    milli_cpu, memory_bytes = amounts.milli_cpu, amounts.memory
    nonzero_milli_cpu, nonzero_bytes = requests.nonzero_milli_cpu, requests.nonzero_memory
    others = [(table.column(name)[0], amount) for name, amount in amounts.scalars.items()] if amounts.scalars else []
    if amounts.ephemeral_storage:
        others.append((used[EPHEMERAL_STORAGE], amounts.ephemeral_storage))
    stand, names = table.pods, table.names
    nodes: list[str] = []
    try:
        for pod in pods:
            row = rows[len(nodes)]  # for a gang of three `zip` costs twice as much
            cpu[row] += milli_cpu
            memory[row] += memory_bytes
            nonzero_cpu[row] += nonzero_milli_cpu
            nonzero_memory[row] += nonzero_bytes
            if others:
                for column, amount in others:
                    column[row] += amount
            on_node, key, node = stand[row], pod.key, names[row]
            if key in on_node:
                raise InvariantError(f"pod {key} is already on {node}")
            on_node[key] = pod
            counts[row] = len(on_node)
            nodes.append(node)
            steps.append((1, pod, node, None))
    except OverflowError:
        done = len(nodes)
        del steps[len(steps) - done :]
        for pod, row in zip(pods[:done], rows, strict=False):
            del stand[row][pod.key]
        for row in rows[: done + 1]:
            table.recount(row)
        raise
    table.priorities[pods[0].priority] += len(pods)
    table.touched += rows
    if table.moves is not None:
        table.moves += [(pod, row, 1) for pod, row in zip(pods, rows, strict=True)]
    return nodes
