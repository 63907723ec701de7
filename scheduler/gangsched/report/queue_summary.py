"""What a replay meant for each queue, and how even it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from gangsched.replay.share_series import QueueHistory, ShareSeries
from gangsched.replay.times import seconds
from gangsched.report.columns import columns, duration, grouped
from gangsched.report.spread import PERCENTS, Spread
from gangsched_framework.resources import MEMORY

DEFINITIONS = {
    "queues": "waiting: as above, of the gangs and plain pods of the queue. allocated, deserved: means over the whole "
    "time, in cpus, bytes, pods and pieces. contending_seconds: how long it asked for more than it held. share: mean "
    "of allocated / deserved (of the worst resource) over that time",
    "jain_share": "Jain's index (Σx)² / (n·Σx²) of the queues' shares while they contended: 1 = all got the same part "
    "of what they deserve, 1/n = one got everything; of queues that contended at some time",
    "jain_waiting": "Jain's index of the queues' mean waiting times, of queues with anything placed",
}


@frozen
class QueueSummary:
    """One queue; times in nanoseconds, amounts in natural units. ``share`` None = it never contended."""

    name: str
    waiting: Spread
    allocated: dict[str, float]
    deserved: dict[str, float]
    contending: int
    share: float | None

    def document(self) -> dict[str, Any]:
        return {
            "waiting_seconds": self.waiting.document(),
            "allocated": self.allocated,
            "deserved": self.deserved,
            "contending_seconds": seconds(self.contending),
            "share": self.share,
        }


@frozen
class QueuesSummary:
    """All queues that ever had pods, by name."""

    queues: tuple[QueueSummary, ...]
    jain_share: float | None
    jain_waiting: float | None

    @classmethod
    def of(cls, series: ShareSeries, end: int) -> QueuesSummary:
        """``end``: the length of the replay in nanoseconds."""
        queues = tuple(_summary(series.histories[name], end) for name in sorted(series.histories))
        return cls(
            queues,
            jain([queue.share for queue in queues if queue.share is not None]),
            jain([queue.waiting.mean for queue in queues if queue.waiting.count]),
        )

    def document(self) -> dict[str, Any]:
        return {
            "queues": {queue.name: queue.document() for queue in self.queues},
            "jain_share": self.jain_share,
            "jain_waiting": self.jain_waiting,
        }


def jain(values: Sequence[float]) -> float | None:
    """Jain's index of fairness; None of nothing, 1 when everybody has nothing."""
    if not values:
        return None
    squares = sum(value * value for value in values)
    return round(sum(values) ** 2 / (len(values) * squares), 6) if squares else 1.0


def _summary(history: QueueHistory, end: int) -> QueueSummary:
    def mean(total: dict[str, float]) -> dict[str, float]:
        return {name: round(amount / end, 6) for name, amount in sorted(total.items())} if end else {}

    share = round(history.share_contending / history.contending, 6) if history.contending else None
    return QueueSummary(
        history.name,
        Spread.of(history.waits),
        mean(history.allocated),
        mean(history.deserved),
        history.contending,
        share,
    )


def queues_text(summary: QueuesSummary) -> str:
    """One row a queue; means over time are of one resource: devices if there are any, else cpu."""
    resource = _shown_resource(summary)
    ranks = [f"P{percent}" for percent in PERCENTS]
    rows: list[tuple[str, ...]] = [("QUEUE", "PLACED", "WAIT MEAN", *ranks, "CONTENDED", "SHARE", "HELD", "DESERVED")]
    for queue in summary.queues:
        waits = [duration(value) for value in (queue.waiting.mean, *queue.waiting.percentiles)]
        share = "-" if queue.share is None else f"{queue.share:.3f}"
        amounts = [f"{part.get(resource, 0):.4g} {resource}" for part in (queue.allocated, queue.deserved)]
        head = queue.name, grouped(queue.waiting.count)
        rows.append((*head, *waits, duration(queue.contending), share, *amounts))
    indices = [
        ("Jain's index of shares", _index(summary.jain_share)),
        ("Jain's index of waiting", _index(summary.jain_waiting)),
    ]
    return columns(rows, right=range(1, len(rows[0]))) + "\n\n" + columns(indices)


def _index(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _shown_resource(summary: QueuesSummary) -> str:
    names = {name: None for queue in summary.queues for name in queue.deserved}
    devices = sorted(name for name in names if "/" in name)
    return devices[0] if devices else "cpu" if "cpu" in names or MEMORY not in names else MEMORY
