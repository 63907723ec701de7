"""Putting a run of like pods on their nodes at once, in thought: what is the same for all of them is looked up once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

from gangsched_framework.errors import InvariantError
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS


def add_alike(table: NodeTable, pods: Sequence[Pod], rows: Sequence[int]) -> None:
    """``NodeTable.add_pod`` of each pod on its row. O(pods).

    They request the same, are of one priority, and have neither status amounts nor affinity terms nor host ports.
    """
    requests, used = pods[0].spec.requests, table.used
    amounts, nonzero_cpu, nonzero_memory = requests.requested, table.nonzero_cpu, table.nonzero_memory
    counts, cpu, memory = used[PODS], used[CPU], used[MEMORY]
    milli_cpu, memory_bytes = amounts.milli_cpu, amounts.memory
    nonzero_milli_cpu, nonzero_bytes = requests.nonzero_milli_cpu, requests.nonzero_memory
    others = [(table.column(name)[0], amount) for name, amount in amounts.scalars.items()] if amounts.scalars else []
    if amounts.ephemeral_storage:
        others.append((used[EPHEMERAL_STORAGE], amounts.ephemeral_storage))
    try:
        for row in rows:
            counts[row] += 1
            cpu[row] += milli_cpu
            memory[row] += memory_bytes
            nonzero_cpu[row] += nonzero_milli_cpu
            nonzero_memory[row] += nonzero_bytes
        for column, amount in others:
            for row in rows:
                column[row] += amount
    except OverflowError:
        for row in rows:
            table.recount(row)
        for pod, row in zip(pods, rows, strict=True):
            table.add_pod(pod, table.names[row])  # one of them is too much: it raises and names it
    stand = table.pods
    for pod, row in zip(pods, rows, strict=True):
        on_node, key = stand[row], pod.key
        if key in on_node:
            raise InvariantError(f"pod {key} is already on {table.names[row]}")
        on_node[key] = pod
    table.priorities[pods[0].priority] += len(pods)
    table.touched += rows
    if table.moves is not None:
        table.moves += zip(pods, rows, repeat(1), strict=False)
