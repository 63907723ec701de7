"""What can be set at the queue (spec §2.3). Durations in nanoseconds."""

from __future__ import annotations

from attrs import frozen

SECOND = 1_000_000_000


@frozen
class QueueSettings:
    """``max_backoff`` 0 switches backoff off; ``pop_from_backoff`` is the gate SchedulerPopFromBackoffQ."""

    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    pop_from_backoff: bool = True
    unschedulable_timeout: int = 300 * SECOND
    leftover_period: int = 30 * SECOND
