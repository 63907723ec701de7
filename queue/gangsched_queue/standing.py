"""Tenants in their order, in branches that move as one (spec fair-share.md §3.4)."""

from __future__ import annotations

from bisect import bisect_left, insort

from gangsched_framework.fair_order import FairOrder, Key
from gangsched_framework.moved import Branch

_Entry = tuple[Key, str]


class Standing:
    """Inside a branch tenants stand by what they do not have in common, the branches by their first tenant.

    So what happens above a branch costs one place, however many tenants stand below. An order without branches has one
    that never moves.
    """

    def __init__(self, order: FairOrder) -> None:
        self._order = order
        self._places: dict[str, tuple[Branch, Key]] = {}
        self._members: dict[Branch, list[_Entry]] = {}
        self._heads: list[_Entry] = []
        self._head_of: dict[Branch, _Entry] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, tenant: str) -> bool:
        return tenant in self._places

    @property
    def first(self) -> str | None:
        """The tenant that comes before all others."""
        return self._heads[0][1] if self._heads else None

    def put(self, tenant: str) -> None:
        """A tenant stands here from now on; or it does already, and its key may have changed."""
        place = branch, key = self._order.branch(tenant), self._order.key_in_branch(tenant)
        old = self._places.get(tenant)
        if old == place:
            return
        if old is not None:
            self._leave(tenant, old)
            if old[0] != branch:
                self.shift(old[0])
        self._places[tenant] = place
        insort(self._members.setdefault(branch, []), (key, tenant))
        self.shift(branch)

    def take(self, tenant: str) -> None:
        """A tenant stands here no more, if it did."""
        place = self._places.pop(tenant, None)
        if place is not None:
            self._leave(tenant, place)
            self.shift(place[0])

    def _leave(self, tenant: str, place: tuple[Branch, Key]) -> None:
        branch, key = place
        members = self._members[branch]
        del members[bisect_left(members, (key, tenant))]
        if not members:
            del self._members[branch]

    def shift(self, branch: Branch) -> None:
        """The first tenant of a branch, or what its tenants have in common, may have changed."""
        members = self._members.get(branch)
        new = None
        if members:
            key, first = members[0]
            new = (self._order.tenant_key(first) if self._order.branches else key, first)
        old = self._head_of.get(branch)
        if new == old:
            return
        if old is not None:
            del self._heads[bisect_left(self._heads, old)]
            del self._head_of[branch]
        if new is not None:
            insort(self._heads, new)
            self._head_of[branch] = new

    def _check(self) -> None:
        """Assert that every tenant stands where it would be put now (tests only)."""
        for tenant, place in self._places.items():
            assert place == (self._order.branch(tenant), self._order.key_in_branch(tenant)), tenant
        assert {t for members in self._members.values() for _, t in members} == self._places.keys()
        assert all(members == sorted(members) for members in self._members.values())
        assert self._heads == sorted((self._order.tenant_key(m[0][1]), m[0][1]) for m in self._members.values())
        for members in self._members.values():
            names = [tenant for _, tenant in members]
            assert names == sorted(names, key=self._order.tenant_key), "keys in a branch order as whole keys do"
