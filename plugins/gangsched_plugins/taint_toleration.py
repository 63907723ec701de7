"""TaintToleration: hard taints refuse, soft taints cost score (spec node-plugins.md §7.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from gangsched_framework.columns import Columns, filter_by_class, score_by_class
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node, Pod
from gangsched_framework.status import Status, unresolvable
from gangsched_plugins.common.normalize import normalize_by_maximum
from gangsched_plugins.common.tolerations import (
    comparison_operators,
    untolerated_hard_taint,
    untolerated_soft_taints,
)
from gangsched_plugins.names import TAINT_TOLERATION

# Since 1.37 the message no longer names the taint (spec §7.3.2).
_REFUSED = unresolvable("node(s) had untolerated taint(s)", plugin=TAINT_TOLERATION)


class TaintToleration:
    """PreFilter (nothing), Filter, PreScore (nothing), Score. Takes no arguments."""

    name = TAINT_TOLERATION
    locality = "node"
    ignores_requests = True
    unprepared: ClassVar[Mapping[str, str]] = {"score": "failed to read"}

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._comparison = comparison_operators(handle.feature_gates)

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """Nothing to prepare, never skips."""
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Refuse a node with a NoSchedule or NoExecute taint the pod does not tolerate."""
        return self._verdict(pod, node.node)

    def _verdict(self, pod: Pod, node: Node) -> Status | None:
        return _REFUSED if node.taints and self._closed_to(pod, node) else None

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Nothing to prepare, never skips (spec §7.3.4)."""
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Number of PreferNoSchedule taints the pod does not tolerate."""
        return self._soft_taints(pod, node.node)

    def _soft_taints(self, pod: Pod, node: Node) -> int:
        taints = node.taints
        return untolerated_soft_taints(taints, pod.spec.tolerations, self._comparison) if taints else 0

    def normalize_score(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]
    ) -> Status | None:
        """Fewer taints, more points; 100 everywhere when no node has any."""
        normalize_by_maximum(scores, reverse=True)
        return None

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """One verdict and one count per distinct list of taints."""
        classes = table.classes.by_taints()
        return Columns(
            filter_by_class(classes, lambda node: self._verdict(pod, node)),
            score_by_class(classes, lambda node: self._soft_taints(pod, node), "reversed"),
        )

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """A node that becomes free of hard taints the pod minds, and any change of the pod's own tolerations."""
        node = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT)
        yield ClusterEventWithHint(node, self._after_node_change)
        toleration = ClusterEvent(Resource.TARGET_POD, Action.UPDATE_POD_TOLERATION)
        yield ClusterEventWithHint(toleration, _after_toleration_change)

    def _after_node_change(self, pod: Pod, old: object, new: object) -> Hint:
        assert isinstance(new, Node)
        closed_before = not isinstance(old, Node) or self._closed_to(pod, old)
        return Hint.QUEUE if closed_before and not self._closed_to(pod, new) else Hint.SKIP

    def _closed_to(self, pod: Pod, node: Node) -> bool:
        return untolerated_hard_taint(node.taints, pod.spec.tolerations, self._comparison) is not None


def _after_toleration_change(pod: Pod, old: object, new: object) -> Hint:
    return Hint.QUEUE
