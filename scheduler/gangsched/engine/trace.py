"""TraceStep: the steps of one cycle, for people (`--trace`) and for comparison with recorded traces."""

from __future__ import annotations

from typing import Literal

from attrs import define, field, frozen

Kind = Literal[
    "pop",
    "skip",
    "early",
    "placement",
    "feasible",
    "pod",
    "pass",
    "revert",
    "scores",
    "root",
    "post-filter",
    "note",
    "complete",
    "requeue",
]


@frozen
class TraceStep:
    """One step. ``subject`` is a group key, an entity key or a pod's ``namespace/name``; ``depth`` its tree level.

    A ``note`` is what a plugin tells of its work, ``subject`` being the work's name.

    ``feasible`` steps carry ``progress`` = (R, S, M) and the answer in ``text``.
    """

    kind: Kind
    subject: str
    text: str = ""
    depth: int = 0
    progress: tuple[int, int, int] | None = None

    @property
    def line(self) -> str:
        """``KEY R=remaining S=scheduled M=minimum`` for a feasibility check (conformance README §4)."""
        remaining, scheduled, minimum = self.progress or (0, 0, 0)
        return f"{self.subject} R={remaining} S={scheduled} M={minimum}"


@define
class Tracer:
    """Collects steps when ``on``; costs one test otherwise."""

    on: bool = False
    steps: list[TraceStep] = field(factory=list)
    depth: int = 0

    def add(self, kind: Kind, subject: str, text: str = "", progress: tuple[int, int, int] | None = None) -> None:
        if self.on:
            self.steps.append(TraceStep(kind, subject, text, self.depth, progress))

    def take(self) -> tuple[TraceStep, ...]:
        """The steps so far; starts anew."""
        if not self.steps:
            return ()
        steps, self.steps = tuple(self.steps), []
        return steps
