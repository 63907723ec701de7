"""Phase queueing: PreEnqueue and the registrations of events and hints (spec §2.7-§2.8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from gangsched_framework.status import Code, Status

_REJECTING = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)
_EVERYTHING = tuple(
    ClusterEventWithHint(ClusterEvent(resource, Action.ALL))
    for resource in Resource
    if resource is not Resource.WILDCARD
)
_SUCCESS = Code.SUCCESS


Question = tuple[str, Callable[[Pod], Status | None]]
"""Name of a PreEnqueue plugin, and its method."""


def questions_of(plugins: Sequence[PreEnqueuePlugin]) -> tuple[Question, ...]:
    """What PreEnqueue asks. The methods are bound once: to look up one name on objects of many classes is slow."""
    return tuple((plugin.name, plugin.pre_enqueue) for plugin in plugins)


def run_pre_enqueue(questions: Sequence[Question], pod: Pod, first: str = "") -> Status | None:
    """The first refusal, signed; None lets the pod pass. ``first``: asked before all others, as it gated last time."""
    if first:
        questions = sorted(questions, key=lambda question: question[0] != first)
    for name, ask in questions:
        status = ask(pod)
        if status is not None and status.code is not _SUCCESS:
            return status if status.plugin else status.with_plugin(name)
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
