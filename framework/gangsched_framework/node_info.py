"""NodeInfo: a node as plugins see it. A view of one row of the node table, never a second store (architecture §5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gangsched_framework.objects import Node, Pod
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

if TYPE_CHECKING:
    from gangsched_framework.node_table import NodeTable


class NodeInfo:
    """Read-only view of a node: the API object, the pods on it, and the sums over them.

    Amounts: milli-CPU, bytes, counts. ``requested`` sums §3.4 of node-plugins.md, ``nonzero_*`` its §3.5; assigned,
    assumed and terminating pods count.
    """

    __slots__ = ("_table", "labels", "name", "node", "row")

    def __init__(self, table: NodeTable, row: int, node: Node) -> None:
        self._table = table
        self.row = row
        self.node = node
        self.name = node.name
        self.labels = node.labels

    @property
    def allocatable(self) -> Resources:
        return self.node.allocatable

    def requested(self, resource: str) -> int:
        """Sum of the pods' requests of ``resource`` (``pods`` = their number)."""
        column = self._table.counted().used.get(resource)
        return column[self.row] if column is not None else 0

    @property
    def requested_milli_cpu(self) -> int:
        return self._table.counted().used[CPU][self.row]

    @property
    def requested_memory(self) -> int:
        return self._table.counted().used[MEMORY][self.row]

    @property
    def requested_ephemeral_storage(self) -> int:
        return self._table.counted().used[EPHEMERAL_STORAGE][self.row]

    @property
    def nonzero_milli_cpu(self) -> int:
        return self._table.counted().nonzero_cpu[self.row]

    @property
    def nonzero_memory(self) -> int:
        return self._table.counted().nonzero_memory[self.row]

    @property
    def pod_count(self) -> int:
        return self._table.counted().used[PODS][self.row]

    @property
    def pods(self) -> Mapping[str, Pod]:
        """Pods of the node by ``namespace/name``, in order of arrival."""
        return self._table.pods[self.row]

    @property
    def pods_with_affinity(self) -> Mapping[str, Pod]:
        """Those with any pod (anti-)affinity term."""
        return self._table.affinity_pods.get(self.row, _EMPTY)

    @property
    def used_ports(self) -> Mapping[tuple[str, str, int], int]:
        """Host ports in use, ``(ip, protocol, port)``. A set (spec node-plugins.md §7.5.3): values carry no meaning."""
        return self._table.ports.get(self.row, _NO_PORTS)

    def image_size(self, name: str) -> int:
        """Size in bytes of image ``name`` if this node has it, else 0: the first reporter's size (§3.6)."""
        return self._table.images.size(self.name, name)

    def __repr__(self) -> str:
        return f"NodeInfo({self.name})"


_EMPTY: dict[str, Pod] = {}
_NO_PORTS: dict[tuple[str, str, int], int] = {}
