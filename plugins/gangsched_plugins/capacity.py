"""Capacity: tenants have written quotas, alone or in a hierarchy (spec fair-share.md §4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gangsched_framework.account import TenantAccount
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.fair_order import Key
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status
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
        self.settle = self.book.settle
        """Who may have another quota has moved."""
        self.refuses = self.book.beyond
        """The tenant or an ancestor would exceed its real capability (K6), by committed amounts."""
        self.clears = self._gate.clears
        self.rests_on = self._gate.rests_on
        self.events_to_register = self._gate.events

    # --- QueueSort --------------------------------------------------------------------------------------------------

    def tenant_key(self, tenant: TenantAccount) -> Key:
        """Priority, then the share of the quota (K4)."""
        return self.book.key(tenant.name)

    def overused(self, tenant: TenantAccount) -> str:
        """Never by its share (K7); but a broken hierarchy serves nobody (K12)."""
        return self.book.refusal(tenant.name)

    # --- PreFilter --------------------------------------------------------------------------------------------------

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """The same, by committed and tentative amounts."""
        return None, self._gate.status(pod)
