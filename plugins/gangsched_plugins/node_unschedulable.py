"""NodeUnschedulable: cordoned nodes take only pods that tolerate it (spec node-plugins.md §7.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gangsched_framework.columns import Columns, filter_by_class
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node, Pod, Taint
from gangsched_framework.status import Status, unresolvable
from gangsched_plugins.common.tolerations import comparison_operators, tolerated
from gangsched_plugins.names import NODE_UNSCHEDULABLE

_CORDONED = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
"""The taint a cordoned node is judged by, whether or not it carries it."""
_REFUSED = unresolvable("node(s) were unschedulable", plugin=NODE_UNSCHEDULABLE)


class NodeUnschedulable:
    """PreFilter (nothing) and Filter. Takes no arguments."""

    name = NODE_UNSCHEDULABLE
    locality = "node"
    ignores_requests = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._comparison = comparison_operators(handle.feature_gates)

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """Nothing to prepare: few nodes are cordoned."""
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Refuse a cordoned node unless the pod tolerates the taint that stands for it."""
        return self._verdict(pod, node.node)

    def _verdict(self, pod: Pod, node: Node) -> Status | None:
        if not node.unschedulable or self._tolerated_by(pod):
            return None
        return _REFUSED

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """One verdict for open nodes, one for cordoned ones."""
        return Columns(filter_by_class(table.classes.by_unschedulable(), lambda node: self._verdict(pod, node)))

    def _tolerated_by(self, pod: Pod) -> bool:
        return tolerated(_CORDONED, pod.spec.tolerations, self._comparison)

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """A node that is or becomes open, and a toleration of the pod's own."""
        node = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT)
        yield ClusterEventWithHint(node, _after_node_change)
        toleration = ClusterEvent(Resource.TARGET_POD, Action.UPDATE_POD_TOLERATION)
        yield ClusterEventWithHint(toleration, self._after_toleration_change)

    def _after_toleration_change(self, pod: Pod, old: object, new: object) -> Hint:
        assert isinstance(new, Pod)
        return Hint.QUEUE if self._tolerated_by(new) else Hint.SKIP


def _after_node_change(pod: Pod, old: object, new: object) -> Hint:
    assert isinstance(new, Node)
    opened = not isinstance(old, Node) or old.unschedulable
    return Hint.QUEUE if opened and not new.unschedulable else Hint.SKIP
