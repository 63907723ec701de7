"""Capacity: tenants have written quotas, alone or in a hierarchy (spec fair-share.md §4.6)."""

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
from gangsched_plugins.fairshare.capacity_book import CapacityBook
from gangsched_plugins.fairshare.gate import TenantGate


class Capacity:
    """QueueSort of tenants by the share of their quota, and Allocatable, also as PreFilter.

    Argument ``hierarchical`` (false): quotas form a tree by ``spec.parent``.
    """

    name = names.CAPACITY
    judges_pod_alone = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.book = CapacityBook(handle.accounts, hierarchical=bool(args.get("hierarchical", False)))
        self._gate = TenantGate(handle.accounts, self.book, self.book.refusal)

    # --- QueueSort --------------------------------------------------------------------------------------------------

    def tenant_key(self, tenant: str) -> Key:
        """Priority, then the share of the quota (K4)."""
        return self.book.key(tenant)

    def settle(self) -> None:
        """Who deserves something else than before has moved."""
        self.book.settle()

    def overused(self, tenant: str) -> str:
        """Never by its share (K7); but a broken hierarchy serves nobody (K12)."""
        return self.book.refusal(tenant)

    def refuses(self, tenant: str, request: Vector) -> str:
        """The tenant or an ancestor would exceed its real capability (K6), by committed amounts."""
        account = self.book.accounts.tenants.get(tenant)
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
