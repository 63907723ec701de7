"""Phase binding: Reserve, Permit, PreBind, Bind of one pod at submit (spec §4.9.5)."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.interface import BindPlugin, PermitPlugin, PreBindPlugin, ReservePlugin
from gangsched_framework.objects import Pod
from gangsched_framework.status import Code, Status, error


def run_reserve(plugins: Sequence[ReservePlugin], state: CycleState, pod: Pod, node_name: str) -> Status | None:
    """Reserve in order; on a failure every plugin is un-reserved and the failure returned."""
    for plugin in plugins:
        status = plugin.reserve(state, pod, node_name)
        if status is not None and not status.ok:
            run_unreserve(plugins, state, pod, node_name)
            if status.rejected:
                return status.with_plugin(plugin.name)
            return error(f'running Reserve plugin "{plugin.name}": {status.message}')
    return None


def run_unreserve(plugins: Sequence[ReservePlugin], state: CycleState, pod: Pod, node_name: str) -> None:
    """Give back, in reverse order."""
    for plugin in reversed(plugins):
        plugin.unreserve(state, pod, node_name)


def run_permit(plugins: Sequence[PermitPlugin], state: CycleState, pod: Pod, node_name: str) -> Status | None:
    """The first refusal wins; Wait counts as an Error (no thread waits in the engine)."""
    for plugin in plugins:
        status = plugin.permit(state, pod, node_name)
        if status is not None and not status.ok:
            if status.rejected:
                return status.with_plugin(plugin.name)
            return error(f'running Permit plugin "{plugin.name}": {status.message}')
    return None


def run_pre_bind(plugins: Sequence[PreBindPlugin], state: CycleState, pod: Pod, node_name: str) -> Status | None:
    """The first failure wins."""
    for plugin in plugins:
        status = plugin.pre_bind(state, pod, node_name)
        if status is not None and not status.ok:
            return error(f'running PreBind plugin "{plugin.name}": {status.message}')
    return None


def run_bind(plugins: Sequence[BindPlugin], state: CycleState, pod: Pod, node_name: str) -> Status | None:
    """The first plugin that does not Skip decides; nobody deciding is an Error."""
    for plugin in plugins:
        status = plugin.bind(state, pod, node_name)
        if status is None or status.ok:
            return None
        if status.code is not Code.SKIP:
            return error(f'running Bind plugin "{plugin.name}": {status.message}')
    return error("no bind plugin took the pod")
