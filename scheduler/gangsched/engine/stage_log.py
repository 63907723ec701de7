"""The log of a cycle: one structlog event per stage, with ``cycle`` and ``entity`` bound. Silent unless asked."""

from __future__ import annotations

from typing import Any

import structlog


class StageLog:
    """``on`` tells whether anybody listens; callers test it before they gather values."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self._log = structlog.get_logger("gangsched")

    def stage(self, event: str, cycle: int, entity: str, **values: Any) -> None:
        """Log a stage: popped, reconciled, decided, completed, post_filtered, submitted, requeued."""
        if self.on:
            self._log.bind(cycle=cycle, entity=entity).info(event, **values)
