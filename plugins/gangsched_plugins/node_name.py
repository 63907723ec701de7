"""NodeName: a pod that names its node runs there or nowhere (spec node-plugins.md §7.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gangsched_framework.columns import SILENT, Columns
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status, unresolvable
from gangsched_plugins.names import NODE_NAME

_OTHER_NODE = unresolvable("node(s) didn't match the requested node name", plugin=NODE_NAME)


class NodeName:
    """PreFilter and Filter. Takes no arguments."""

    name = NODE_NAME
    locality = "node"
    ignores_requests = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        pass

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """Narrow the search to the named node."""
        return (frozenset((pod.node_name,)) if pod.node_name else None), None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Refuse every node but the named one."""
        return _OTHER_NODE if pod.node_name and pod.node_name != node.name else None

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """Silent unless the pod names a node; then the search is narrowed, which columns cannot do."""
        return None if pod.node_name else SILENT

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """Any new node may bear the name."""
        yield ClusterEventWithHint(ClusterEvent(Resource.NODE, Action.ADD))
