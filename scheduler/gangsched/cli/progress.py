"""Progress of a replay on stderr, for replays that take longer than a second."""

from __future__ import annotations

import sys
import time

from gangsched.replay.player import Player
from gangsched.report.columns import duration, grouped

_PERIOD = 1.0
_LOOKS = 64
"""Instants between two looks at the wall clock."""


class Progress:
    """One line a second: overwritten on a terminal, one below the other in a file at ten times the distance."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._period = _PERIOD if self._terminal else 10 * _PERIOD
        self._due = time.monotonic() + _PERIOD
        self._instants = 0

    def __call__(self, player: Player) -> None:
        self._instants += 1
        if self._instants % _LOOKS or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + self._period
        text = f"{duration(player.ledger.now)}: {grouped(player.events)} events, {grouped(player.tries)} cycles"
        self._show(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")

    def end(self) -> None:
        """Leave the terminal's line empty."""
        if self._terminal:
            self._show("\r\x1b[K")

    def _show(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
