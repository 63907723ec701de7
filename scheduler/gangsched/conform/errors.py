"""What may stop a scenario from being played."""

from __future__ import annotations

from gangsched_framework.errors import GangschedError, on_one_line


class ConformError(GangschedError):
    """A file that is no recorded scenario, or one that cannot be read or played; the text names file and line."""

    def __init__(self, text: str) -> None:
        super().__init__(on_one_line(text))


class NotBuilt(Exception):
    """A scenario needs something this engine does not have; the text names it."""
