"""Gang: jobs below their minimum come before those that only grow (spec fair-share.md §5, G8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsched_framework.fair_order import Job, Key
from gangsched_framework.handle import Handle
from gangsched_framework.objects import POD, EntityKey, Pod, PodGroup
from gangsched_plugins import names
from gangsched_plugins.fairshare.book import Book


class Gang:
    """QueueSort of jobs: not ready first. Takes no arguments.

    A PodGroup is ready when as many of its pods as its minimum are bound, or wait and request nothing (G2); a composite
    group when as many of its children are. A plain pod that waits is not ready.
    """

    name = names.GANG

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._forest = handle.forest
        self._book = Book(handle.accounts)

    def job_key(self, job: Job) -> Key:
        return (self._ready(job.key),)

    def _ready(self, key: EntityKey) -> bool:
        if key.kind == POD:
            return False
        group = self._forest.group(key)
        if group is None:
            return False
        if isinstance(group, PodGroup):
            return sum(map(self._counts, self._forest.pods(key).values())) >= group.required
        return sum(map(self._ready, self._forest.children(key))) >= group.required

    def _counts(self, pod: Pod) -> bool:
        """Whether a pod counts for the minimum: it is bound or assumed, or waits and requests nothing but a place."""
        placed = self._book.accounts.is_placed(pod.key)
        return bool(placed) or (placed is False and self._book.amounts(self._book.accounts.vector(pod)).is_empty)
