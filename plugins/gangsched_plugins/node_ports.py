"""NodePorts: two pods cannot hold one host port of a node (spec node-plugins.md §7.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gangsched_framework.columns import SILENT, Columns, FilterColumn, Refusals
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import Rows
from gangsched_framework.status import Status, skip, unschedulable
from gangsched_plugins.names import NODE_PORTS

_TAKEN = unschedulable("node(s) didn't have free ports for the requested pod ports", plugin=NODE_PORTS)
_EVERY_ADDRESS = "0.0.0.0"  # the IPv6 wildcard is an ordinary text (spec §7.5.2)

HostPort = tuple[str, str, int]
"""(ip, protocol, port)."""


class NodePorts:
    """PreFilter and Filter. Takes no arguments."""

    name = NODE_PORTS
    locality = "node"
    ignores_requests = True
    unprepared: ClassVar[Mapping[str, str]] = {"filter": "reading"}

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        pass

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """Skip for a pod without host ports."""
        return None, None if pod.spec.host_ports else skip()

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Refuse a node where a wanted port is taken. The pod's own ports are not compared with each other."""
        used = node.used_ports
        return _TAKEN if used and _conflict(pod.spec.host_ports, used) else None

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """Only nodes with host ports in use are looked at."""
        wanted = pod.spec.host_ports
        if not wanted:
            return SILENT

        def test(row: int) -> bool:
            used = table.ports.get(row)
            return not used or not _conflict(wanted, used)

        def mask() -> NDArray[np.bool_]:
            passes = np.ones(len(table.names), np.bool_)
            for row in table.ports:
                passes[row] = test(row)
            return passes

        def refusals(rows: Rows) -> Refusals:
            return ((_TAKEN, rows[~mask()[rows]]),)

        def room(rows: Rows) -> NDArray[np.int64]:
            return np.ones(len(rows), np.int64)

        def beside(row: int, others: Sequence[Pod]) -> bool:
            return test(row) and not any(_conflict(wanted, other.spec.host_ports) for other in others)

        return Columns(FilterColumn(mask, refusals, test, room=room, beside=beside))

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """A pod that leaves and had a wanted port, and any new node."""
        yield ClusterEventWithHint(ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE), _after_pod_deleted)
        yield ClusterEventWithHint(ClusterEvent(Resource.NODE, Action.ADD))


def _conflict(wanted: Iterable[HostPort], used: Iterable[HostPort]) -> bool:
    """Whether two triples clash: one protocol, one port, and one address or a wildcard on either side."""
    used = tuple(used)
    for ip, protocol, port in wanted:
        for other_ip, other_protocol, other_port in used:
            if port == other_port and protocol == other_protocol:
                if ip == other_ip or _EVERY_ADDRESS in (ip, other_ip):
                    return True
    return False


def _after_pod_deleted(pod: Pod, old: object, new: object) -> Hint:
    assert isinstance(old, Pod)
    held = old.node_name or old.status.nominated_node_name
    return Hint.QUEUE if held and _conflict(pod.spec.host_ports, old.spec.host_ports) else Hint.SKIP
