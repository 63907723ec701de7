"""Whether a tenant may take one pod more, asked inside a cycle; and which events may change the answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol

from attrs import define

from gangsched_framework.account import JobAccount, TenantAccount
from gangsched_framework.accounts import Accounts
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.fair_order import queue_refusal
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status, unschedulable
from gangsched_framework.vectors import Vector, minus, plus

_MAY_LEAVE_ROOM = (
    (Resource.ASSIGNED_POD, Action.DELETE),
    (Resource.NODE, Action.ADD | Action.DELETE | Action.UPDATE_NODE_ALLOCATABLE),
    (Resource.QUEUE, Action.ADD | Action.DELETE | Action.UPDATE),
)


class Limits(Protocol):
    """The book of a policy that limits tenants."""

    def beyond(self, tenant: TenantAccount, request: Vector, *, tentative: bool = False) -> str: ...
    def sates(self, tenant: TenantAccount) -> bool:
        """Whether the tenant is sure to be allowed all that its pods ask for together; False promises nothing."""
        ...

    def room(self, tenant: str) -> Hashable:
        """All that ``beyond`` looks at, tentative amounts aside."""
        ...


@define(eq=False)
class TenantGate:
    """``unsound``: why a tenant is not served at all, whatever it asks; '' = it is; None: always is."""

    accounts: Accounts
    limits: Limits
    unsound: Callable[[str], str] | None = None
    _asked: JobAccount | None = None
    """The job last asked about, as the accounts stood at ``_version``."""
    _version: int = -1
    _clear: bool = False

    def status(self, pod: Pod) -> Status | None:
        """A refusal by committed and tentative amounts; None = the pod may go on."""
        if self.clears(pod):
            return None
        reason = self._refusal(pod, tentative=True)
        return unschedulable(reason) if reason else None

    def clears(self, pod: Pod) -> bool:
        """Whether the tenant may take all waiting pods of the pod's job; asked once a job, as the accounts stand."""
        accounts = self.accounts
        job = accounts.job_of(pod.key)
        if self._asked is not job or self._version != accounts.version:
            self._asked, self._version = job, accounts.version
            self._clear = job is None or self._may_take_all(job)
        return self._clear

    def _may_take_all(self, job: JobAccount) -> bool:
        """Whether all waiting pods of a job may be placed, and so each of them, whichever stand somewhere in thought.

        For what is tentative in a tenant is of the one job that is tried, or takes something off.
        """
        tenant, limits = job.tenant, self.limits
        if self._shut(tenant):
            return False
        return limits.sates(tenant) or not limits.beyond(tenant, minus(job.request, job.allocated))

    def rests_on(self, pods: Sequence[Pod]) -> Hashable:
        """Nothing when the tenant may take all of them together, and so any that find a node; else all its figures."""
        together: dict[str, tuple[TenantAccount, Vector]] = {}
        for pod in pods:
            job = self.accounts.job_of(pod.key)
            if job is not None:
                name = job.tenant.name
                _, request = together.get(name, (job.tenant, ()))
                together[name] = job.tenant, plus(request, self.accounts.vector(pod))
        return tuple(
            (name, self._shut(tenant), self.limits.room(name))
            for name, (tenant, request) in together.items()
            if self._shut(tenant) or self.limits.beyond(tenant, request)
        )

    def events(self) -> Iterable[ClusterEventWithHint]:
        """Whatever may leave a tenant more room; the hint looks whether it did for this pod, by committed amounts."""

        def hint(pod: Pod, old: object, new: object) -> Hint:
            return Hint.SKIP if self._refusal(pod, tentative=False) else Hint.QUEUE

        return [ClusterEventWithHint(ClusterEvent(*each), hint) for each in _MAY_LEAVE_ROOM]

    def _refusal(self, pod: Pod, *, tentative: bool) -> str:
        job = self.accounts.job_of(pod.key)
        if job is None:
            return ""  # an orphan counts for nobody (P18r)
        tenant, vector = job.tenant, self.accounts.vector(pod)
        return self._shut(tenant) or self.limits.beyond(tenant, vector, tentative=tentative)

    def _shut(self, tenant: TenantAccount) -> str:
        """Why a tenant takes nothing, whatever its shares are; '' = it may."""
        name, unsound = tenant.name, self.unsound
        return queue_refusal(name, tenant.queue) or (unsound(name) if unsound is not None else "")
