"""SchedulingGates: a pod with gates does not enter the queue (spec node-plugins.md §7.11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status, unresolvable
from gangsched_plugins.names import SCHEDULING_GATES


class SchedulingGates:
    """PreEnqueue. Takes no arguments."""

    name = SCHEDULING_GATES
    pre_enqueue_scope = "pod"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        pass

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Refuse a pod while any gate is left, naming the gates in the order of the manifest."""
        if not pod.scheduling_gates:
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join(pod.scheduling_gates)}]", plugin=self.name)

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """The removal of the pod's own last gate."""
        event = ClusterEvent(Resource.TARGET_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        yield ClusterEventWithHint(event, _after_gates_eliminated)


def _after_gates_eliminated(pod: Pod, old: object, new: object) -> Hint:
    return Hint.QUEUE
