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


@frozen
class Settings:
    """Times in engine nanoseconds (spec podgroup-scheduling.md §2.3).

    ``node_order``: ``name`` (product default) or ``upstream`` (architecture.md §4). ``child_order``: ``name`` (DIV-3)
    or ``creation`` as in v1.37.2. ``tracing`` keeps the steps of each cycle in its report. ``oracle``
    uses the per-node form of every plugin, never columns; ``memo`` False evaluates
    every attempt anew. ``idle`` lets retries that would be refused again pass without being carried out (for replays,
    which move the clock with ``jump``). ``logging`` emits one structlog event per stage of a cycle.
    """

    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    unschedulable_timeout: int = 300 * SECOND
    node_order: Literal["name", "upstream"] = "name"
    child_order: Literal["name", "creation"] = "name"
    tracing: bool = False
    oracle: bool = False
    memo: bool = True
    idle: bool = False
    logging: bool = False
