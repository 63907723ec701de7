"""Phase queueing: PreEnqueue and the registrations of events and hints (spec §2.7-§2.8)."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Resource
from gangsched_framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
)
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status

_REJECTING = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)
_EVERYTHING = tuple(
    ClusterEventWithHint(ClusterEvent(resource, Action.ALL))
    for resource in Resource
    if resource is not Resource.WILDCARD
)


def run_pre_enqueue(plugins: Sequence[PreEnqueuePlugin], pod: Pod, first: str = "") -> Status | None:
    """The first refusal, signed; None lets the pod pass. ``first``: asked before all others, as it gated last time."""
    if first:
        plugins = sorted(plugins, key=lambda plugin: plugin.name != first)
    for plugin in plugins:
        status = plugin.pre_enqueue(pod)
        if status is not None and not status.ok:
            return status if status.plugin else status.with_plugin(plugin.name)
    return None


def registrations_of(plugins: Sequence[Plugin]) -> dict[str, tuple[ClusterEventWithHint, ...]]:
    """Plugin name -> the events it registered; one that may reject a pod and does not say hears of all, as upstream."""
    found: dict[str, tuple[ClusterEventWithHint, ...]] = {}
    for plugin in plugins:
        if isinstance(plugin, EnqueueExtensions):
            found[plugin.name] = tuple(plugin.events_to_register())
        elif isinstance(plugin, _REJECTING):
            found[plugin.name] = _EVERYTHING
    return found
