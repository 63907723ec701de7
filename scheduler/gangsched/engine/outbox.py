"""Outbox: decisions in the order they are made, until the host takes them."""

from __future__ import annotations

from gangsched.engine.decisions import Decision


class Outbox:
    """Collects the decisions of one stage."""

    def __init__(self) -> None:
        self._decisions: list[Decision] = []
        self.emit = self._decisions.append
        """Add a decision."""
        self.emit_all = self._decisions.extend
        """Add several, in their order."""

    def take(self) -> tuple[Decision, ...]:
        """Everything emitted since the last call."""
        decisions = tuple(self._decisions)
        self._decisions.clear()
        return decisions

    def waiting(self) -> int:
        """How many decisions nobody has taken yet."""
        return len(self._decisions)

    def take_after(self, count: int) -> tuple[Decision, ...]:
        """Those after the first ``count``, which stay."""
        decisions = tuple(self._decisions[count:])
        del self._decisions[count:]
        return decisions
