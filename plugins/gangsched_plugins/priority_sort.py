"""PrioritySort: higher priority first, then who waits longer (spec node-plugins.md §7.12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsched_framework.handle import Handle
from gangsched_framework.interface import Sortable
from gangsched_plugins.names import PRIORITY_SORT


class PrioritySort:
    """QueueSort of pods and groups alike. Takes no arguments."""

    name = PRIORITY_SORT

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        pass

    def sort_key(self, entity: Sortable) -> tuple[int, ...]:
        """(−priority, queue timestamp)."""
        return (-entity.priority, entity.timestamp)
