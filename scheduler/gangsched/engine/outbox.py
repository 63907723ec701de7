"""Outbox: decisions in the order they are made, until the host takes them."""

from __future__ import annotations

from gangsched.engine.decisions import Decision


class Outbox:
    """Collects the decisions of one stage."""

    def __init__(self) -> None:
        self._decisions: list[Decision] = []

    def emit(self, decision: Decision) -> None:
        self._decisions.append(decision)

    def take(self) -> tuple[Decision, ...]:
        """Everything emitted since the last call."""
        decisions, self._decisions = tuple(self._decisions), []
        return decisions
