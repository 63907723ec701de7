"""DefaultBinder: the host binds the pod through the API (spec node-plugins.md §1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.handle import Handle
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status
from gangsched_plugins.names import DEFAULT_BINDER


class DefaultBinder:
    """Bind. Takes no arguments."""

    name = DEFAULT_BINDER
    binds_always = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        pass

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Always the host's: the engine emits the ``Bind`` decision."""
        return None
