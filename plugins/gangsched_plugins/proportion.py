"""Proportion: tenants share the cluster by weight, and none takes more than it deserves (spec fair-share.md §4)."""

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
from gangsched_plugins.fairshare.gate import TenantGate
from gangsched_plugins.fairshare.proportion_book import ProportionBook


class Proportion:
    """QueueSort of tenants (priority, then share), Overused, and Allocatable also as PreFilter. Takes no arguments."""

    name = names.PROPORTION
    judges_pod_alone = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.book = ProportionBook(handle.accounts)
        self._gate = TenantGate(handle.accounts, self.book)
        self.settle = self.book.settle
        """Who deserves something else than before has moved."""
        self.overused = self.book.overused
        """Everything the tenant deserves is used up (P13r)."""
        self.refuses = self.book.beyond
        """The tenant would exceed what it deserves (P14r), by committed amounts."""
        self.clears = self._gate.clears
        self.rests_on = self._gate.rests_on
        self.events_to_register = self._gate.events

    # --- QueueSort --------------------------------------------------------------------------------------------------

    def tenant_key(self, tenant: TenantAccount) -> Key:
        """Priority (higher first), then allocated / deserved (P12r)."""
        return (-tenant.queue.priority if tenant.queue is not None else 0, self.book.share(tenant))

    # --- PreFilter --------------------------------------------------------------------------------------------------

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """The same, by committed and tentative amounts."""
        return None, self._gate.status(pod)
