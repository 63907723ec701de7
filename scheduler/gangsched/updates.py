"""An update by a user replaces what users write and keeps what the cluster wrote (as the API server does)."""

from __future__ import annotations

from attrs import evolve

from gangsched_framework.objects import ClusterObject, CompositePodGroup, Group, Node, Pod, PodGroup


def updated_pod(current: Pod, new: Pod) -> Pod:
    """``new`` with the identity, the node and the status of ``current``; its phase is the new one's."""
    status = evolve(current.status, phase=new.status.phase, allocated=new.status.allocated)
    return evolve(
        new,
        uid=current.uid,
        creation_timestamp=current.creation_timestamp,
        generation=current.generation + 1,
        node_name=current.node_name or new.node_name,
        status=status,
    )


def updated_group(current: Group, new: Group) -> Group:
    """``new`` with the identity and the conditions of ``current``."""
    return evolve(
        new,
        uid=current.uid,
        creation_timestamp=current.creation_timestamp,
        generation=current.generation + 1,
        conditions=current.conditions,
    )


def updated_node(current: Node, new: Node) -> Node:
    """``new`` with the identity of ``current``."""
    return evolve(new, uid=current.uid, creation_timestamp=current.creation_timestamp)


def merged(current: ClusterObject, new: ClusterObject) -> ClusterObject:
    """What applying a manifest to a known object makes of it."""
    if isinstance(current, Pod) and isinstance(new, Pod):
        return updated_pod(current, new)
    if isinstance(current, Node) and isinstance(new, Node):
        return updated_node(current, new)
    if isinstance(current, PodGroup | CompositePodGroup) and isinstance(new, PodGroup | CompositePodGroup):
        return updated_group(current, new)
    return new
