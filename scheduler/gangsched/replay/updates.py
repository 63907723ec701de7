"""An update of a trace replaces what users write and keeps what the cluster wrote (as the API server does)."""

from __future__ import annotations

from attrs import evolve

from gangsched_framework.objects import Group, Node, Pod


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
