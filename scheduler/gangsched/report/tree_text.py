"""One tree as ``gangsched explain podgroup/NAME`` shows it: what ``run`` shows of it, and its next attempt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve, frozen

from gangsched.api import Engine
from gangsched.engine.report import CycleReport
from gangsched.engine.trace import TraceStep
from gangsched.report.cycle_text import step_document, step_lines
from gangsched.report.run_text import run_text
from gangsched.report.run_view import RunView, view_run
from gangsched_framework.entity_key import POD_GROUP, EntityKey
from gangsched_framework.errors import GangschedError, did_you_mean


@frozen
class TreeView:
    """The tree of a group: ``view`` is a run's, of this tree alone; ``attempt`` the steps its attempt would take now.

    There are no steps when all its pods have nodes, and while it is gated, incomplete or passed over.
    """

    root: EntityKey
    view: RunView
    attempt: tuple[TraceStep, ...]

    def text(self) -> str:
        """As ``run -o wide`` shows it, then the steps."""
        parts = [run_text(self.view, wide=True)]
        if self.attempt:
            parts.append("\n".join((f"an attempt of {self.root} now:", *step_lines(self.attempt))))
        return "\n\n".join(parts)

    def document(self) -> dict[str, Any]:
        """For JSON and YAML."""
        return {"entity": str(self.root), **self.view.document(), "attempt": [*map(step_document, self.attempt)]}


def view_tree(engine: Engine, reports: Sequence[CycleReport], group: EntityKey) -> TreeView:
    """The tree ``group`` stands in, after ``reports``, the cycles made. Raises GangschedError for an unknown one."""
    view = view_run(engine, reports)
    for entity in view.entities:
        groups = {below.key: None for below in entity.groups}
        if group in groups:
            pods = tuple(pod for pod in view.pods if _leaf(pod.key, pod.group) in groups)
            bindings = {pod.key: pod.node for pod in pods if pod.key in view.bindings}
            evicted = {victim: by for victim, by in view.evicted.items() if by in groups}
            alone = evolve(view, entities=(entity,), pods=pods, bindings=bindings, evicted=evicted)
            return TreeView(entity.key, alone, engine.core.rehearse(entity.key))
    known = [below.key for entity in view.entities for below in entity.groups]
    raise GangschedError(f"{group} is not known{did_you_mean(group, known)}")


def _leaf(pod: str, group: str) -> EntityKey:
    return EntityKey.of(POD_GROUP, pod.partition("/")[0], group)
