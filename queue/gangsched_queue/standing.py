"""Tenants in their order, alone or in branches that move as one (spec fair-share.md §3.4)."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any, Generic, Protocol, TypeVar

from gangsched_framework.fair_order import FairOrder, Key
from gangsched_framework.moved import Branch

Name = TypeVar("Name", str, Branch)


class Row(Generic[Name]):
    """Names in the order of their keys, which are of one length, then by name. O(log n) beside the shift of a list."""

    def __init__(self) -> None:
        self._entries: dict[Name, tuple[Any, ...]] = {}
        """The key with the name behind it: flat, as nested ones are compared twice."""
        self._order: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: Name) -> bool:
        return name in self._entries

    @property
    def first(self) -> Name | None:
        return self._order[0][-1] if self._order else None

    def place(self, name: Name, key: Key) -> None:
        """A name stands here by this key from now on."""
        entry, old = (*key, name), self._entries.get(name)
        if old == entry:
            return
        order = self._order
        if old is not None:
            del order[0 if order[0] is old else bisect_left(order, old)]
        self._entries[name] = entry
        insort(order, entry)

    def take(self, name: Name) -> None:
        """A name stands here no more, if it did."""
        old = self._entries.pop(name, None)
        if old is not None:
            del self._order[bisect_left(self._order, old)]

    def names(self) -> list[Name]:
        """In their order."""
        return [entry[-1] for entry in self._order]

    def _check(self) -> None:
        assert self._order == sorted(self._entries.values())
        assert all(entry[-1] == name for name, entry in self._entries.items())


class Standing(Protocol):
    """Who stands before whom among tenants of which something may be popped."""

    @property
    def first(self) -> str | None:
        """The tenant that comes before all others."""
        ...

    def __len__(self) -> int: ...
    def __contains__(self, tenant: str, /) -> bool: ...
    def put(self, tenant: str, /) -> None:
        """A tenant stands here from now on; or it does already, and its key may have changed."""
        ...

    def take(self, tenant: str, /) -> None:
        """A tenant stands here no more, if it did."""
        ...

    def shift(self, branch: Branch) -> None:
        """What the tenants of a branch have in common may have changed."""
        ...

    def _check(self) -> None: ...


def standing_of(order: FairOrder) -> Standing:
    """An empty one."""
    return BranchedStanding(order) if order.branches else FlatStanding(order)


class FlatStanding(Row[str]):
    """Each tenant by its whole key; there are no branches."""

    def __init__(self, order: FairOrder) -> None:
        super().__init__()
        self._fair_order = order

    def put(self, tenant: str) -> None:
        self.place(tenant, self._fair_order.tenant_key(tenant))

    def shift(self, branch: Branch) -> None:
        """Nothing stands in branches."""

    def _check(self) -> None:
        """Assert that every tenant stands where it would be put now (tests only)."""
        super()._check()
        assert all(entry[:-1] == self._fair_order.tenant_key(tenant) for tenant, entry in self._entries.items())


class BranchedStanding:
    """Inside a branch tenants stand by what they do not have in common, the branches by their first tenant.

    So what happens above a branch costs one place, however many tenants stand below.
    """

    def __init__(self, order: FairOrder) -> None:
        self._order = order
        self._branch_of: dict[str, Branch] = {}
        self._members: dict[Branch, Row[str]] = {}
        self._branches: Row[Branch] = Row()

    def __len__(self) -> int:
        return len(self._branch_of)

    def __contains__(self, tenant: str) -> bool:
        return tenant in self._branch_of

    @property
    def first(self) -> str | None:
        branch = self._branches.first
        return None if branch is None else self._members[branch].first

    def put(self, tenant: str) -> None:
        branch, old = self._order.branch(tenant), self._branch_of.get(tenant)
        if old is not None and old != branch:
            self.take(tenant)
        self._branch_of[tenant] = branch
        members = self._members.get(branch)
        if members is None:
            members = self._members[branch] = Row()
        members.place(tenant, self._order.tenant_key(tenant, True))
        self.shift(branch)

    def take(self, tenant: str) -> None:
        branch = self._branch_of.pop(tenant, None)
        if branch is not None:
            self._members[branch].take(tenant)
            if not self._members[branch]:
                del self._members[branch]
            self.shift(branch)

    def shift(self, branch: Branch) -> None:
        """The first tenant of a branch, or what its tenants have in common, may have changed."""
        members = self._members.get(branch)
        first = members.first if members is not None else None
        if first is None:
            self._branches.take(branch)
        else:
            self._branches.place(branch, self._order.tenant_key(first))

    def _check(self) -> None:
        """Assert that every tenant stands where it would be put now (tests only)."""
        assert self._branches.names() == sorted(
            self._members, key=lambda branch: self._order.tenant_key(self._members[branch].names()[0])
        )
        self._branches._check()
        for branch, members in self._members.items():
            names = members.names()
            members._check()
            assert all(self._order.branch(tenant) == self._branch_of[tenant] == branch for tenant in names)
            assert names == sorted(names, key=lambda tenant: self._order.tenant_key(tenant, in_branch=True))
            assert names == sorted(names, key=self._order.tenant_key), "keys in a branch order as whole keys do"
        assert sum(map(len, self._members.values())) == len(self._branch_of)
