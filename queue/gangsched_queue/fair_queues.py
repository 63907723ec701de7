"""The active queue and the backoff queue under a dynamic QueueSort: both offer entities in the order of shares."""

from __future__ import annotations

from collections.abc import Iterator

from gangsched_framework.fair_order import FairOrder, Key
from gangsched_framework.hierarchy import Forest
from gangsched_framework.objects import EntityKey
from gangsched_queue.backoff_queue import BackoffQueue
from gangsched_queue.entities import Entity
from gangsched_queue.entity_heap import SortKey
from gangsched_queue.fair_tenants import FairTenants
from gangsched_queue.settings import QueueSettings


class Shares:
    """Hands what changed in the shares to everybody who keeps entities in their order."""

    def __init__(self, order: FairOrder) -> None:
        self.order = order
        self._readers: list[FairTenants] = []

    def reader(self, tenants: FairTenants) -> FairTenants:
        self._readers.append(tenants)
        return tenants

    def pull(self) -> None:
        """Before each look at an order."""
        moved = self.order.drain()
        if moved is not None:
            for reader in self._readers:
                reader.note(moved)


class FairActiveQueue:
    """Entities ready to be popped, unless their tenant or their next pod is passed over (fair-share.md §4.3)."""

    def __init__(self, shares: Shares, forest: Forest) -> None:
        self._shares = shares
        self._tenants = shares.reader(FairTenants(shares.order, forest))

    def enter(self, entity: Entity) -> None:
        self._tenants.add(entity)

    def refresh(self, entity: Entity) -> None:
        self._tenants.refresh(entity.key)

    def touch(self, entity: Entity) -> None:
        self._tenants.refresh(entity.key)

    def remove(self, key: EntityKey) -> Entity | None:
        return self._tenants.remove(key)

    def get(self, key: EntityKey) -> Entity | None:
        return self._tenants.get(key)

    def head(self) -> tuple[Key, Entity] | None:
        self._shares.pull()
        return self._tenants.head()

    def pop(self) -> Entity | None:
        self._shares.pull()
        return self._tenants.pop()

    def in_order(self) -> list[Entity]:
        self._shares.pull()
        return self._tenants.in_order()

    def why_not(self, entity: Entity) -> str:
        """Why an entity that is here is passed over; '' = it is not."""
        self._shares.pull()
        return self._tenants.why_not(entity)

    def __len__(self) -> int:
        return len(self._tenants)

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._tenants)

    def _check(self) -> None:
        self._shares.pull()
        self._tenants._check()


class FairBackoffQueue(BackoffQueue):
    """Its early pops follow shares too; inside a tenant, who is nearest to the end of the penalty comes first."""

    def __init__(self, settings: QueueSettings, shares: Shares, forest: Forest) -> None:
        super().__init__(settings, _waiting_longest)
        self._shares = shares
        self._early = shares.reader(FairTenants(shares.order, forest, _expires))

    def add(self, entity: Entity) -> None:
        super().add(entity)
        if entity.key in self.entity_heap:
            self._early.add(entity)

    def remove(self, key: EntityKey) -> Entity | None:
        self._early.remove(key)
        return super().remove(key)

    def early_head(self) -> tuple[SortKey, Entity] | None:
        if not self._settings.pop_from_backoff:
            return None
        self._shares.pull()
        return self._early.head()

    def pop_early(self) -> Entity | None:
        head = self.early_head()
        return self.remove(head[1].key) if head is not None else None

    def pop_served(self, now: int) -> Entity | None:
        entity = super().pop_served(now)
        if entity is not None:
            self._early.remove(entity.key)
        return entity

    @property
    def can_pop_early(self) -> bool:
        return self.early_head() is not None

    def _check(self) -> None:
        super()._check()
        assert sorted(e.key for e in self._early) == sorted(e.key for e in self.entity_heap)
        self._shares.pull()
        self._early._check()


def _waiting_longest(entity: Entity) -> SortKey:
    return (entity.timestamp,)


def _expires(entity: Entity) -> Key:
    return (entity.backoff_expiration,)
