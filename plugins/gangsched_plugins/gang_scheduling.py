"""GangScheduling: all or nothing (spec podgroup-scheduling.md §3.6, §3.7, §4.8).

The plugin holds a tree back until its quorum of pods is known (PreEnqueue), stops an evaluation that can no longer
reach its minimum (PlacementFeasible), and knows which events may complete a quorum. It has no Permit (DIV-9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from gangsched_framework.cycle_state import PlacementCycleState
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, HintFunction, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.hierarchy import HierarchyError
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import CompositePodGroup, EntityKey, Pod, PodGroup
from gangsched_framework.placement import Progress
from gangsched_framework.status import Code, Status, unresolvable, unschedulable
from gangsched_plugins import names

_WAITING = unresolvable(
    "waiting for minCount pods from a gang to appear in scheduling queue", plugin=names.GANG_SCHEDULING
)


@lru_cache(maxsize=4096)
def _tree_waits(root: str) -> Status:
    return unresolvable(f'waiting for composite pod group "{root}" tree to meet quorum', plugin=names.GANG_SCHEDULING)


@lru_cache(maxsize=4096)
def _unmet(minimum: int, scheduled: int, remaining: int) -> Status:
    counts = f"{scheduled} scheduled, {remaining} remaining"
    if remaining + scheduled < minimum:
        return unschedulable(f"minCount ({minimum}) cannot be satisfied: {counts}", plugin=names.GANG_SCHEDULING)
    reason = f"minCount ({minimum}) is not yet satisfied: {counts}"
    return Status(Code.WAIT, (reason,), names.GANG_SCHEDULING)


class GangScheduling:
    """PreEnqueue and PlacementFeasible of groups. Takes no arguments."""

    name = names.GANG_SCHEDULING
    keeps_to_placement = True
    pre_enqueue_scope = "tree"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._forest = handle.forest
        self._composite = handle.feature_gates.get("CompositePodGroup", False)

    # --- PreEnqueue -------------------------------------------------------------------------------------------------

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Hold a member back until the root of its tree meets its quorum; plain pods pass."""
        leaf = pod.group_key
        if leaf is None:
            return None
        try:
            root, ready = self._forest.quorum(leaf)
        except HierarchyError as problem:
            if not self._composite:  # then each group is a root, and nothing but itself can be missing
                return unresolvable(f'waiting for pods\'s pod group "{pod.group_name}" to appear in scheduling queue')
            return unresolvable(f"failed to build hierarchy snapshot: {problem}")
        if ready:
            return None
        if isinstance(root, PodGroup):
            return _WAITING
        return _tree_waits(root.name)

    # --- PlacementFeasible ------------------------------------------------------------------------------------------

    def placement_feasible(self, state: PlacementCycleState, group: PodGroupInfo, progress: Progress) -> Status | None:
        """Success once the minimum is placed, Wait while it can be, Unschedulable when it cannot any more."""
        minimum = group.group.required
        return None if progress.scheduled >= minimum else _unmet(minimum, progress.scheduled, progress.remaining)

    # --- hints ------------------------------------------------------------------------------------------------------

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """Whatever may complete a quorum (spec §3.6); a lowered ``minGroupCount`` is our addition (DIV-16)."""
        yield _within_tree(Resource.UNSCHEDULED_POD, Action.ADD, self._after_pod_added)
        yield _within_tree(Resource.ASSIGNED_POD, Action.ADD, self._after_pod_added)
        yield _within_tree(Resource.POD_GROUP, Action.ADD, self._after_group_added)
        yield _within_tree(Resource.POD_GROUP, Action.UPDATE, self._after_group_updated)
        if self._composite:
            yield _within_tree(Resource.COMPOSITE_POD_GROUP, Action.ADD, self._after_group_added)
            yield _within_tree(Resource.COMPOSITE_POD_GROUP, Action.UPDATE, self._after_group_updated)

    def _after_pod_added(self, pod: Pod, old: object, new: object) -> Hint:
        assert isinstance(new, Pod)
        return self._same_tree(pod, new.group_key)

    def _after_group_added(self, pod: Pod, old: object, new: object) -> Hint:
        assert isinstance(new, PodGroup | CompositePodGroup)
        return self._same_tree(pod, new.key)

    def _after_group_updated(self, pod: Pod, old: object, new: object) -> Hint:
        assert isinstance(old, PodGroup | CompositePodGroup)
        assert isinstance(new, PodGroup | CompositePodGroup)
        if old.minimum is None or new.minimum is None or new.minimum >= old.minimum:
            return Hint.SKIP
        return self._same_tree(pod, new.key)

    def _same_tree(self, pod: Pod, other: EntityKey | None) -> Hint:
        mine = pod.group_key
        if mine is None or other is None or not self._forest.same_hierarchy(mine, other):
            return Hint.SKIP
        return Hint.QUEUE


def _within_tree(resource: Resource, action: Action, hint: HintFunction) -> ClusterEventWithHint:
    return ClusterEventWithHint(ClusterEvent(resource, action), hint, within_tree=True)
