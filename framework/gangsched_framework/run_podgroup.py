"""Phase group: scores of placements, and the post-filter of a root (spec §4.8, §6, §7.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import add

from attrs import frozen

from gangsched_framework.cycle_state import PlacementCycleState, PodGroupCycleState
from gangsched_framework.infos import PodGroupInfo, PoppedPodGroupInfo
from gangsched_framework.interface import (
    PlacementScorePlugin,
    PodGroupPostFilterPlugin,
    PodGroupPostFilterResult,
    SchedulingFunction,
)
from gangsched_framework.placement import Assignment, Placement
from gangsched_framework.status import Code, Status, error

Candidate = tuple[PlacementCycleState, Placement, Sequence[Assignment]]
"""A feasible placement with its state and the pods the simulation placed in it."""


@frozen
class PlacementScores:
    """``totals`` of the candidates, and for each plugin its weight and the normalised scores they are made of."""

    totals: list[int]
    by_plugin: Mapping[str, tuple[int, list[int]]]

    def text(self, at: int) -> str:
        """How the total of one candidate came about."""
        parts = (f"{name} {scores[at]}×{weight}" for name, (weight, scores) in self.by_plugin.items())
        return f"{self.totals[at]} = {' + '.join(parts)}"


def run_placement_score(
    plugins: Sequence[tuple[PlacementScorePlugin, int]],
    state: PodGroupCycleState,
    group: PodGroupInfo,
    candidates: Sequence[Candidate],
) -> PlacementScores | Status:
    """Score every candidate, normalise, weigh, sum (spec §6.5)."""
    raw: list[list[int]] = []
    for plugin, _ in plugins:
        scores: list[int] = []
        for placement_state, placement, assignments in candidates:
            value = plugin.score_placement(placement_state, group, placement, assignments)
            if isinstance(value, Status):
                return _score_error(plugin.name, value)
            scores.append(value)
        raw.append(scores)
    totals = [0] * len(candidates)
    by_plugin: dict[str, tuple[int, list[int]]] = {}
    for (plugin, weight), scores in zip(plugins, raw, strict=True):
        weighed = weigh_placement_score(plugin, weight, state, scores)
        if isinstance(weighed, Status):
            return weighed
        by_plugin[plugin.name] = (weight, scores)
        totals = list(map(add, totals, weighed))
    return PlacementScores(totals, by_plugin)


def weigh_placement_score(
    plugin: PlacementScorePlugin, weight: int, state: PodGroupCycleState, scores: list[int]
) -> list[int] | Status:
    """Normalise (in place) and weigh the raw scores of the candidates by one plugin."""
    normalize = getattr(plugin, "normalize_placement_score", None)  # isinstance of protocols is slow
    if normalize is not None:
        status = normalize(state, scores)
        if status is not None and not status.ok:
            return _score_error(plugin.name, status)
    return scores if weight == 1 else [weight * value for value in scores]


def _score_error(name: str, status: Status) -> Status:
    return error(f'running PlacementScore plugins: plugin "{name}" failed with: {status.message}')


def run_pod_group_post_filter(
    plugins: Sequence[PodGroupPostFilterPlugin],
    state: PodGroupCycleState,
    root: PoppedPodGroupInfo,
    schedule: SchedulingFunction,
) -> tuple[PodGroupPostFilterResult | None, Status | None]:
    """In order: Success or UU ends, Unschedulable reasons are collected, anything else is an Error (spec §7.1)."""
    reasons: list[str] = []
    for plugin in plugins:
        result, status = plugin.pod_group_post_filter(state, root, schedule)
        if status is None or status.ok or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return result, status
        if status.code is not Code.UNSCHEDULABLE:
            return None, error(f'error in "{plugin.name}" PodGroupPostFilter plugins: {status.message}')
        reasons += status.reasons
    return None, Status(Code.UNSCHEDULABLE, tuple(reasons))
