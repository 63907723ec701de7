"""The dynamic form of QueueSort: tenants, and jobs inside a tenant, in an order that follows their shares.

A profile lists one static plugin (``sort_key``) or any number of these. They are asked in profile order and the first
decisive one wins, over all tiers (fair-share.md §2.3, S9); age and name end every order (S10). Keys change with
**committed** amounts only, and a plugin names the tenants and jobs whose key may have changed, so that whoever keeps
them in order need not look at the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from attrs import define, field

from gangsched_framework.accounts import Accounts
from gangsched_framework.interface import Plugin, Sortable
from gangsched_framework.objects import DEFAULT_QUEUE, QUEUE_NAME, EntityKey, Group, Pod, Queue
from gangsched_framework.vectors import Vector

Key = tuple[Any, ...]
"""Sorts before another when it is smaller; an empty one has no opinion."""

Branch = tuple[str, ...]
"""Tenants that stand together: changes above them move them as one."""

DYNAMIC_SORT = ("tenant_key", "job_key", "moved")
"""The methods that make a queueSort plugin a dynamic one."""


@define(eq=False)
class Moved:
    """Tenants and jobs whose key may have changed. ``tenants``: True = there may be more room than before.

    ``branches``: what their tenants have in common may have changed.
    """

    tenants: dict[str, bool]
    jobs: dict[EntityKey, None]
    branches: dict[Branch, None] = field(factory=dict)

    def note(self, tenant: str, grew: bool) -> None:
        self.tenants[tenant] = grew or self.tenants.get(tenant, False)

    def join(self, other: Moved) -> None:
        for tenant, grew in other.tenants.items():
            self.note(tenant, grew)
        self.jobs.update(other.jobs)
        self.branches.update(other.branches)


class Job(Sortable, Protocol):
    """A waiting root entity: a plain pod, or a tree."""

    @property
    def key(self) -> EntityKey: ...
    @property
    def source(self) -> Pod | Group:
        """The pod, or the root group: whose annotations and age are the job's."""
        ...


@runtime_checkable
class DynamicSortPlugin(Plugin, Protocol):
    """Order of tenants and of jobs inside a tenant (QueueOrder and JobOrder of fair-share.md §2.3).

    When: before a pop, for what ``moved`` named and for newcomers. By: the queue. With: the name of a tenant, a waiting
    root entity. Keys of one plugin are always of one shape, or always (). Undo: nothing.
    """

    def tenant_key(self, tenant: str) -> Key: ...
    def job_key(self, job: Job) -> Key: ...
    def moved(self) -> Moved | None:
        """What changed since the last call, by what this plugin looks at; None = nothing."""
        ...


@runtime_checkable
class BranchingSortPlugin(DynamicSortPlugin, Protocol):
    """A dynamic order along a tree (HDRF), at most one among the tiers.

    Tenants of one branch compare by ``key_in_branch`` as they do by ``tenant_key``; ``moved`` names a branch where the
    latter changed for all its tenants, and not these.
    """

    def branch(self, tenant: str) -> Branch: ...
    def key_in_branch(self, tenant: str) -> Key: ...


@runtime_checkable
class TenantLimitPlugin(Plugin, Protocol):
    """Overused and Allocatable of fair-share.md §2.3. '' = go on, else the reason a user reads.

    When: a tenant, or an entity by the request of its next pod, might be popped; committed amounts count. One refusal
    is enough, over all plugins. An answer may turn from no to yes only when ``moved`` names the tenant as grown.
    """

    def overused(self, tenant: str) -> str: ...
    def refuses(self, tenant: str, request: Vector) -> str: ...


@define(eq=False)
class FairOrder:
    """The tiers of one profile, as the queue asks them."""

    accounts: Accounts
    plugins: Sequence[DynamicSortPlugin]
    _limits: list[TenantLimitPlugin] = field(init=False)
    _branching: BranchingSortPlugin | None = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._limits = [plugin for plugin in self.plugins if isinstance(plugin, TenantLimitPlugin)]
        self._branching = next((plugin for plugin in self.plugins if isinstance(plugin, BranchingSortPlugin)), None)

    def drain(self) -> Moved | None:
        """What changed since the last call; None = nothing."""
        moved: Moved | None = None
        for plugin in self.plugins:
            own = plugin.moved()
            if moved is None:
                moved = own
            elif own is not None:
                moved.join(own)
        jobs, queues = self.accounts.drain_moved(), self.accounts.drain_queues()
        if jobs or queues:
            moved = moved or Moved({}, {})
            moved.join(Moved(dict.fromkeys(queues, True), jobs))
        return moved

    def tenant_of(self, entity: Job) -> str:
        """A root's tenant holds for its tree."""
        return entity.source.annotations.get(QUEUE_NAME) or DEFAULT_QUEUE

    def tenant_key(self, tenant: str) -> Key:
        """By the plugins, then age, then name."""
        key: Key = ()
        for plugin in self.plugins:
            key += plugin.tenant_key(tenant)
        return self._ended(key, tenant)

    @property
    def branches(self) -> bool:
        """Whether tenants stand in more than one branch."""
        return self._branching is not None

    def branch(self, tenant: str) -> Branch:
        """The branch a tenant stands in."""
        return self._branching.branch(tenant) if self._branching is not None else ()

    def key_in_branch(self, tenant: str) -> Key:
        """Orders the tenants of one branch as ``tenant_key`` does; what they have in common is left out."""
        branching = self._branching
        if branching is None:
            return self.tenant_key(tenant)
        key: Key = ()
        for plugin in self.plugins:
            key += branching.key_in_branch(tenant) if plugin is branching else plugin.tenant_key(tenant)
        return self._ended(key, tenant)

    def _ended(self, key: Key, tenant: str) -> Key:
        account = self.accounts.tenants.get(tenant)
        queue = account.queue if account is not None else None
        return (*key, queue.creation_timestamp if queue is not None else 0, tenant)

    def job_key(self, entity: Job) -> Key:
        """By the plugins, then age; the queue appends the entity's key."""
        key: Key = ()
        for plugin in self.plugins:
            key += plugin.job_key(entity)
        return (*key, entity.source.creation_timestamp)

    def passes_over(self, tenant: str) -> str:
        """Why nothing of a tenant may be popped now; '' = something may."""
        account = self.accounts.tenants.get(tenant)
        reason = queue_refusal(tenant, account.queue if account is not None else None)
        for plugin in self._limits:
            reason = reason or plugin.overused(tenant)
        return reason

    def refuses(self, tenant: str, request: Vector) -> str:
        """Why an entity whose next pod requests this may not be popped now; '' = it may."""
        reason = ""
        for plugin in self._limits:
            reason = reason or plugin.refuses(tenant, request)
        return reason


def queue_refusal(tenant: str, queue: Queue | None) -> str:
    """Why a Queue takes nothing, whatever its shares are: it does not exist, or is not open (P14r); '' = it may."""
    if queue is None:
        return f"queue {tenant} does not exist"
    return "" if queue.state == "Open" else f"queue {tenant} is {queue.state.lower()}"
