"""The tables ``gangsched run`` prints."""

from __future__ import annotations

from gangsched.report.columns import columns, duration
from gangsched.report.run_view import EntityView, PodView, RunView

_NONE = "-"


def run_text(view: RunView, wide: bool = False) -> str:
    """A table of entities with their trees, one of pods, one of evicted pods if there are any."""
    parts = [_entities(view, wide), _pods(view, wide)]
    if view.evicted:
        parts.append(columns([("EVICTED", "FOR"), *view.evicted.items()]))
    return "\n\n".join(parts)


def _entities(view: RunView, wide: bool) -> str:
    more = ["SCHEDULED", "BACKOFF LEFT", "GATED BY"] if wide else []
    rows: list[tuple[str, ...]] = [("ENTITY", "VERDICT", "CONTAINER", "ATTEMPTS", "BOUND", *more, "MESSAGE")]
    for entity in view.entities:
        rows.extend(_entity(entity, wide))
    return columns(rows) if len(rows) > 1 else "No entities."


def _entity(entity: EntityView, wide: bool) -> list[tuple[str, ...]]:
    scheduled = entity.groups[0].scheduled if entity.groups else ""
    left = "" if entity.backoff_left is None else duration(entity.backoff_left)
    extra = [scheduled or _NONE, left or _NONE, entity.gated_by or _NONE] if wide else []
    bound = f"{entity.bound}/{entity.pods}"
    container = entity.container or _NONE
    rows: list[tuple[str, ...]] = [
        (entity.key, entity.verdict, container, str(entity.attempts), bound, *extra, entity.message)
    ]
    for group in entity.groups[1:]:
        name, below = "  " * group.depth + group.key, f"{group.bound}/{group.pods}"
        extra = [group.scheduled or _NONE, "", ""] if wide else []
        rows.append((name, group.verdict, "", "", below, *extra, group.message))
    return rows


def _pods(view: RunView, wide: bool) -> str:
    rows: list[tuple[str, ...]] = [
        ("POD", "VERDICT", "NODE", *(["GROUP", "NOMINATED", "REJECTED BY"] if wide else []), "MESSAGE")
    ]
    rows += [_pod(pod, wide) for pod in view.pods]
    return columns(rows) if len(rows) > 1 else "No pods."


def _pod(pod: PodView, wide: bool) -> tuple[str, ...]:
    extra = (pod.group or _NONE, pod.nominated or _NONE, ",".join(pod.rejected_by) or _NONE) if wide else ()
    return (pod.key, pod.verdict, pod.node or _NONE, *extra, pod.message)
