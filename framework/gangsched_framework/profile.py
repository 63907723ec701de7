"""A profile: which plugins serve which extension point, in which order, with which weight and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

POINTS: dict[str, tuple[str, ...]] = {
    "queueSort": ("sort_key",),
    "preEnqueue": ("pre_enqueue",),
    "preFilter": ("pre_filter",),
    "filter": ("filter",),
    "postFilter": ("post_filter",),
    "preScore": ("pre_score",),
    "score": ("score",),
    "reserve": ("reserve", "unreserve"),
    "permit": ("permit",),
    "preBind": ("pre_bind",),
    "bind": ("bind",),
    "postBind": ("post_bind",),
    "placementGenerate": ("generate_placements",),
    "placementFeasible": ("placement_feasible",),
    "placementScore": ("score_placement",),
    "podGroupPostFilter": ("pod_group_post_filter",),
}
"""Extension point (name of KubeSchedulerConfiguration) -> the methods a plugin must have to serve it."""


@frozen
class PluginRef:
    """A plugin at one point; ``weight`` matters for score and placementScore only (>= 1)."""

    name: str
    weight: int = 1


@frozen
class Profile:
    """The effective configuration of one scheduler name (spec node-plugins.md §2).

    ``points`` holds every extension point that has plugins, fully expanded, in call order. ``args`` maps plugin names
    to their arguments, defaults filled in. ``percentage_of_nodes_to_score``: 100 = all nodes, 0 = adaptive;
    ``percentage_of_placements_to_score`` likewise (KEP-5732).
    """

    scheduler_name: str
    points: Mapping[str, tuple[PluginRef, ...]]
    args: Mapping[str, Mapping[str, Any]] = {}
    percentage_of_nodes_to_score: int = 100
    percentage_of_placements_to_score: int = 100

    def plugin_names(self) -> tuple[str, ...]:
        """Every plugin named at some point, in order of first appearance."""
        return tuple(dict.fromkeys(ref.name for refs in self.points.values() for ref in refs))
