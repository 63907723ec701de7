"""What is derived from the nodes of a table is kept as long as these stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_table import NodeTable

Key = TypeVar("Key", bound=Hashable)
Derived = TypeVar("Derived")


class ByNodes(Generic[Key, Derived]):
    """The results of ``derive``, for one ``classes`` of the table."""

    def __init__(self, derive: Callable[[Key, NodeTable], Derived]) -> None:
        self._derive = derive
        self._classes: NodeClasses | None = None
        self._known: dict[Key, Derived] = {}

    def of(self, key: Key, table: NodeTable) -> Derived:
        """What ``derive`` says of the nodes of the settled table."""
        if self._classes is not table.classes:
            self._known.clear()
            self._classes = table.classes
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._derive(key, table)
        return known
