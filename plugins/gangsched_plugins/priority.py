"""Priority: jobs of higher priority first, as a tier among others (spec fair-share.md §7.4, N16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsched_framework.fair_order import Job, Key
from gangsched_framework.handle import Handle
from gangsched_plugins import names


class Priority:
    """QueueSort of jobs by the priority of their root. Takes no arguments."""

    name = names.PRIORITY

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        pass

    def job_key(self, job: Job) -> Key:
        return (-job.priority,)
