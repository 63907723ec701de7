"""Shares as tables and as documents: ``gangsched top``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import asdict

from gangsched.report.columns import columns
from gangsched_framework.resources import MEMORY
from gangsched_framework.shares import JobShare, Natural, QueueShare, ShareRound, SharesView, TreeShare

_NONE = "-"


def shares_document(view: SharesView, what: str) -> dict[str, Any]:
    """For JSON and YAML. ``what``: ``queues`` (with rounds and tree) or ``jobs``."""
    document: dict[str, Any] = {"policy": view.policy, "total": dict(view.total)}
    if what == "jobs":
        return document | {"jobs": [asdict(job) for job in view.jobs]}
    document["queues"] = [asdict(queue) for queue in view.queues]
    document["rounds"] = [asdict(each) for each in view.rounds]
    if view.tree is not None:
        document["tree"] = asdict(view.tree)
    return document


def queues_text(view: SharesView, *, wide: bool) -> str:
    """One row a queue and resource; ``wide`` adds limits, the rounds of water-filling and the tree of shares."""
    header = ["QUEUE", "WEIGHT", "SHARE", "STATE", "PODS", "RESOURCE", "ALLOCATED", "DESERVED", "REQUEST"]
    rows = [[*header, *(["GUARANTEE", "CAPABILITY", "PRIORITY"] if wide else [])]]
    for queue in view.queues:
        rows += _queue_rows(queue, wide)
    right = (1, 2, 4, 6, 7, 8, *((9, 10, 11) if wide else ()))
    parts = [f"policy: {view.policy}", columns(rows, right)]
    parts += [queue.refusal for queue in view.queues if queue.refusal]
    if wide and view.rounds:
        parts.append("\n".join(("rounds of water-filling:", *_rounds(view))))
    if wide and view.tree is not None:
        parts.append("\n".join(("tree of shares:", *_tree(view.tree, 0))))
    return "\n\n".join(parts)


def _queue_rows(queue: QueueShare, wide: bool) -> Iterator[list[str]]:
    state = "Overused" if queue.overused else queue.state or "Unknown"
    head = [queue.name, str(queue.weight), f"{queue.share:.3f}", state, str(queue.pods)]
    names = dict.fromkeys((*queue.deserved, *queue.request, *queue.allocated, *(queue.guarantee if wide else ())))
    for name in names or (_NONE,):
        parts = [queue.allocated, queue.deserved, queue.request]
        parts += [queue.guarantee, queue.capability] if wide else []
        cells = [_amount(part, name) for part in parts]
        yield [*head, name, *cells, *([str(queue.priority)] if wide else [])]
        head = [""] * len(head)


def jobs_text(view: SharesView, *, wide: bool) -> str:
    """One row a job, largest shares last, as they would be served; ``wide`` adds what each holds and asks for."""
    rows = [["QUEUE", "JOB", "SHARE", "DOMINANT", "PODS", *(["ALLOCATED", "REQUEST"] if wide else [])]]
    rows += [_job_row(job, wide) for job in sorted(view.jobs, key=lambda job: (job.queue, job.share, job.key))]
    return columns(rows, (2, 4))


def _job_row(job: JobShare, wide: bool) -> list[str]:
    more = [_amounts(job.allocated), _amounts(job.request)] if wide else []
    return [job.queue, job.key, f"{job.share:.4f}", job.dominant or _NONE, str(job.pods), *more]


def _rounds(view: SharesView) -> Iterator[str]:
    for number, each in enumerate(view.rounds, start=1):
        yield f"  {number}: {_amounts(each.offered)} offered by weights of {each.weights}; {_met(each)}"


def _met(each: ShareRound) -> str:
    return f"met: {', '.join(each.met)}" if each.met else "nobody is met"


def _tree(node: TreeShare, depth: int) -> Iterator[str]:
    saturated = ", saturated" if node.saturated else ""
    dominant = f" of {node.dominant}" if node.dominant else ""
    jobs = f", {node.jobs} jobs" if node.jobs else ""
    yield f"{'  ' * (depth + 1)}{node.name}: weight {node.weight:g}, share {node.share:.4f}{dominant}{saturated}{jobs}"
    for child in node.children:
        yield from _tree(child, depth + 1)


def _amounts(amounts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {_amount(amounts, name)}" for name in amounts) or _NONE


def _amount(amounts: Natural, name: str) -> str:
    if name not in amounts:
        return _NONE
    return f"{amounts[name] / 2**30:.4g}Gi" if name == MEMORY else f"{amounts[name]:.6g}"
