"""Settings of the core, apart from profiles."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

SECOND = 1_000_000_000
"""Engine nanoseconds in a second."""

BASE_GATES = {
    "GenericWorkload": True,
    "TopologyAwareWorkloadScheduling": True,
    "CompositePodGroup": True,
    "SchedulerPopFromBackoffQ": True,
}
"""Gates the core itself reads, with the product's defaults (conformance README §2)."""


Evaluation = Literal["greedy", "doubleRun"]
ChildOrder = Literal["name", "creation", "smallest", "hardest"]
ExtraPodPreemption = Literal["nonePlaced", "anyFailed"]


@frozen
class GroupScheduling:
    """What upstream still debates about groups (KEP-6012, KEP-4671; docs/choices.md). The defaults are today's rules.

    ``evaluation``: ``doubleRun`` places every minimum of the tree before the first extra pod. ``child_order``: by name
    (DIV-3), by creation as v1.37.2 does, the fewest waiting pods first, or the hardest to place first
    (``child_order.py``). ``pre_check``: PlacementFeasible is asked before the first child, too (DIV-2).
    ``extra_pod_preemption``: a satisfied tree preempts for further pods when none of them found a node, or, being a
    gang, as soon as one found none (DIV-7).
    """

    evaluation: Evaluation = "greedy"
    child_order: ChildOrder = "name"
    pre_check: bool = True
    extra_pod_preemption: ExtraPodPreemption = "nonePlaced"


@frozen
class Settings:
    """Times in engine nanoseconds (spec podgroup-scheduling.md §2.3).

    ``node_order``: ``name`` (product default) or ``upstream`` (architecture.md §4). ``tracing`` keeps the steps of each
    cycle in its report. ``oracle`` uses the per-node form of every plugin, never columns; ``memo`` False evaluates
    every attempt anew. ``idle`` lets retries that would be refused again pass without being carried out (for replays,
    which move the clock with ``jump``). ``logging`` emits one structlog event per stage of a cycle.
    """

    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    unschedulable_timeout: int = 300 * SECOND
    node_order: Literal["name", "upstream"] = "name"
    groups: GroupScheduling = GroupScheduling()
    tracing: bool = False
    oracle: bool = False
    memo: bool = True
    idle: bool = False
    logging: bool = False
