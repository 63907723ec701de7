"""Explanations of one pod of a replay, made at the instants that decide about it."""

from __future__ import annotations

from attrs import define, field, frozen

from gangsched.api import Engine
from gangsched.engine.decisions import Bind
from gangsched.engine.explain import Explanation
from gangsched.engine.report import CycleReport


@frozen
class Moment:
    """What was found of the pod right after a cycle that tried it; ``time`` in engine nanoseconds."""

    time: int
    cycle: int
    explanation: Explanation


@define(eq=False)
class Explained:
    """Explains ``pod`` (``namespace/name``) when it is tried first, and whenever it gets a node.

    The pod is explained as it stands after the cycle: one that was bound as if it were not there, beside the others of
    its gang. Nothing of the replay changes.
    """

    engine: Engine
    pod: str
    moments: list[Moment] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.engine.on_report.append(self._on_report)

    def _on_report(self, report: CycleReport) -> None:
        if self.pod not in report.pods or self.engine.core.pod(self.pod) is None:
            return
        bound = any(isinstance(decision, Bind) and decision.pod == self.pod for decision in report.decisions)
        if bound or not self.moments:
            self.moments.append(Moment(report.time, report.cycle, self.engine.explain(self.pod)))
