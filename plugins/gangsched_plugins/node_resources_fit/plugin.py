"""The plugin: Filter, Score and PlacementScore over ``fitting`` and ``strategies``, and its hints (§7.6.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from gangsched_framework.columns import Columns
from gangsched_framework.cycle_state import CycleState, PlacementCycleState
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node, Pod
from gangsched_framework.placement import Assignment, Placement
from gangsched_framework.pod_spec import PodSpec
from gangsched_framework.refusals import Rows
from gangsched_framework.status import Status
from gangsched_plugins.common.by_nodes import ByNodes
from gangsched_plugins.names import NODE_RESOURCES_FIT
from gangsched_plugins.node_resources_fit.arguments import read_arguments
from gangsched_plugins.node_resources_fit.columnar import Room, filter_column
from gangsched_plugins.node_resources_fit.columnar_score import (
    Capacities,
    exact_sum,
    score_column,
    score_columns,
    with_capacity,
)
from gangsched_plugins.node_resources_fit.fitting import Demand, fits_empty, refusal, some_asked_resource_grew
from gangsched_plugins.node_resources_fit.strategies import Share, mean_use, score_node, score_placement, shares_of

_FILTER_STATE = f"PreFilter{NODE_RESOURCES_FIT}"
_SCORE_STATE = f"PreScore{NODE_RESOURCES_FIT}"
_MAX_CAPACITIES = 4096


class NodeResourcesFit:
    """PreFilter, Filter, PreScore, Score, PlacementScore.

    Arguments ``scoringStrategy``, ``ignoredResources``, ``ignoredResourceGroups``; the constructor raises
    ConfigurationError for bad ones.
    """

    name = NODE_RESOURCES_FIT
    locality = "node"
    keeps_to_placement = True
    unprepared: ClassVar[Mapping[str, str]] = {"filter": "error reading"}

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._arguments = read_arguments(args)
        self._handle = handle
        self._rooms = ByNodes(Room.of)
        self._scored = ByNodes(Capacities.of)
        self._capacities: dict[tuple[Placement, str], tuple[int, Rows | None]] = {}
        self._classes: NodeClasses | None = None
        self._asked: tuple[Sequence[PodSpec], Sequence[Share]] = ([], ())
        """What the pods that were scored last ask for together; they were told apart by their specs."""

    # --- Filter -----------------------------------------------------------------------------------------------------

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """Note what the pod asks for; never skips."""
        state.write(_FILTER_STATE, self._demand(pod))
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Refuse a node with a reason for every resource it lacks; unresolvable when one lacks even if empty."""
        return refusal(state.read(_FILTER_STATE), node)

    def _demand(self, pod: Pod) -> Demand:
        return Demand.of(pod.incoming.requested, self._arguments.ignores)

    # --- Score ------------------------------------------------------------------------------------------------------

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Note what the pod asks for in terms of the score; never skips."""
        state.write(_SCORE_STATE, shares_of((pod,), self._arguments.resources))
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """The scoring strategy's weighted mean, 0…100."""
        shares = state.read(_SCORE_STATE)
        if shares is None:
            shares = shares_of((pod,), self._arguments.resources)
        return score_node(shares, node, self._arguments.strategy, ratio=self._arguments.ratio)

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """Fit over columns; RequestedToCapacityRatio and amounts beyond the columns' exact range are left out."""
        score = score_column(pod, self._arguments.resources, self._arguments.strategy, table, self._scored)
        return Columns(filter_column(self._demand(pod), table, self._rooms), score) if score is not None else None

    def score_placement(
        self, state: PlacementCycleState, group: PodGroupInfo, placement: Placement, assignments: Sequence[Assignment]
    ) -> int | Status:
        """How full the placement's nodes would be together with the newly placed pods (group document §6.5)."""
        infos = self._handle.snapshot.all_nodes
        nodes = infos if placement.rows is None else [infos[row] for row in placement.rows]
        return score_placement(shares_of([a.pod for a in assignments], self._arguments.resources), nodes)

    def score_pods(self, group: PodGroupInfo, placement: Placement, pods: Sequence[Pod]) -> int:
        """The same over the columns, for it is all one where the pods are."""
        table = self._handle.snapshot.table
        rows = np.arange(len(table.names)) if placement.rows is None else placement.array
        specs = [pod.spec for pod in pods]
        if specs != self._asked[0]:  # groups of one kind follow each other
            self._asked = (specs, shares_of(pods, self._arguments.resources))
        return mean_use([(share, *self._use(share.name, placement, table, rows)) for share in self._asked[1]])

    def _use(self, resource: str, placement: Placement, table: NodeTable, rows: Rows) -> tuple[int, int]:
        """Used amount and capacity of a placement; the capacity is summed once, until a node changes."""
        used, allocatable = score_columns(resource, table)
        if self._classes is not table.classes or len(self._capacities) >= _MAX_CAPACITIES:
            self._classes = table.classes
            self._capacities.clear()
        known = self._capacities.get((placement, resource))
        if known is None:
            known = (exact_sum(allocatable, rows), with_capacity(allocatable, rows))
            self._capacities[placement, resource] = known
        capacity, counted = known
        return exact_sum(used, rows if counted is None else counted), capacity

    # --- hints ------------------------------------------------------------------------------------------------------

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """Room that appears: pods that leave or shrink, nodes that come or grow, the pod itself asking less."""
        for resource, action, hint in (
            (Resource.ASSIGNED_POD, Action.DELETE, _after_pod_deleted),
            (Resource.ASSIGNED_POD, Action.UPDATE_POD_SCALE_DOWN, _after_pod_scaled_down),
            (Resource.TARGET_POD, Action.UPDATE_POD_SCALE_DOWN, _after_own_scale_down),
            (Resource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, _after_node_change),
            (Resource.DEVICE_CLASS, Action.ADD | Action.UPDATE, _after_device_class_change),
        ):
            yield ClusterEventWithHint(ClusterEvent(resource, action), hint)


def _after_pod_deleted(pod: Pod, old: object, new: object) -> Hint:
    assert isinstance(old, Pod)
    return Hint.QUEUE if old.node_name or old.status.nominated_node_name else Hint.SKIP


def _after_pod_scaled_down(pod: Pod, old: object, new: object) -> Hint:
    assert isinstance(old, Pod)
    assert isinstance(new, Pod)
    if not new.node_name:  # a nominated pod frees nothing
        return Hint.SKIP
    demand = Demand.of(pod.incoming.requested)
    freed = some_asked_resource_grew(demand, old=new.usage.requested, new=old.usage.requested)
    return Hint.QUEUE if freed else Hint.SKIP


def _after_own_scale_down(pod: Pod, old: object, new: object) -> Hint:
    return Hint.QUEUE


def _after_node_change(pod: Pod, old: object, new: object) -> Hint:
    assert isinstance(new, Node)
    demand = Demand.of(pod.incoming.requested)  # ignored resources do count in hints
    if not fits_empty(demand, new):
        return Hint.SKIP
    if not isinstance(old, Node) or new.allocatable.pods > old.allocatable.pods:
        return Hint.QUEUE
    return Hint.QUEUE if some_asked_resource_grew(demand, old.allocatable, new.allocatable) else Hint.SKIP


def _after_device_class_change(pod: Pod, old: object, new: object) -> Hint:
    # Extended resources served by a DeviceClass are not modelled (spec §7.6.6), so no class helps a pod.
    return Hint.SKIP
