"""The summary of a replay as a table for people."""

from __future__ import annotations

from gangsched.replay.times import seconds
from gangsched.report.columns import columns, duration, grouped
from gangsched.report.queue_summary import queues_text
from gangsched.report.replay_summary import NeverPlaced, PreemptionSummary, ReplaySummary
from gangsched.report.spread import PERCENTS, Spread

_MOST_REASONS = 10


def replay_text(summary: ReplaySummary) -> str:
    """The table ``gangsched replay`` prints; no bindings."""
    result = summary.result
    counts = [
        ("", "SUBMITTED", "PLACED", "FINISHED"),
        ("gangs", *map(grouped, (summary.gangs_submitted, summary.gangs_placed, summary.gangs_finished))),
        ("pods", *map(grouped, (summary.pods_submitted, summary.pods_placed, summary.pods_finished))),
    ]
    spreads = [
        ("", "MEAN", *(f"P{percent}" for percent in PERCENTS), "MAX"),
        ("waiting", *_spread(summary.waiting)),
        ("completion", *_spread(summary.completion)),
    ]
    facts = [
        ("virtual time", f"{duration(result.end)} (last arrival at {duration(result.arrived)})"),
        ("cycles", grouped(result.tries)),
        ("GPU utilisation", _utilisation(summary)),
        ("decisions", grouped(result.decisions)),
        ("decisions_hash", result.decisions_hash),
    ]
    if result.skipped:
        facts.insert(0, ("skipped", f"{grouped(result.skipped)}, first: {result.first_skipped}"))
    parts = [columns(counts, right=(1, 2, 3)), columns(spreads, right=(1, 2, 3, 4, 5)), columns(facts)]
    if summary.preemption is not None:
        parts.append(_preemption(summary.preemption))
    if summary.queues is not None:
        parts.append(queues_text(summary.queues))
    if summary.never_placed:
        parts.append(_never_placed(summary.never_placed))
    return "\n\n".join(parts)


def _spread(spread: Spread) -> list[str]:
    if not spread.count:
        return ["-"] * (len(PERCENTS) + 2)
    return [duration(value) for value in (spread.mean, *spread.percentiles, spread.maximum)]


def _utilisation(summary: ReplaySummary) -> str:
    if summary.gpu_utilisation is None:
        return "- (no node has GPUs)"
    until = summary.gpu_utilisation_until_last_arrival or 0.0
    return f"{summary.gpu_utilisation:.1%} ({until:.1%} until the last arrival)"


def _preemption(preemption: PreemptionSummary) -> str:
    of_them = f" ({grouped(preemption.finished)} finished within their grace)" if preemption.finished else ""
    rows = [
        ("preemptions", grouped(preemption.cycles)),
        ("victims", grouped(preemption.victims) + of_them),
        *((f"  of priority {priority}", grouped(count)) for priority, count in preemption.by_priority.items()),
        ("lost GPU time", f"{seconds(preemption.lost):,} GPU seconds"),
    ]
    return columns(rows)


def _never_placed(gangs: tuple[NeverPlaced, ...]) -> str:
    """Reasons by number of gangs, with an example each."""
    examples: dict[str, list[str]] = {}
    for gang in gangs:
        examples.setdefault(gang.why, []).append(gang.gang)
    ordered = sorted(examples.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [("NEVER PLACED", "FIRST", "WHY")]
    rows += [(grouped(len(names)), names[0], why) for why, names in ordered[:_MOST_REASONS]]
    if len(ordered) > _MOST_REASONS:
        rows.append((grouped(sum(len(names) for _, names in ordered[_MOST_REASONS:])), "", "other reasons"))
    return columns(rows)
