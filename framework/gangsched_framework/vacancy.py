"""Taking many pods off a node at once, in thought: one step for the node instead of one for each pod."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS

Amounts = tuple[tuple[str, int], ...]


@frozen(eq=False)
class Vacancy:
    """Pods of one row that leave together, and what they take along. Pods with host ports or affinity terms cannot."""

    row: int
    pods: tuple[Pod, ...]
    amounts: Amounts
    nonzero_cpu: int
    nonzero_memory: int
    leaves: tuple[EntityKey, ...]
    """Group of each pod that has one."""

    @classmethod
    def of(cls, row: int, pods: Iterable[Pod]) -> Vacancy | None:
        """None when a pod cannot leave this way."""
        leaving = tuple(pods)
        amounts = {PODS: len(leaving)}
        cpu = memory = 0
        for pod in leaving:
            if pod.spec.host_ports or pod.spec.has_affinity:
                return None
            usage = pod.usage
            for name in (CPU, MEMORY, EPHEMERAL_STORAGE, *usage.requested.scalars):
                amounts[name] = amounts.get(name, 0) + usage.requested.get(name)
            cpu += usage.nonzero_milli_cpu
            memory += usage.nonzero_memory
        leaves = tuple(pod.group_key for pod in leaving if pod.group_key is not None)
        return cls(row, leaving, tuple((n, amount) for n, amount in amounts.items() if amount), cpu, memory, leaves)


def vacate(table: NodeTable, vacancy: Vacancy) -> dict[str, Pod]:
    """Take the pods off; returns what ``reoccupy`` needs. O(pods of the row)."""
    row = vacancy.row
    stood = table.pods[row]
    left = dict(stood)
    for pod in vacancy.pods:
        del left[pod.key]
        table.priorities.remove(pod.priority)
    table.pods[row] = left
    _shift(table, vacancy, -1)
    return stood


def reoccupy(table: NodeTable, vacancy: Vacancy, stood: dict[str, Pod]) -> None:
    """Put the pods back where they stood."""
    table.pods[vacancy.row] = stood
    for pod in vacancy.pods:
        table.priorities[pod.priority] += 1
    _shift(table, vacancy, 1)


def _shift(table: NodeTable, vacancy: Vacancy, sign: int) -> None:
    row, sums = vacancy.row, table.counted()
    for resource, amount in vacancy.amounts:
        sums.used[resource][row] += sign * amount
    sums.nonzero_cpu[row] += sign * vacancy.nonzero_cpu
    sums.nonzero_memory[row] += sign * vacancy.nonzero_memory
    sums.log.append(row)
    if table.moves is not None:
        table.moves += [(pod, row, sign) for pod in vacancy.pods]
