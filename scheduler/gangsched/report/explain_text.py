"""An explanation as ``gangsched explain`` prints it: a few lines about the pod, then the nodes; and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gangsched.engine.explain import Explanation, NodeExplanation
from gangsched.engine.settings import SECOND
from gangsched.engine.waiting import Waiting
from gangsched.replay.explained import Moment
from gangsched.replay.times import seconds
from gangsched.report.columns import columns, duration
from gangsched.report.cycle_text import step_document, step_lines

_NONE = "-"


def explain_text(explanation: Explanation) -> str:
    """The pod in a few lines, a table of the feasible nodes with their scores, one of the refused nodes."""
    parts = ["\n".join(_head(explanation))]
    feasible = [node for node in explanation.nodes if node.feasible]
    refused = [node for node in explanation.nodes if not node.feasible]
    if feasible:
        parts.append(_scores(feasible))
    if refused:
        parts.append(_refusals(refused))
    if explanation.attempt:
        parts.append("\n".join((f"an attempt of {explanation.entity} now:", *step_lines(explanation.attempt))))
    return "\n\n".join(parts)


def _head(explanation: Explanation) -> Iterator[str]:
    where = f"on {explanation.node}" if explanation.node else "has no node"
    of = "" if explanation.entity.kind == "pod" else f", of {explanation.entity}"
    yield f"pod {explanation.pod}{of}: {where}"
    if explanation.waiting is not None:
        yield from (f"  {line}" for line in _waits(explanation.waiting))
    if not explanation.nodes:
        yield f"  no node is looked at: {explanation.message}"
        return
    alone = "were it not there" if explanation.node else "tried alone now"
    verdict = f"goes to {explanation.chosen}" if explanation.chosen else f"fits nowhere: {explanation.message}"
    yield f"  {alone}, it {verdict}"
    yield f"  looked at node by node: {explanation.by_nodes}" if explanation.by_nodes else "  looked at by columns"


def _waits(waiting: Waiting) -> Iterator[str]:
    attempts = f"{waiting.attempts} attempt{'' if waiting.attempts == 1 else 's'}"
    yield f"waits: {waiting.container or 'in no queue'}, {attempts}"
    if waiting.backoff_left is not None:
        yield f"backoff left: {duration(max(0, waiting.backoff_left))}"
    if waiting.gated_by:
        yield f"gated by {waiting.gated_by}" + (f": {waiting.reason}" if waiting.reason else "")
    elif waiting.reason:
        yield f"passed over: {waiting.reason}" if waiting.container == "active" else f"because: {waiting.reason}"
    if waiting.rejected_by:
        yield f"rejected by {', '.join(waiting.rejected_by)}"
    if waiting.message:
        yield f"last message: {waiting.message}"


def _scores(nodes: list[NodeExplanation]) -> str:
    """One column a plugin: the raw score, and after the arrow what it adds to the total."""
    plugins = list(dict.fromkeys(score.plugin for node in nodes for score in node.scores))
    rows: list[tuple[str, ...]] = [("NODE", "TOTAL", *plugins)]
    for node in nodes:
        by_plugin = {score.plugin: score for score in node.scores}
        cells = [f"{s.raw} → {s.normalized}×{s.weight}" for s in (by_plugin.get(p) for p in plugins) if s is not None]
        rows.append((node.node, _NONE if node.total is None else str(node.total), *cells))
    return columns(rows)


def _refusals(nodes: list[NodeExplanation]) -> str:
    rows = [(node.node, node.plugin or _NONE, node.code.value, node.message) for node in nodes]
    return columns([("NODE", "REFUSED BY", "CODE", "MESSAGE"), *rows])


def explain_document(explanation: Explanation) -> dict[str, Any]:
    """For JSON and YAML."""
    return {
        "pod": explanation.pod,
        "entity": str(explanation.entity),
        "node": explanation.node or None,
        "chosen": explanation.chosen or None,
        "message": explanation.message,
        "placedBy": None if not explanation.nodes else "nodes" if explanation.by_nodes else "columns",
        "placedByReason": explanation.by_nodes,
        "waiting": None if explanation.waiting is None else _waiting_document(explanation.waiting),
        "attempt": [*map(step_document, explanation.attempt)],
        "nodes": [_node_document(node) for node in explanation.nodes],
    }


def moments_text(moments: Iterable[Moment]) -> str:
    """The explanations of a replay, one after the other."""
    parts = (f"cycle {m.cycle} at {duration(m.time)}: {explain_text(m.explanation)}" for m in moments)
    return "\n\n".join(parts)


def moments_document(moments: Iterable[Moment]) -> list[dict[str, Any]]:
    """For JSON: ``t`` in seconds of the trace."""
    return [{"t": seconds(m.time), "cycle": m.cycle, **explain_document(m.explanation)} for m in moments]


def _waiting_document(waiting: Waiting) -> dict[str, Any]:
    left = waiting.backoff_left
    return {
        "container": waiting.container or None,
        "attempts": waiting.attempts,
        "backoffLeftSeconds": None if left is None else max(0, left) / SECOND,
        "gatedBy": waiting.gated_by or None,
        "reason": waiting.reason,
        "rejectedBy": list(waiting.rejected_by),
        "message": waiting.message,
    }


def _node_document(node: NodeExplanation) -> dict[str, Any]:
    if not node.feasible:
        return {
            "node": node.node,
            "feasible": False,
            "plugin": node.plugin or None,
            "code": node.code.value,
            "message": node.message,
        }
    scores = {
        score.plugin: {
            "raw": score.raw,
            "normalized": score.normalized,
            "weight": score.weight,
            "weighted": score.weighted,
        }
        for score in node.scores
    }
    return {"node": node.node, "feasible": True, "total": node.total, "scores": scores}
