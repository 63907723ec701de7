"""PodGroupPodsCount: prefer the placement that holds more of the group's pods (spec podgroup-scheduling.md §6.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gangsched_framework.cycle_state import PlacementCycleState, PodGroupCycleState
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Assignment, Placement
from gangsched_framework.status import Status, error
from gangsched_plugins import names


class PodGroupPodsCount:
    """Counts scheduled and newly placed pods of the subtree. Takes no arguments."""

    name = names.POD_GROUP_PODS_COUNT
    keeps_to_placement = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle

    def score_placement(
        self, state: PlacementCycleState, group: PodGroupInfo, placement: Placement, assignments: Sequence[Assignment]
    ) -> int | Status:
        """Pods of the group that would run with this placement."""
        return self._scheduled(group) + len(assignments)

    def score_pods(self, group: PodGroupInfo, placement: Placement, pods: Sequence[Pod]) -> int:
        """The same, for it is all one where the pods are."""
        return self._scheduled(group) + len(pods)

    def _scheduled(self, group: PodGroupInfo) -> int:
        snapshot = self._handle.snapshot
        return sum(snapshot.scheduled(leaf.key) for leaf in group.leaves())

    def normalize_placement_score(self, state: PodGroupCycleState, scores: list[int]) -> Status | None:
        """Per cent of the largest count, integer division."""
        largest = max(scores, default=0)
        if largest == 0:
            return error("no placement holds any pod of the group")
        scores[:] = [score * MAX_NODE_SCORE // largest for score in scores]
        return None
