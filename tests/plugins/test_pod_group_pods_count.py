"""PodGroupPodsCount: spec podgroup-scheduling.md §6.5."""

from __future__ import annotations

from gangsched_framework.cycle_state import PlacementCycleState, PodGroupCycleState
from gangsched_framework.placement import Assignment, Placement
from gangsched_framework.status import Code
from gangsched_plugins.pod_group_pods_count import PodGroupPodsCount
from tests.plugins.group_world import handle_over, inner, leaf, node, pod


def test_the_score_counts_scheduled_pods_of_the_subtree_and_newly_placed_ones() -> None:
    handle = handle_over(
        nodes=[node("n")],
        groups=[inner("r"), leaf("a", parent="r"), leaf("b", parent="r"), leaf("x")],
        pods=[pod("p", "a", "n"), pod("q", "b", "n"), pod("w", "b"), pod("y", "x", "n")],
    )
    root = handle.forest.tree(inner("r").key)
    placed = [Assignment(pod("w", "b"), "n")]
    state = PlacementCycleState(PodGroupCycleState())
    assert PodGroupPodsCount({}, handle).score_placement(state, root, Placement("d"), placed) == 3


def test_scores_become_whole_per_cents_of_the_largest() -> None:
    scores = [3, 7, 0]
    assert PodGroupPodsCount({}, handle_over()).normalize_placement_score(PodGroupCycleState(), scores) is None
    assert scores == [42, 100, 0]


def test_placements_without_any_pod_are_an_error() -> None:
    status = PodGroupPodsCount({}, handle_over()).normalize_placement_score(PodGroupCycleState(), [0, 0])
    assert status is not None
    assert status.code is Code.ERROR
