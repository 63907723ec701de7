"""Gang: jobs below their minimum come before those that only grow (spec fair-share.md §5, G8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsched_framework.accounts import JobAccount
from gangsched_framework.fair_order import Job, Key, Moved
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
        self._book = _Members(handle.accounts)

    def tenant_key(self, tenant: str) -> Key:
        """No opinion on tenants."""
        return ()

    def job_key(self, job: Job) -> Key:
        return (self._ready(job.key),)

    def moved(self) -> Moved | None:
        return self._book.moved()

    def _ready(self, key: EntityKey) -> bool:
        if key.kind == POD:
            return False
        group = self._forest.group(key)
        if group is None:
            return False
        if isinstance(group, PodGroup):
            return sum(map(self._book.counts, self._forest.pods(key).values())) >= group.required
        return sum(map(self._ready, self._forest.children(key))) >= group.required


class _Members(Book):
    """Notes the jobs whose pods came, went, were bound or lost their place."""

    def on_allocated(self, job: JobAccount, grew: bool) -> None:
        self._moved.jobs[job.key] = None

    def on_requested(self, job: JobAccount) -> None:
        self._moved.jobs[job.key] = None

    def counts(self, pod: Pod) -> bool:
        """Whether a pod counts for the minimum: it is bound or assumed, or waits and requests nothing but a place."""
        placed = self.accounts.is_placed(pod.key)
        return bool(placed) or (placed is False and self.amounts(self.accounts.vector(pod)).is_empty)
