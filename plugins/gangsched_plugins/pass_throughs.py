"""Plugins that stand in the default profile and have nothing to say about what this scheduler models.

Volumes, resource claims and declared features are not modelled (spec node-plugins.md §8.1, §8.2, §8.4). Pods without
them pass: PreFilter skips and scores are 0, as the real plugins do. Pods with claims are refused by name, because no
claim can ever be bound here. The points and events are the real ones, so profiles and reports read the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gangsched_framework.columns import SILENT, Columns
from gangsched_framework.cycle_state import CycleState, PodGroupCycleState
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PoppedPodGroupInfo
from gangsched_framework.interface import PodGroupPostFilterResult, PostFilterResult, SchedulingFunction
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node, Pod
from gangsched_framework.status import Status, error, skip, unresolvable, unschedulable
from gangsched_plugins.common.normalize import normalize_by_maximum
from gangsched_plugins.names import (
    DYNAMIC_RESOURCES,
    NODE_DECLARED_FEATURES,
    NODE_VOLUME_LIMITS,
    VOLUME_BINDING,
    VOLUME_RESTRICTIONS,
    VOLUME_ZONE,
)

PreFilterAnswer = tuple[frozenset[str] | None, Status | None]
_CHANGE = Action.ADD | Action.UPDATE


class _Silent:
    """PreFilter and Filter that concern no pod."""

    locality = "node"
    ignores_requests = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        pass

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> PreFilterAnswer:
        """Skip."""
        return None, skip()

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Every node will do."""
        return None

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """Silent for pods without claims; the others are refused before nodes are looked at."""
        return None if pod.spec.claims or pod.spec.resource_claims else SILENT


class _SilentOnClaimlessPods(_Silent):
    """The same for pods without claims; a pod with claims is left to VolumeBinding."""

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> PreFilterAnswer:
        """Skip for a pod without volume claims."""
        return None, None if pod.spec.claims else skip()


class VolumeRestrictions(_Silent):
    """PreFilter and Filter. Takes no arguments."""

    name = VOLUME_RESTRICTIONS

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        yield _registration(Resource.ASSIGNED_POD, Action.DELETE)
        yield _always(Resource.NODE, Action.ADD)
        yield _registration(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD)


class NodeVolumeLimits(_SilentOnClaimlessPods):
    """PreFilter and Filter. Takes no arguments."""

    name = NODE_VOLUME_LIMITS

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        yield _registration(Resource.ASSIGNED_POD, Action.DELETE)
        yield _registration(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD)
        yield _always(Resource.CSI_NODE, Action.ADD)
        yield _registration(Resource.CSI_NODE, Action.UPDATE)
        yield _registration(Resource.VOLUME_ATTACHMENT, Action.DELETE)


