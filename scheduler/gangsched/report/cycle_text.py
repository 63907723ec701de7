"""One cycle step by step, as ``--trace`` prints it: what was asked, tried, taken back, and what came of it.

``R=2 S=1 M=3 → Wait`` is one call of PlacementFeasible: two children remain, one counts as scheduled, three are
required.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gangsched.engine.decisions import Bind
from gangsched.engine.report import CycleReport, GroupVerdict, PodVerdict
from gangsched.engine.settings import SECOND
from gangsched.engine.trace import TraceStep
from gangsched.report.columns import duration
from gangsched_framework.objects import EntityKey
from gangsched_framework.queue_state import EntityState, QueueState
from gangsched_framework.status import Code

_INDENT = "  "
_MOST_NAMES = 12


def cycle_text(report: CycleReport, queue: QueueState) -> str:
    """The cycle as indented lines, one level for each level of the tree; ``queue`` as the cycle has left it."""
    return "\n".join(_lines(report, queue))


def _lines(report: CycleReport, queue: QueueState) -> Iterator[str]:
    yield f"cycle {report.cycle} at {duration(report.time)}: {report.entity}, attempt {report.attempt}"
    yield from step_lines(report.trace)
    if report.groups:
        yield f"{_INDENT}complete:"
        for key, verdict in report.groups.items():
            yield _INDENT * 2 + _group(key, report.raw.get(key), verdict)
    yield f"{_INDENT}pods:" if report.pods else f"{_INDENT}no pod was tried"
    for pod, outcome in report.pods.items():
        yield _INDENT * 2 + _pod(pod, outcome)
    yield f"{_INDENT}requeue: {_requeue(report.entity, queue)}"


def step_document(step: TraceStep) -> dict[str, Any]:
    """A step for JSON and YAML."""
    return {"step": step.kind, "subject": str(step.subject), "text": step.text, "progress": step.progress}


def step_lines(steps: Sequence[TraceStep]) -> Iterator[str]:
    """The steps as indented lines, without those that only the end of a cycle shows."""
    placed: list[str] = []
    starts: dict[str, tuple[int, int]] = {}  # group -> how many pods were placed when it was first asked, its depth
    for step in steps:
        if step.kind == "feasible":
            starts.setdefault(step.subject, (len(placed), step.depth))
        elif step.kind == "pod" and step.text.startswith("-> "):
            placed.append(step.subject)
        elif step.kind == "placement" and step.subject in starts:  # what the one before held is taken back
            del placed[starts.pop(step.subject)[0] :]
            starts = {group: (start, depth) for group, (start, depth) in starts.items() if depth <= step.depth}
        text = _step(step)
        if step.kind == "revert":
            start, _ = starts.pop(step.subject, (0, 0))
            text += f", taking back {_names(placed[start:])}"
            del placed[start:]
        if text:
            yield _INDENT * max(step.depth, 1) + text


def _requeue(key: EntityKey, queue: QueueState) -> str:
    """Where the entity stands after its cycle, and with which pods."""
    for entity in queue.active:
        if entity.key == key:
            return f"active queue, without backoff{_members(entity)}"
    for entity in queue.backoff:
        if entity.key == key:
            ends = f" until {duration(entity.expires + SECOND)}" if entity.expires is not None else ""
            return f"backoff{ends}{_members(entity)}"
    for entity in queue.parked:
        if entity.key == key:
            gate = f", gated by {entity.gated_by}" if entity.gated_by else ""
            return f"parked{gate}{_members(entity)}"
    return "none, it has left the queue"


def _members(entity: EntityState) -> str:
    names = [name for pods in entity.members.values() for name in pods]
    return f", with {_names(names)}" if names else ""


def _names(pods: Sequence[str]) -> str:
    """Names without namespace, the first ones of many."""
    names = [pod.rpartition("/")[2] for pod in pods[:_MOST_NAMES]]
    return ", ".join(names) + (f" and {len(pods) - _MOST_NAMES} more" if len(pods) > _MOST_NAMES else "")


def _step(step: TraceStep) -> str:
    """The text of a step; nothing for steps whose result stands in the closing sections."""
    if step.kind == "feasible":
        remaining, scheduled, minimum = step.progress or (0, 0, 0)
        return f"{step.subject}: R={remaining} S={scheduled} M={minimum} → {step.text}"
    if step.kind == "pod":
        placed = step.text.startswith("-> ")
        return f"{_INDENT}pod {step.subject} {step.text if placed else f'refused: {step.text}'}"
    if step.kind == "placement":
        return f"{step.subject}: placement {step.text}" if step.text else ""
    if step.kind in ("pop", "complete", "requeue"):
        return ""
    if step.kind == "note":
        return f"{step.subject}: {step.text}"
    return f"{step.subject}: {step.kind} {step.text}".rstrip()


def _group(key: EntityKey, raw: Code | None, verdict: GroupVerdict) -> str:
    status = verdict.status
    shown = status.code.value
    if raw is Code.SUCCESS and not status.ok:
        shown = f"S→F {shown}"
    elif raw is None and not status.ok:
        shown = f"not evaluated, {shown}"
    waiting = " (waits for preempted pods to leave)" if verdict.waiting_on_preemption else ""
    return f"{key}: {shown}{waiting}" + (f": {status.message}" if status.message else "")


def _pod(pod: str, outcome: PodVerdict) -> str:
    if isinstance(outcome, Bind):
        return f"{pod}: bound to {outcome.node}"
    nominated = f" (nominated to {outcome.nominated})" if outcome.nominated else ""
    message = f": {outcome.status.message}" if outcome.status.message else ""
    return f"{pod}: {outcome.status.code.value}{nominated}{message}"
