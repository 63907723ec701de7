"""What an update of a node changed, as the events plugins register for (spec node-plugins.md §7)."""

from __future__ import annotations

from gangsched_framework.events import Action, ClusterEvent, Resource
from gangsched_framework.objects import Node

_TAINT = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_TAINT)
_ALLOCATABLE = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_ALLOCATABLE)
_LABEL = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL)
_CONDITION = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_CONDITION)
_ANNOTATION = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_ANNOTATION)
_FEATURE = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_DECLARED_FEATURE)


def node_update_events(old: Node, new: Node) -> tuple[ClusterEvent, ...]:
    """One event per kind of change, in the order they are sent; an irrelevant update gives none."""
    changes = (
        (_TAINT, old.unschedulable and not new.unschedulable),  # cordoning frees nothing, so it is no event
        (_ALLOCATABLE, _allocatable(old) != _allocatable(new)),
        (_LABEL, old.labels != new.labels),
        (_TAINT, old.taints != new.taints),
        (_CONDITION, old.conditions != new.conditions),
        (_ANNOTATION, old.annotations != new.annotations),
        (_FEATURE, old.declared_features != new.declared_features),
    )
    return tuple(event for event, changed in changes if changed)


def _allocatable(node: Node) -> tuple[object, ...]:
    return (node.allocatable, node.written_allocatable)  # a zero that appears is a change, too
