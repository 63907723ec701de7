"""DRF: of a tenant's jobs, the one with the smallest dominant share comes first (spec fair-share.md §3.1, D4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsched_framework.fair_order import Job, Key
from gangsched_framework.handle import Handle
from gangsched_plugins import names
from gangsched_plugins.fairshare.dominant_book import DominantBook


class DRF:
    """QueueSort of jobs by the dominant share of what their pods hold. Takes no arguments."""

    name = names.DRF

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.book = DominantBook(handle.accounts)

    def job_key(self, job: Job) -> Key:
        """The job's dominant share, exact: no tolerance (D4)."""
        return (self.book.share(job.key),)
