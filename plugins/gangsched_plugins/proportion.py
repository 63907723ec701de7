"""Proportion: tenants share the cluster by weight, and none takes more than it deserves (spec fair-share.md §4)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import ClusterEventWithHint
from gangsched_framework.fair_order import Key
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status
from gangsched_framework.vectors import Vector
from gangsched_plugins import names
from gangsched_plugins.fairshare.gate import TenantGate
from gangsched_plugins.fairshare.proportion_book import ProportionBook


class Proportion:
    """QueueSort of tenants (priority, then share), Overused, and Allocatable also as PreFilter. Takes no arguments."""

    name = names.PROPORTION
    judges_pod_alone = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._accounts = handle.accounts
        self.book = ProportionBook(handle.accounts)
        self._gate = TenantGate(handle.accounts, self.book)

    # --- QueueSort --------------------------------------------------------------------------------------------------

    def tenant_key(self, tenant: str) -> Key:
        """Priority (higher first), then allocated / deserved (P12r)."""
        account = self._accounts.tenants.get(tenant)
        if account is None:
            return (0, 0.0)
        return (-account.queue.priority if account.queue is not None else 0, self.book.share(account))

    def settle(self) -> None:
        """Who deserves something else than before has moved."""
        self.book.settle()

    def overused(self, tenant: str) -> str:
        """Everything the tenant deserves is used up (P13r)."""
        return self.book.overused(tenant)

    def refuses(self, tenant: str, request: Vector) -> str:
        """The tenant would exceed what it deserves (P14r), by committed amounts."""
        account = self._accounts.tenants.get(tenant)
        return self.book.beyond(account, request) if account is not None else ""

    # --- PreFilter --------------------------------------------------------------------------------------------------

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """The same, by committed and tentative amounts."""
        return None, self._gate.status(pod)

    def clears(self, pod: Pod) -> bool:
        """Whether all pods of the pod's job may be placed."""
        return self._gate.clears(pod)

    def rests_on(self, pods: Sequence[Pod]) -> Hashable:
        """What the answers to a cycle's pods rest on."""
        return self._gate.rests_on(pods)

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        return self._gate.events()
