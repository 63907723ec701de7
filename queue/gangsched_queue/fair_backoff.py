"""The backoff queue under a dynamic QueueSort: it too offers entities in the order of shares."""

from __future__ import annotations

from collections.abc import Callable

from gangsched_framework.hierarchy import Forest
from gangsched_framework.objects import EntityKey
from gangsched_queue.backoff_queue import BackoffQueue, expires
from gangsched_queue.entities import Entity
from gangsched_queue.entity_heap import SortKey
from gangsched_queue.fair_tenants import FairTenants, Shares
from gangsched_queue.settings import QueueSettings


class FairBackoffQueue(BackoffQueue):
    """Its early pops follow shares too; inside a tenant, who is nearest to the end of the penalty comes first."""

    def __init__(
        self, settings: QueueSettings, sort_key: Callable[[Entity], SortKey], shares: Shares, forest: Forest
    ) -> None:
        super().__init__(settings, sort_key)
        self._early = FairTenants(shares, forest, expires)

    def add(self, entity: Entity) -> None:
        super().add(entity)
        if entity.key in self.entity_heap:
            self._early.enter(entity)

    def remove(self, key: EntityKey) -> Entity | None:
        self._early.remove(key)
        return super().remove(key)

    def early_head(self) -> tuple[SortKey, Entity] | None:
        if not self._settings.pop_from_backoff:
            return None
        return self._early.head()

    def pop_early(self) -> Entity | None:
        head = self.early_head()
        return self.remove(head[1].key) if head is not None else None

    def pop_served(self, now: int) -> Entity | None:
        entity = super().pop_served(now)
        if entity is not None:
            self._early.remove(entity.key)
        return entity

    def _check(self) -> None:
        super()._check()
        assert sorted(e.key for e in self._early) == sorted(e.key for e in self.entity_heap)
        self._early._check()