class VolumeBinding(_Silent):
    """PreFilter, Filter, PreScore, Score, Reserve, PreBind. Its arguments decide nothing without volumes."""

    name = VOLUME_BINDING
    inert = ("reserve", "preBind")

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> PreFilterAnswer:
        """Skip for a pod without claims; refuse one with claims, which nobody binds."""
        if not pod.spec.claims:
            return None, skip()
        return None, unresolvable("pod has unbound immediate PersistentVolumeClaims", plugin=self.name)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Never skips."""
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """0 on every node (spec §1.1)."""
        return 0

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        return None

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        yield _always(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        yield _always(Resource.PERSISTENT_VOLUME, _CHANGE)
        yield _registration(Resource.PERSISTENT_VOLUME_CLAIM, _CHANGE)
        yield _registration(Resource.CSI_DRIVER, Action.UPDATE)
        yield _registration(Resource.CSI_NODE, _CHANGE)
        yield _registration(Resource.CSI_STORAGE_CAPACITY, _CHANGE)
        yield _registration(Resource.STORAGE_CLASS, _CHANGE)


class VolumeZone(_SilentOnClaimlessPods):
    """PreFilter and Filter. Takes no arguments."""

    name = VOLUME_ZONE

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        yield _always(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        yield _registration(Resource.PERSISTENT_VOLUME, _CHANGE)
        yield _registration(Resource.PERSISTENT_VOLUME_CLAIM, _CHANGE)
        yield _registration(Resource.STORAGE_CLASS, Action.ADD)


class DynamicResources(_Silent):
    """PreEnqueue, PreFilter, Filter, PostFilter, PodGroupPostFilter, Score, Reserve, PreBind. Timeouts are unused."""

    name = DYNAMIC_RESOURCES
    inert = ("reserve", "preBind")
    pre_enqueue_scope = "pod"
    _seen = f"PreFilter{DYNAMIC_RESOURCES}"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Refuse a pod with resource claims: none is known here."""
        return _claim_not_found(pod)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> PreFilterAnswer:
        """Skip for a pod without resource claims, but leave the mark that PostFilter looks for."""
        state.write(self._seen, True)
        return None, _claim_not_found(pod) or skip()

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[PostFilterResult | None, Status | None]:
        """Never helps; an Error when PreFilter ended before this plugin's turn, as upstream (spec §7.13)."""
        if state.read(self._seen) is None:
            return None, error("not found", plugin=self.name)
        return None, unschedulable(plugin=self.name)

    def pod_group_post_filter(
        self, state: PodGroupCycleState, root: PoppedPodGroupInfo, schedule: SchedulingFunction
    ) -> tuple[PodGroupPostFilterResult | None, Status | None]:
        """Never helps; upstream's Error for a group rejected before its first pod is not copied (DIV-21)."""
        return None, unschedulable(plugin=self.name)

    def powerless(self, priority: int) -> bool:
        """Always."""
        return True

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """0 on every node (spec §8.2)."""
        return 0

    def normalize_score(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]
    ) -> Status | None:
        """The default mapping, which leaves zeros alone."""
        normalize_by_maximum(scores)
        return None

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        return None

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        node = Action.ADD | Action.UPDATE_NODE_ALLOCATABLE | Action.UPDATE_NODE_LABEL
        yield _always(Resource.NODE, node)
        yield _registration(Resource.TARGET_POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
        yield _always(Resource.DEVICE_CLASS, _CHANGE)
        yield _registration(Resource.RESOURCE_CLAIM, Action.ALL)
        yield _always(Resource.RESOURCE_SLICE, _CHANGE)


class NodeDeclaredFeatures(_Silent):
    """PreFilter and Filter. What features a pod requires is not derived (spec §11). Takes no arguments."""

    name = NODE_DECLARED_FEATURES

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """A node that comes or declares other features; a pod's requirements never change here."""
        node = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE)
        yield ClusterEventWithHint(node, _after_node_change)
        yield _registration(Resource.TARGET_POD, Action.UPDATE)


def _claim_not_found(pod: Pod) -> Status | None:
    if not pod.spec.resource_claims:
        return None
    claim = f"{pod.namespace}/{pod.spec.resource_claims[0]}"
    return unresolvable(f'could not find ResourceClaim "{claim}"', plugin=DYNAMIC_RESOURCES)


def _after_node_change(pod: Pod, old: object, new: object) -> Hint:
    assert isinstance(new, Node)
    same = isinstance(old, Node) and old.declared_features == new.declared_features
    return Hint.SKIP if same else Hint.QUEUE


def _never(pod: Pod, old: object, new: object) -> Hint:
    return Hint.SKIP


def _registration(resource: Resource, action: Action) -> ClusterEventWithHint:
    """An event that helps no pod of this plugin."""
    return ClusterEventWithHint(ClusterEvent(resource, action), _never)


def _always(resource: Resource, action: Action) -> ClusterEventWithHint:
    """An event that always queues."""
    return ClusterEventWithHint(ClusterEvent(resource, action))
