"""Waiting entities on two levels, tenant then job, re-keyed only where something changed (architecture.md §6).

Inside a tenant, entities stand in classes by the request of their next pod: whether the tenant could take a pod is
asked once a class, not once an entity. A tenant, or a class of it, that is passed over is put aside until there may be
more room. So the head costs O(log n) beside what changed since it was last looked at, whatever the number of entities.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from typing import Any

from attrs import define, field

from gangsched_framework.fair_order import FairOrder, Key
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.moved import Branch, Moved
from gangsched_framework.objects import EntityKey
from gangsched_framework.vectors import Vector
from gangsched_queue.entities import Entity
from gangsched_queue.entity_heap import EntityHeap
from gangsched_queue.member_gates import member_order
from gangsched_queue.standing import Standing


@define(eq=False)
class _Tenant:
    """``heads``: (order, entity key, class) of the first entity of each class that is not put aside.

    ``aside`` says why the whole tenant is put aside; ``refused`` holds the classes that are.
    """

    name: str
    classes: dict[Vector, EntityHeap] = field(factory=dict)
    heads: list[Any] = field(factory=list)
    head_of: dict[Vector, Any] = field(factory=dict)
    refused: dict[Vector, str] = field(factory=dict)
    aside: str = ""

    def sync(self, requested: Vector) -> None:
        """The first entity of a class may be another, or the class be refused now."""
        heap = self.classes.get(requested)
        head = heap.head() if heap is not None else None
        if heap is not None and head is None:
            del self.classes[requested]
            self.refused.pop(requested, None)
        new = None if head is None or requested in self.refused else (head[0], head[1].key, requested)
        old = self.head_of.get(requested)
        if new == old:
            return
        if old is not None:
            del self.heads[bisect_left(self.heads, old)]
            del self.head_of[requested]
        if new is not None:
            insort(self.heads, new)
            self.head_of[requested] = new


@define(eq=False)
class _Place:
    """Where an entity stands."""

    tenant: _Tenant
    requested: Vector
    order: Key


class FairTenants:
    """``prefix`` comes before the job's key in the order inside a tenant."""

    def __init__(self, order: FairOrder, forest: Forest, prefix: Callable[[Entity], Key] = lambda _: ()) -> None:
        self._order = order
        self._forest = forest
        self._prefix = prefix
        self._entities: dict[EntityKey, Entity] = {}
        self._places: dict[EntityKey, _Place] = {}
        self._stale: dict[EntityKey, None] = {}
        self._tenants: dict[str, _Tenant] = {}
        self._standing = Standing(order)
        self._moved: dict[str, bool] = {}
        self._shifted: dict[Branch, None] = {}

    def __len__(self) -> int:
        return len(self._entities)

    def __contains__(self, key: EntityKey) -> bool:
        return key in self._entities

    def __iter__(self) -> Iterator[Entity]:
        """In order of entry."""
        return iter(self._entities.values())

    def get(self, key: EntityKey) -> Entity | None:
        return self._entities.get(key)

    # --- changes: noted now, carried out at the next look -------------------------------------------------------------

    def add(self, entity: Entity) -> None:
        """Enter an entity that is not here."""
        assert entity.key not in self._entities, f"{entity.key} is queued twice"
        self._entities[entity.key] = entity
        self._stale[entity.key] = None

    def refresh(self, key: EntityKey) -> None:
        """An entity that is here may have another tenant, key or next pod."""
        self._stale[key] = None

    def remove(self, key: EntityKey) -> Entity | None:
        """Take an entity out; None when it is not here."""
        entity = self._entities.pop(key, None)
        if entity is not None:
            self._stale.pop(key, None)
            self._unplace(key)
        return entity

    def note(self, moved: Moved) -> None:
        """Keys or room changed."""
        entities = self._entities
        if not entities:
            return
        for key in moved.jobs:
            if key in entities:
                self._stale[key] = None
        for name, grew in moved.tenants.items():
            if name in self._tenants:
                self._moved[name] = grew or self._moved.get(name, False)
        self._shifted.update(moved.branches)

    # --- looking ------------------------------------------------------------------------------------------------------

    def head(self) -> tuple[Key, Entity] | None:
        """The entity to be popped next and its order; None when all are passed over."""
        self._settle()
        while (first := self._standing.first) is not None:
            found = self._head_of(self._tenants[first])
            if found is not None:
                return found
            self._standing.take(first)
        return None

    def pop(self) -> Entity | None:
        """Take the head out."""
        head = self.head()
        return self.remove(head[1].key) if head is not None else None

    def why_not(self, entity: Entity) -> str:
        """Why an entity that is here is passed over; '' = it is not."""
        tenant = self._order.tenant_of(entity)
        return self._order.passes_over(tenant) or self._order.refuses(tenant, self._requested(entity))

    def in_order(self) -> list[Entity]:
        """As pops would come if shares stayed as they are, passed over ones in their places."""
        self._settle()
        tenants = sorted(self._tenants.values(), key=lambda tenant: self._order.tenant_key(tenant.name))
        return [entity for tenant in tenants for entity in _in_tenant_order(tenant)]

    def _head_of(self, tenant: _Tenant) -> tuple[Key, Entity] | None:
        tenant.aside = self._order.passes_over(tenant.name)
        if tenant.aside:
            return None
        while tenant.heads:
            order, key, requested = tenant.heads[0]
            reason = self._order.refuses(tenant.name, requested)
            if not reason:
                return order, self._entities[key]
            tenant.refused[requested] = reason
            tenant.sync(requested)
        return None

    # --- carrying out -------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        if self._stale:
            stale, self._stale = self._stale, {}
            for key in stale:
                self._place(self._entities[key])
        if self._moved:
            moved, self._moved = self._moved, {}
            for name, grew in moved.items():
                tenant = self._tenants.get(name)
                if tenant is not None:
                    self._move(tenant, grew)
        if self._shifted:
            shifted, self._shifted = self._shifted, {}
            for branch in shifted:
                self._standing.shift(branch)

    def _move(self, tenant: _Tenant, grew: bool) -> None:
        if grew and (tenant.refused or tenant.aside):
            tenant.aside = ""
            refused, tenant.refused = tenant.refused, {}
            for requested in refused:
                tenant.sync(requested)
        if tenant.heads and not tenant.aside:
            self._standing.put(tenant.name)

    def _place(self, entity: Entity) -> None:
        key, name, requested = entity.key, self._order.tenant_of(entity), self._requested(entity)
        order = (*self._prefix(entity), *self._order.job_key(entity))
        place = self._places.get(key)
        if place is not None:
            if place.order == order and place.requested == requested and place.tenant.name == name:
                return
            self._unplace(key)
        tenant = self._tenants.get(name)
        if tenant is None:
            tenant = self._tenants[name] = _Tenant(name)
        tenant.classes.setdefault(requested, EntityHeap()).add(entity, order)
        self._places[key] = _Place(tenant, requested, order)
        tenant.sync(requested)
        if tenant.heads and not tenant.aside and name not in self._standing:
            self._standing.put(name)

    def _unplace(self, key: EntityKey) -> None:
        place = self._places.pop(key, None)
        if place is None:
            return
        tenant = place.tenant
        tenant.classes[place.requested].remove(key)
        tenant.sync(place.requested)
        if not tenant.heads:
            self._standing.take(tenant.name)
        if not tenant.classes:
            del self._tenants[tenant.name]

    def _requested(self, entity: Entity) -> Vector:
        """The request of the next pod: of a tree, the first one that will be tried (podgroup-scheduling.md §2.9)."""
        if isinstance(entity, QueuedPodInfo):
            return self._order.accounts.vector(entity.pod)
        leaf = min(entity.leaves(), key=self._forest.position)
        return self._order.accounts.vector(min(entity.members_of(leaf), key=member_order).pod)

    def _check(self) -> None:
        """Assert that every key, class and place is what looking anew would give (tests only)."""
        self._settle()
        assert self._places.keys() == self._entities.keys()
        for key, place in self._places.items():
            entity = self._entities[key]
            assert place.tenant is self._tenants[self._order.tenant_of(entity)], f"{key}: tenant"
            assert place.requested == self._requested(entity), f"{key}: next pod"
            assert place.order == (*self._prefix(entity), *self._order.job_key(entity)), f"{key}: order"
            assert key in place.tenant.classes[place.requested]
        for tenant in self._tenants.values():
            self._check_tenant(tenant)
        self._standing._check()
        assert len(self._standing) == sum(name in self._standing for name in self._tenants)

    def _check_tenant(self, tenant: _Tenant) -> None:
        passed_over = self._order.passes_over(tenant.name)
        assert not tenant.aside or passed_over, f"{tenant.name} is put aside, and may go on"
        assert (tenant.name in self._standing) == (bool(tenant.heads) and not tenant.aside), tenant.name
        for requested, heap in tenant.classes.items():
            heap._check()
            refused = tenant.refused.get(requested)
            assert refused is None or self._order.refuses(tenant.name, requested), f"{tenant.name}: class put aside"
            head = heap.head()
            assert head is not None
            expected = None if refused is not None else (head[0], head[1].key, requested)
            assert tenant.head_of.get(requested) == expected, f"{tenant.name}: head"
        assert sorted(tenant.head_of.values()) == tenant.heads


def _in_tenant_order(tenant: _Tenant) -> list[Entity]:
    entries = [(heap.order_of(e.key), e.key, e) for heap in tenant.classes.values() for e in heap]
    return [entity for _, _, entity in sorted(entries, key=lambda entry: entry[:2])]
