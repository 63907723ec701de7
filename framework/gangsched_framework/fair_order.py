"""The dynamic form of QueueSort: tenants, and jobs inside a tenant, in an order that follows their shares.

A profile lists one static plugin (``sort_key``) or any number of these. They are asked in profile order and the first
decisive one wins, over all tiers (fair-share.md §2.3, S9); age and name end every order (S10). Keys change with
**committed** amounts only. ``Accounts.moved`` names the tenants and jobs whose key may have changed: those whose own
amounts did, and whom else a plugin names. So whoever keeps them in order need not look at the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from attrs import define, field

from gangsched_framework.account import TenantAccount
from gangsched_framework.accounts import Accounts
from gangsched_framework.interface import Plugin, Sortable
from gangsched_framework.moved import Branch
from gangsched_framework.objects import DEFAULT_QUEUE, QUEUE_NAME, EntityKey, Group, Pod, Queue
from gangsched_framework.vectors import Vector

Key = tuple[Any, ...]
"""Sorts before another when it is smaller; an empty one has no opinion."""

DYNAMIC_SORT = ("tenant_key", "job_key")
"""The methods that make a queueSort plugin a dynamic one: it has one of them or both."""


class Job(Sortable, Protocol):
    """A waiting root entity: a plain pod, or a tree."""

    @property
    def key(self) -> EntityKey: ...
    @property
    def source(self) -> Pod | Group:
        """The pod, or the root group: whose annotations and age are the job's."""
        ...


@runtime_checkable
class TenantSortPlugin(Plugin, Protocol):
    """Order of tenants (QueueOrder of fair-share.md §2.3).

    When: before a pop, for tenants that moved and for newcomers. By: the queue. With: the account of a tenant; an empty
    one when nothing of it counts and its Queue does not exist. Keys of one plugin are always of one shape. Undo:
    nothing.
    """

    def tenant_key(self, tenant: TenantAccount) -> Key: ...


@runtime_checkable
class JobSortPlugin(Plugin, Protocol):
    """Order of jobs inside a tenant (JobOrder of fair-share.md §2.3).

    When: before a pop, for jobs that moved and for newcomers. By: the queue. With: a waiting root entity. Keys of one
    plugin are always of one shape. Undo: nothing.
    """

    def job_key(self, job: Job) -> Key: ...


DynamicSortPlugin = TenantSortPlugin | JobSortPlugin


@runtime_checkable
class SettlingSortPlugin(Plugin, Protocol):
    """A dynamic order in which more moves than the tenants and jobs whose own amounts changed.

    When: before each look at the order. What: it notes in ``Accounts.moved`` who else may have another key, or more
    room; it may do so earlier, too.
    """

    def settle(self) -> None: ...


@runtime_checkable
class BranchingSortPlugin(TenantSortPlugin, Protocol):
    """A dynamic order along a tree (HDRF), at most one among the tiers.

    Tenants of one branch compare by ``key_in_branch`` as they do by ``tenant_key``; ``Accounts.moved`` names a branch
    where the latter changed for all its tenants, and not these.
    """

    def branch(self, tenant: TenantAccount) -> Branch: ...
    def key_in_branch(self, tenant: TenantAccount) -> Key: ...


@runtime_checkable
class TenantLimitPlugin(Plugin, Protocol):
    """Overused and Allocatable of fair-share.md §2.3. '' = go on, else the reason a user reads.

    When: a tenant, or an entity by the request of its next pod, might be popped; committed amounts count. One refusal
    is enough, over all plugins. An answer may turn from no to yes only when ``Accounts.moved`` names the tenant as
    grown.
    """

    def overused(self, tenant: TenantAccount) -> str: ...
    def refuses(self, tenant: TenantAccount, request: Vector) -> str: ...


@define(eq=False)
class FairOrder:
    """The tiers of one profile, as the queue asks them."""

    accounts: Accounts
    plugins: Sequence[DynamicSortPlugin]
    _tenant_keys: list[Callable[[TenantAccount], Key]] = field(init=False)
    _keys_in_branch: list[Callable[[TenantAccount], Key]] = field(init=False)
    _job_keys: list[Callable[[Job], Key]] = field(init=False)
    settling: list[Callable[[], None]] = field(init=False)
    """Called before ``accounts.take_moved``: they name who else has moved."""
    _overused: list[Callable[[TenantAccount], str]] = field(init=False)
    _refuses: list[Callable[[TenantAccount, Vector], str]] = field(init=False)
    _branching: BranchingSortPlugin | None = field(init=False)

    def __attrs_post_init__(self) -> None:
        sorts = [plugin for plugin in self.plugins if isinstance(plugin, TenantSortPlugin)]
        self._tenant_keys = [plugin.tenant_key for plugin in sorts]
        self._keys_in_branch = [
            plugin.key_in_branch if isinstance(plugin, BranchingSortPlugin) else plugin.tenant_key for plugin in sorts
        ]
        self._job_keys = [plugin.job_key for plugin in self.plugins if isinstance(plugin, JobSortPlugin)]
        self.settling = [plugin.settle for plugin in self.plugins if isinstance(plugin, SettlingSortPlugin)]
        limits = [plugin for plugin in self.plugins if isinstance(plugin, TenantLimitPlugin)]
        self._overused = [plugin.overused for plugin in limits]
        self._refuses = [plugin.refuses for plugin in limits]
        self._branching = next((plugin for plugin in self.plugins if isinstance(plugin, BranchingSortPlugin)), None)

    def tenant_of(self, entity: Job) -> str:
        """A root's tenant holds for its tree."""
        return entity.source.annotations.get(QUEUE_NAME) or DEFAULT_QUEUE

    def account(self, tenant: str) -> TenantAccount:
        """What counts of a tenant; of use until the next change."""
        return self.accounts.tenants.get(tenant) or TenantAccount(tenant)

    def tenant_key(self, tenant: str, in_branch: bool = False) -> Key:
        """By the plugins, then age, then name. ``in_branch``: without what the tenants of its branch have in common."""
        account = self.accounts.tenants.get(tenant) or TenantAccount(tenant)
        key: Key = ()
        for part in self._keys_in_branch if in_branch else self._tenant_keys:
            key += part(account)
        return (*key, account.queue.creation_timestamp if account.queue is not None else 0, tenant)

    @property
    def branches(self) -> bool:
        """Whether tenants stand in branches."""
        return self._branching is not None

    def branch(self, tenant: str) -> Branch:
        """The branch a tenant stands in."""
        assert self._branching is not None
        return self._branching.branch(self.account(tenant))

    def job_key(self, entity: Job) -> Key:
        """By the plugins, then age; the queue appends the entity's key."""
        key: Key = ()
        for job_key in self._job_keys:
            key += job_key(entity)
        return (*key, entity.source.creation_timestamp)

    def passes_over(self, tenant: TenantAccount) -> str:
        """Why nothing of a tenant may be popped now; '' = something may."""
        if reason := queue_refusal(tenant.name, tenant.queue):
            return reason
        for overused in self._overused:
            if reason := overused(tenant):
                return reason
        return ""

    def refuses(self, tenant: TenantAccount, request: Vector) -> str:
        """Why an entity whose next pod requests this may not be popped now; '' = it may."""
        for refuses in self._refuses:
            if reason := refuses(tenant, request):
                return reason
        return ""


def queue_refusal(tenant: str, queue: Queue | None) -> str:
    """Why a Queue takes nothing, whatever its shares are: it does not exist, or is not open (P14r); '' = it may."""
    if queue is None:
        return f"queue {tenant} does not exist"
    return "" if queue.state == "Open" else f"queue {tenant} is {queue.state.lower()}"
