"""The effective configuration of a scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import frozen

from gangsched.config.gates import FeatureGates
from gangsched.engine.settings import GroupScheduling
from gangsched_framework.profile import Profile

NodeOrder = Literal["name", "upstream"]


@frozen
class SchedulerConfig:
    """Everything a configuration decides, defaults filled in.

    Backoffs are engine nanoseconds; a ``max_backoff`` of 0 turns backoff off. ``percentage_of_nodes_to_score``: 100 =
    all nodes, 0 = adaptive; profiles carry their own. ``parallelism`` decides nothing here and is shown only.
    ``origins`` tells where a value came from (``default``, ``gate NAME``, ``option``, ``FILE:LINE``) by its path:
    ``podMaxBackoffSeconds``, ``profiles.NAME.score.PLUGIN``, ``profiles.NAME.args.PLUGIN.FIELD`` …
    ``warnings`` are sentences for the user, with their places.
    """

    profiles: tuple[Profile, ...]
    gates: FeatureGates
    initial_backoff: int
    max_backoff: int
    parallelism: int
    percentage_of_nodes_to_score: int
    percentage_of_placements_to_score: int
    node_order: NodeOrder
    group_scheduling: GroupScheduling
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
