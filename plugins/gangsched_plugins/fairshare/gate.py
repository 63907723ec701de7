"""Whether a tenant may take one pod more, asked inside a cycle; and which events may change the answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol

from attrs import frozen

from gangsched_framework.accounts import Accounts
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.fair_order import queue_refusal
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status, unschedulable
from gangsched_framework.vectors import Vector, plus

_MAY_LEAVE_ROOM = (
    (Resource.ASSIGNED_POD, Action.DELETE),
    (Resource.NODE, Action.ADD | Action.DELETE | Action.UPDATE_NODE_ALLOCATABLE),
    (Resource.QUEUE, Action.ADD | Action.DELETE | Action.UPDATE),
)


class Limits(Protocol):
    """The book of a policy that limits tenants."""

    def beyond(self, tenant: str, request: Vector, *, tentative: bool = False) -> str: ...
    def room(self, tenant: str) -> Hashable:
        """All that ``beyond`` looks at, tentative amounts aside."""
        ...


@frozen
class TenantGate:
    """``unsound``: why a tenant is not served at all, whatever it asks; '' = it is."""

    accounts: Accounts
    limits: Limits
    unsound: Callable[[str], str] = lambda _: ""

    def status(self, pod: Pod) -> Status | None:
        """A refusal by committed and tentative amounts; None = the pod may go on."""
        reason = self._refusal(pod, tentative=True)
        return unschedulable(reason) if reason else None

    def rests_on(self, pods: Sequence[Pod]) -> Hashable:
        """Nothing when the tenant may take all of them together, and so any that find a node; else all its figures."""
        together: dict[str, Vector] = {}
        for pod in pods:
            account = self.accounts.tenant_of(pod.key)
            if account is not None:
                together[account.name] = plus(together.get(account.name, ()), self.accounts.vector(pod))
        return tuple(
            (name, self._shut(name), self.limits.room(name))
            for name, request in together.items()
            if self._shut(name) or self.limits.beyond(name, request)
        )

    def events(self) -> Iterable[ClusterEventWithHint]:
        """Whatever may leave a tenant more room; the hint looks whether it did for this pod, by committed amounts."""

        def hint(pod: Pod, old: object, new: object) -> Hint:
            return Hint.SKIP if self._refusal(pod, tentative=False) else Hint.QUEUE

        return [ClusterEventWithHint(ClusterEvent(*each), hint) for each in _MAY_LEAVE_ROOM]

    def _refusal(self, pod: Pod, *, tentative: bool) -> str:
        account = self.accounts.tenant_of(pod.key)
        if account is None:
            return ""  # an orphan counts for nobody (P18r)
        vector = self.accounts.vector(pod)
        return self._shut(account.name) or self.limits.beyond(account.name, vector, tentative=tentative)

    def _shut(self, tenant: str) -> str:
        """Why a tenant takes nothing, whatever its shares are; '' = it may."""
        account = self.accounts.tenants.get(tenant)
        return queue_refusal(tenant, account.queue if account is not None else None) or self.unsound(tenant)
