"""Waiting entities on two levels, tenant then job, re-keyed only where something changed (architecture.md §6).

Inside a tenant, entities stand in classes by the request of their next pod: whether the tenant could take a pod is
asked once a class, not once an entity. A tenant, or a class of it, that is passed over is put aside until there may be
more room. So the head costs O(log n) beside what changed since it was last looked at, whatever the number of entities.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator

from attrs import define, field

from gangsched_framework.fair_order import FairOrder, Key
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.moved import Moved
from gangsched_framework.objects import EntityKey
from gangsched_framework.vectors import Vector
from gangsched_queue.entities import Entity
from gangsched_queue.entity_heap import EntityHeap, HeapEntry
from gangsched_queue.member_gates import member_order
from gangsched_queue.standing import standing_of


@define(eq=False)
class _Class:
    """Entities of one tenant whose next pods request the same.

    ``head``: its first entity as it stands among the tenant's heads; None when the class is ``refused``.
    """

    tenant: _Tenant
    requested: Vector
    entities: EntityHeap
    head: _Head | None = None
    refused: bool = False


_Head = tuple[HeapEntry, _Class]


@define(eq=False)
class _Tenant:
    """``heads``: the first entity of each class that is not put aside, in order; ``refused``: the classes that are.

    ``aside``: the whole tenant is put aside.
    """

    name: str
    classes: dict[Vector, _Class] = field(factory=dict)
    heads: list[_Head] = field(factory=list)
    refused: dict[Vector, _Class] = field(factory=dict)
    aside: bool = False

    def sync(self, cls: _Class) -> None:
        """The first entity of a class may be another, or the class be refused now."""
        entry, old = cls.entities.first(), cls.head
        if old is not None:
            if entry is old[0] and not cls.refused:
                return
            heads = self.heads
            del heads[0 if heads[0] is old else bisect_left(heads, old)]
            cls.head = None
        if entry is None:
            del self.classes[cls.requested]
            self.refused.pop(cls.requested, None)
        elif not cls.refused:
            cls.head = new = (entry, cls)
            insort(self.heads, new)

    def refuse(self, cls: _Class) -> None:
        """A class is put aside."""
        cls.refused = True
        self.refused[cls.requested] = cls
        self.sync(cls)

    def recall(self) -> None:
        """There may be more room: whoever was put aside may be asked again."""
        self.aside = False
        refused, self.refused = self.refused, {}
        for cls in refused.values():
            cls.refused = False
            self.sync(cls)


class Shares:
    """Hands what changed in the shares to everybody who keeps entities in their order."""

    def __init__(self, order: FairOrder) -> None:
        self.order = order
        self.readers: list[FairTenants] = []

    def pull(self) -> None:
        """Before each look at an order."""
        for settle in self.order.settling:
            settle()
        moved = self.order.accounts.take_moved()
        if moved is not None:
            for reader in self.readers:
                if reader.entities:
                    reader.note(moved)


class FairTenants:
    """Entities by the order of shares, passed over or not (fair-share.md §4.3): the active queue of tenants.

    ``prefix`` comes before the job's key in the order inside a tenant.
    """

    def __init__(self, shares: Shares, forest: Forest, prefix: Callable[[Entity], Key] | None = None) -> None:
        self._shares = shares
        self._order = shares.order
        self._forest = forest
        self._job_key: Callable[[Entity], Key] = shares.order.job_key
        if prefix is not None:
            self._job_key = lambda entity: prefix(entity) + shares.order.job_key(entity)
        self.entities: dict[EntityKey, Entity] = {}
        """In order of entry."""
        self._class_of: dict[EntityKey, _Class] = {}
        self._stale: dict[EntityKey, None] = {}
        self._tenants: dict[str, _Tenant] = {}
        self._standing = standing_of(shares.order)
        shares.readers.append(self)

    def __len__(self) -> int:
        return len(self.entities)

    def __contains__(self, key: EntityKey) -> bool:
        return key in self.entities

    def __iter__(self) -> Iterator[Entity]:
        """In order of entry."""
        return iter(self.entities.values())

    def get(self, key: EntityKey) -> Entity | None:
        return self.entities.get(key)

    # --- changes: of entities noted now, carried out at the next look -------------------------------------------------

    def enter(self, entity: Entity) -> None:
        """Enter an entity that is not here."""
        assert entity.key not in self.entities, f"{entity.key} is queued twice"
        self.entities[entity.key] = entity
        self._stale[entity.key] = None

    def refresh(self, entity: Entity) -> None:
        """An entity that is here may have another tenant, key or next pod."""
        self._stale[entity.key] = None

    touch = refresh

    def remove(self, key: EntityKey) -> Entity | None:
        """Take an entity out; None when it is not here."""
        entity = self.entities.pop(key, None)
        if entity is not None:
            self._stale.pop(key, None)
            cls = self._class_of.pop(key, None)
            if cls is not None:
                self._leave(key, cls)
        return entity

    def note(self, moved: Moved) -> None:
        """Keys or room changed."""
        for key in moved.jobs:
            if key in self.entities:
                self._stale[key] = None
        for name, grew in moved.tenants.items():
            tenant = self._tenants.get(name)
            if tenant is not None:
                if grew and (tenant.aside or tenant.refused):
                    tenant.recall()
                if tenant.heads and not tenant.aside:
                    self._standing.put(name)
        for branch in moved.branches:
            self._standing.shift(branch)

    # --- looking ------------------------------------------------------------------------------------------------------

    def head(self) -> tuple[Key, Entity] | None:
        """The entity to be popped next and its order; None when all are passed over."""
        found = self._first()
        return None if found is None else (found[0][0], found[0][2])

    def pop(self) -> Entity | None:
        """Take the head out."""
        found = self._first()
        if found is None:
            return None
        (_, key, entity), cls = found
        del self.entities[key], self._class_of[key]
        cls.entities.pop()
        self._sync(cls)
        return entity

    def why_not(self, entity: Entity) -> str:
        """Why an entity that is here is passed over; '' = it is not."""
        self._settle()
        order = self._order
        tenant = order.account(order.tenant_of(entity))
        return order.passes_over(tenant) or order.refuses(tenant, self._requested(entity))

    def in_order(self) -> list[Entity]:
        """As pops would come if shares stayed as they are, passed over ones in their places."""
        self._settle()
        tenants = sorted(self._tenants.values(), key=lambda tenant: self._order.tenant_key(tenant.name))
        return [entity for tenant in tenants for entity in _in_tenant_order(tenant)]

    def _first(self) -> _Head | None:
        self._settle()
        order, standing = self._order, self._standing
        while (name := standing.first) is not None:
            tenant, account = self._tenants[name], order.account(name)
            if order.passes_over(account):
                tenant.aside = True
            else:
                while heads := tenant.heads:
                    head = heads[0]
                    if not order.refuses(account, head[1].requested):
                        return head
                    tenant.refuse(head[1])
            standing.take(name)
        return None

    # --- carrying out -------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        self._shares.pull()
        if self._stale:
            stale, self._stale = self._stale, {}
            for key in stale:
                self._place(self.entities[key])

    def _place(self, entity: Entity) -> None:
        key, name, requested = entity.key, self._order.tenant_of(entity), self._requested(entity)
        cls = self._class_of.get(key)
        if cls is not None:
            stays = cls.requested == requested and cls.tenant.name == name
            if stays and cls.entities.order_of(key) == self._job_key(entity):
                return
            self._leave(key, cls)
        tenant = self._tenants.get(name)
        if tenant is None:
            tenant = self._tenants[name] = _Tenant(name)
        cls = tenant.classes.get(requested)
        if cls is None:
            cls = tenant.classes[requested] = _Class(tenant, requested, EntityHeap(self._job_key))
        self._class_of[key] = cls
        cls.entities.enter(entity)
        if cls.head is None or (cls.entities.order_of(key), key) < cls.head[0]:
            tenant.sync(cls)
            if tenant.heads and not tenant.aside and name not in self._standing:
                self._standing.put(name)

    def _leave(self, key: EntityKey, cls: _Class) -> None:
        cls.entities.remove(key)
        self._sync(cls)

    def _sync(self, cls: _Class) -> None:
        tenant = cls.tenant
        tenant.sync(cls)
        if not tenant.heads:
            self._standing.take(tenant.name)
            if not tenant.classes:
                del self._tenants[tenant.name]

    def _requested(self, entity: Entity) -> Vector:
        """The request of the next pod: of a tree, the first one that will be tried (podgroup-scheduling.md §2.9)."""
        if isinstance(entity, QueuedPodInfo):
            return self._order.accounts.vector(entity.pod)
        leaf = min(entity.by_leaf, key=self._forest.position) if len(entity.by_leaf) > 1 else next(iter(entity.by_leaf))
        members = entity.by_leaf[leaf].values()
        pod = next(iter(members)).pod
        spec = pod.spec
        for info in members:
            if info.pod.spec is not spec:  # else it is all one which is first
                pod = min(members, key=member_order).pod
                break
        return self._order.accounts.vector(pod)

    def _check(self) -> None:
        """Assert that every key, class and place is what looking anew would give (tests only)."""
        self._settle()
        assert self._class_of.keys() == self.entities.keys()
        for key, cls in self._class_of.items():
            entity = self.entities[key]
            assert cls.tenant is self._tenants[self._order.tenant_of(entity)], f"{key}: tenant"
            assert cls is cls.tenant.classes[self._requested(entity)], f"{key}: next pod"
            assert cls.entities.order_of(key) == self._job_key(entity), f"{key}: order"
        for tenant in self._tenants.values():
            self._check_tenant(tenant)
        self._standing._check()
        assert len(self._standing) == sum(name in self._standing for name in self._tenants)

    def _check_tenant(self, tenant: _Tenant) -> None:
        account = self._order.account(tenant.name)
        assert not tenant.aside or self._order.passes_over(account), f"{tenant.name} is put aside, and may go on"
        assert (tenant.name in self._standing) == (bool(tenant.heads) and not tenant.aside), tenant.name
        heads = []
        for requested, cls in tenant.classes.items():
            cls.entities._check()
            assert cls.refused == (requested in tenant.refused)
            assert not cls.refused or self._order.refuses(account, requested), f"{tenant.name}: class put aside"
            entry = cls.entities.first()
            assert entry is not None
            assert cls.requested == requested
            assert cls.head == (None if cls.refused else (entry, cls)), f"{tenant.name}: head"
            if cls.head is not None:
                heads.append(cls.head)
        assert tenant.heads == sorted(heads)
        assert tenant.refused.keys() <= tenant.classes.keys()


def _in_tenant_order(tenant: _Tenant) -> list[Entity]:
    entries = [(cls.entities.order_of(e.key), e.key, e) for cls in tenant.classes.values() for e in cls.entities]
    return [entity for _, _, entity in sorted(entries, key=lambda entry: entry[:2])]
