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
        self._book = _BoundPods(handle.accounts)

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
            return self._forest.scheduled_count(key) >= group.required or self._counted(key) >= group.required
        return sum(map(self._ready, self._forest.children(key))) >= group.required

    def _counted(self, leaf: EntityKey) -> int:
        """Bound pods, and waiting ones that request nothing."""
        bound = self._forest.scheduled_pods(leaf)
        waiting = (pod for uid, pod in self._forest.pods(leaf).items() if uid not in bound)
        return len(bound) + sum(map(self._book.requests_nothing, waiting))


class _BoundPods(Book):
    """Notes the jobs that gained or lost a bound pod."""

    def on_allocated(self, job: JobAccount, grew: bool) -> None:
        self._moved.jobs[job.key] = None

    def requests_nothing(self, pod: Pod) -> bool:
        """Whether a pod is best effort: ``pods`` does not count (R9)."""
        return self.amounts(self.accounts.vector(pod)).is_empty
