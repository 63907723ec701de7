"""HDRF: tenants share along a hierarchy of departments, each by its dominant share (spec fair-share.md §3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsched_framework.account import TenantAccount
from gangsched_framework.fair_order import Job, Key
from gangsched_framework.handle import Handle
from gangsched_framework.moved import Branch
from gangsched_framework.vectors import Vector
from gangsched_plugins import names
from gangsched_plugins.fairshare.dominant_book import DominantBook
from gangsched_plugins.fairshare.hdrf_book import HdrfBook


class HDRF:
    """QueueSort of tenants by the tree of shares, and of jobs by their dominant shares.

    Argument ``mode``: ``upstream`` (default, Volcano's) or ``paper`` (weights scale, exhausted resources do not count).
    """

    name = names.HDRF

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.book = HdrfBook(handle.accounts, args.get("mode", "upstream"))
        self.jobs = DominantBook(handle.accounts)

    def tenant_key(self, tenant: TenantAccount) -> Key:
        """(saturated, share / weight) of each level, the shorter of two tied paths first (D18)."""
        return (self.book.key(tenant.name),)

    def branch(self, tenant: TenantAccount) -> Branch:
        """The levels above the tenant's own."""
        return self.book.branch(tenant.name)

    def key_in_branch(self, tenant: TenantAccount) -> Key:
        """(saturated, share / weight) of the tenant's own level."""
        return (self.book.key(tenant.name)[-1],)

    def job_key(self, job: Job) -> Key:
        """The job's dominant share (D4)."""
        return (self.jobs.share(job.key),)

    def settle(self) -> None:
        """Who stands elsewhere in the tree has moved."""
        self.book.settle()

    def overused(self, tenant: TenantAccount) -> str:
        """Nobody is by shares; but a tenant without a sound place in the hierarchy is not served (E54, E55)."""
        return self.book.refusal(tenant.name)

    def refuses(self, tenant: TenantAccount, request: Vector) -> str:
        """No limits: a tenant may take what is free."""
        return ""
