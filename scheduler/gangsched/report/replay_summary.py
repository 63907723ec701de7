"""The summary of a replay: every figure with its definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from gangsched.replay.evictions import Evictions
from gangsched.replay.ledger import GangRecord, Integrals, PodRecord
from gangsched.replay.player import ReplayResult
from gangsched.replay.share_series import ShareSeries
from gangsched.replay.times import seconds
from gangsched.report import queue_summary
from gangsched.report.queue_summary import QueuesSummary
from gangsched.report.spread import Spread
from gangsched_framework.queue_state import QueueState
from gangsched_framework.resources import CPU, MEMORY

DEFINITIONS = {
    "gangs": "PodGroups of the trace. placed: as many pods as the group requires ran at one time. "
    "finished: all its pods succeeded. never_placed: not placed when the replay ended, or deleted before",
    "pods": "pods of the trace, members and plain pods, however often they restart. placed: bound to a node. "
    "finished: succeeded",
    "waiting": "of placed gangs, from the arrival of the group to the moment it is placed; "
    "of placed plain pods, from arrival to the first binding",
    "completion": "of finished gangs, from the arrival of the group to the end of its last pod; "
    "of finished plain pods, from arrival to end",
    "percentiles": "nearest rank: the smallest value that so many percent of all do not exceed",
    "gpu_utilisation": "GPUs requested by running pods, integrated over time, divided by the integral of the "
    "allocatable GPUs, from time 0 to the last thing that happened; resources named */gpu count",
    "gpu_utilisation_until_last_arrival": "the same up to the last event of the trace, without the tail in which "
    "the cluster empties",
    "preemption": "cycles: those that evicted somebody. victims: evictions of pods, by priority of what was evicted "
    "(the group that decided, else the pod). finished: victims that succeeded within the grace period. "
    "lost_gpu_seconds: of the other victims, the time from binding to the decision to evict, times the GPUs requested; "
    "what they ran in the grace period is not in it. A gang keeps its time of placement; one that lost a pod for good "
    "never finishes",
    "decisions_hash": "SHA-256 chain over bindings, nominations, evictions and condition transitions with their "
    "time, in the order of decision; equal for equal inputs on every machine and Python",
}


@frozen
class NeverPlaced:
    """A gang that was not placed, since when it waits (ns) and why."""

    gang: str
    since: int
    why: str


@frozen
class PreemptionSummary:
    """The evictions of a replay: cycles that evicted, victims, those that finished all the same, GPU-nanoseconds lost,
    and victims by priority, lowest first."""

    cycles: int
    victims: int
    finished: int
    lost: int
    by_priority: Mapping[int, int]

    @classmethod
    def of(cls, evictions: Evictions) -> PreemptionSummary | None:
        """None when nobody was evicted."""
        victims = evictions.victims
        if not victims:
            return None
        return cls(
            evictions.count,
            len(victims),
            sum(victim.record.finished is not None for victim in victims),
            sum(victim.lost for victim in victims),
            dict(sorted(Counter(victim.priority for victim in victims).items())),
        )

    def document(self) -> dict[str, Any]:
        return {
            "cycles": self.cycles,
            "victims": self.victims,
            "finished": self.finished,
            "lost_gpu_seconds": seconds(self.lost),
            "victims_by_priority": {str(priority): count for priority, count in self.by_priority.items()},
        }


@frozen
class ReplaySummary:
    """The figures of one replay; times in nanoseconds, shares from 0 to 1 (None = nothing of the kind was offered)."""

    result: ReplayResult
    gangs_submitted: int
    gangs_placed: int
    gangs_finished: int
    pods_submitted: int
    pods_placed: int
    pods_finished: int
    waiting: Spread
    completion: Spread
    gpu_utilisation: float | None
    gpu_utilisation_until_last_arrival: float | None
    utilisation: Mapping[str, float]
    never_placed: tuple[NeverPlaced, ...]
    preemption: PreemptionSummary | None
    queues: QueuesSummary | None = None

    def document(self) -> dict[str, Any]:
        """For JSON: everything but the bindings, with the definitions."""
        result = self.result
        return {
            "trace": {
                "format": result.header.format,
                "name": result.header.name,
                "events": result.events,
                "skipped": result.skipped,
                "first_skipped": result.first_skipped or None,
            },
            "end_seconds": seconds(result.end),
            "last_arrival_seconds": seconds(result.arrived),
            "cycles": result.tries,
            "gangs": {
                "submitted": self.gangs_submitted,
                "placed": self.gangs_placed,
                "finished": self.gangs_finished,
                "never_placed": len(self.never_placed),
            },
            "pods": {
                "submitted": self.pods_submitted,
                "placed": self.pods_placed,
                "finished": self.pods_finished,
            },
            "waiting_seconds": self.waiting.document(),
            "completion_seconds": self.completion.document(),
            "gpu_utilisation": self.gpu_utilisation,
            "gpu_utilisation_until_last_arrival": self.gpu_utilisation_until_last_arrival,
            "utilisation": dict(self.utilisation),
            "never_placed": [
                {"gang": gang.gang, "since_seconds": seconds(gang.since), "why": gang.why} for gang in self.never_placed
            ],
            **({"preemption": self.preemption.document()} if self.preemption is not None else {}),
            **(self.queues.document() if self.queues is not None else {}),
            "decisions": result.decisions,
            "decisions_hash": result.decisions_hash,
            "definitions": self._definitions(),
        }

    def _definitions(self) -> dict[str, str]:
        own = {name: text for name, text in DEFINITIONS.items() if name != "preemption" or self.preemption is not None}
        return own | (queue_summary.DEFINITIONS if self.queues is not None else {})


def summarise(result: ReplayResult, series: ShareSeries | None = None) -> ReplaySummary:
    """All figures of a replay; with a ``series`` those of queues too."""
    ledger = result.ledger
    pods, gangs = list(ledger.all_pods()), list(ledger.all_gangs())
    first = [record for record in pods if not record.restarts]
    plain = [record for record in pods if not record.pod.group_name]
    whole, busy = ledger.integrals_at(result.end), ledger.arrived
    reasons = _reasons(result.waiting)
    return ReplaySummary(
        result,
        len(gangs),
        sum(gang.placed is not None for gang in gangs),
        sum(gang.finished is not None for gang in gangs),
        len(first),
        sum(pod.bound is not None for pod in first),
        sum(pod.finished is not None for pod in pods),
        Spread.of(_spans(gangs, "placed") + _spans([pod for pod in plain if not pod.restarts], "bound")),
        Spread.of(_spans(gangs, "finished") + _spans(plain, "finished")),
        _share(whole, *_gpus(whole)),
        _share(busy, *_gpus(busy)),
        {name: share for name in _used(whole) if (share := _share(whole, name)) is not None},
        tuple(_never_placed(gang, reasons) for gang in gangs if gang.placed is None),
        PreemptionSummary.of(result.evictions),
        QueuesSummary.of(series, result.end) if series is not None else None,
    )


def _spans(records: list[GangRecord] | list[PodRecord], end: str) -> list[int]:
    """Nanoseconds from arrival to the moment named ``end``, of those that came so far."""
    return [moment - record.arrived for record in records if (moment := getattr(record, end)) is not None]


def _gpus(integrals: Integrals) -> list[str]:
    return [name for name in integrals.offered if name.endswith("/gpu")]


def _used(integrals: Integrals) -> list[str]:
    """CPU, memory and the extended resources somebody used, in order of name."""
    served = (name for name, amount in integrals.served.items() if amount)
    return sorted(name for name in served if name in (CPU, MEMORY) or "/" in name)


def _share(integrals: Integrals, *names: str) -> float | None:
    offered = sum(integrals.offered.get(name, 0) for name in names)
    return round(sum(integrals.served.get(name, 0) for name in names) / offered, 6) if offered else None


def _reasons(state: QueueState) -> dict[str, str]:
    """Leaf key -> why the queue holds it back without trying it."""
    reasons: dict[str, str] = {}
    for entity in state.active:
        if entity.reason:
            reasons.update(dict.fromkeys(entity.members, f"passed over: {entity.reason}"))
    for entity in state.parked:
        if entity.gated_by:
            text = f"gated by {entity.gated_by}" + (f": {entity.reason}" if entity.reason else "")
            reasons.update(dict.fromkeys(entity.members, text))
    for leaf in state.incomplete:
        reasons[leaf] = "incomplete: the group or one of its parents is not there"
    return reasons


def _never_placed(gang: GangRecord, reasons: Mapping[str, str]) -> NeverPlaced:
    key = gang.group.key
    why = reasons.get(key) or gang.why
    if not why:
        why = f"never tried: {gang.pods} pods of {gang.group.required}"
    if gang.gone is not None:
        why = f"deleted; {why}"
    return NeverPlaced(key.full_name, gang.created, why)
