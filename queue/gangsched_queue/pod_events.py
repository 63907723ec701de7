"""What an update of a pod changed, as the events plugins register for (spec node-plugins.md §7)."""

from __future__ import annotations

from gangsched_framework.events import Action, ClusterEvent, Resource
from gangsched_framework.objects import Pod
from gangsched_framework.pod_requests import amounts_of_pod
from gangsched_framework.quantity import round_up_to_milli

_ACTIONS = (
    Action.UPDATE_POD_LABEL,
    Action.UPDATE_POD_SCALE_DOWN,
    Action.UPDATE_POD_SCALE_UP,
    Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
    Action.UPDATE_POD_TOLERATION,
    Action.UPDATE_OTHER,
)
_EVENTS = {
    resource: tuple(ClusterEvent(resource, action) for action in _ACTIONS)
    for resource in (Resource.TARGET_POD, Resource.ASSIGNED_POD)
}


def pod_update_events(old: Pod, new: Pod) -> tuple[ClusterEvent, ...]:
    """One event per kind of change, in order; the plain ``Update`` when nothing relevant changed."""
    label, down, up, gates, toleration, other = _EVENTS[Resource.ASSIGNED_POD if new.node_name else Resource.TARGET_POD]
    scaled_down, scaled_up = _scaled(old, new)
    changes = (
        (label, old.labels != new.labels),
        (down, scaled_down),
        (up, scaled_up),
        (gates, bool(old.scheduling_gates) and not new.scheduling_gates),
        (toleration, len(old.spec.tolerations) != len(new.spec.tolerations)),
    )
    return tuple(event for event, changed in changes if changed) or (other,)


def _scaled(old: Pod, new: Pod) -> tuple[bool, bool]:
    """Whether some request went down, and whether some went up; a name that comes or goes counts, too.

    What the status shows of a resize in place counts as on the node (spec §3.5).
    """
    if old.spec is new.spec and not old.status.allocated and not new.status.allocated:
        return False, False
    before = {name: round_up_to_milli(amount) for name, amount in amounts_of_pod(old).items()}
    after = {name: round_up_to_milli(amount) for name, amount in amounts_of_pod(new).items()}
    down = any(name not in after or after[name] < amount for name, amount in before.items())
    up = any(name not in before or before[name] < amount for name, amount in after.items())
    return down, up
