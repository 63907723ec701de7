"""An update by a user replaces what users write and keeps what the cluster wrote (as the API server does).

What can never change (spec §1.1, §1.2) is refused: such a change is a deletion and an addition.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from gangsched.manifests.errors import InputError, describe, found
from gangsched_framework.objects import ClusterObject, CompositePodGroup, Group, Node, Pod, PodGroup


def updated_pod(current: Pod, new: Pod) -> Pod:
    """``new`` with the identity, the node and the status of ``current``; its phase is the new one's.

    A pod that is being deleted stays so.

    Raises InputError for another group, another node, or a gate that was not there (spec §1.1.2-3).
    """
    fixed: dict[str, tuple[object, object]] = {"schedulingGroup.podGroupName": (current.group_name, new.group_name)}
    if current.node_name and new.node_name:
        fixed["nodeName"] = (current.node_name, new.node_name)
    _refuse_changes(current, fixed)
    for gate in new.scheduling_gates:
        if gate not in current.scheduling_gates:
            raise _at(current, found(f"a new gate {describe(gate)}", "the removal of gates only", "schedulingGates"))
    status = evolve(current.status, phase=new.status.phase, allocated=new.status.allocated)
    return evolve(
        new,
        uid=current.uid,
        creation_timestamp=current.creation_timestamp,
        deletion_timestamp=new.deletion_timestamp if current.deletion_timestamp is None else current.deletion_timestamp,
        generation=current.generation + 1,
        node_name=current.node_name or new.node_name,
        status=status,
    )


def updated_group(current: Group, new: Group) -> Group:
    """``new`` with the identity and the conditions of ``current``.

    Raises InputError for another parent, policy, constraint or priority (spec §1.2); minima may change.
    """
    policies = {True: "gang", False: "basic"}
    fixed: dict[str, tuple[object, object]] = {
        "parentCompositePodGroupName": (current.parent_name, new.parent_name),
        "schedulingPolicy": (policies[current.gang], policies[new.gang]),
        "schedulingConstraints.topology": (current.topology_key, new.topology_key),
        "priorityClassName": (current.priority_class_name, new.priority_class_name),
        "preemptionPolicy": (current.preemption_policy, new.preemption_policy),
    }
    if current.priority is not None and new.priority is not None:  # one may come from a default class added since
        fixed["priority"] = (current.priority, new.priority)
    _refuse_changes(current, fixed)
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


def _refuse_changes(current: Pod | Group, fixed: Mapping[str, tuple[object, object]]) -> None:
    for path, (old, new) in fixed.items():
        if old != new:
            raise _at(
                current,
                found(describe(new), f"{describe(old)} as before, or a deletion and an addition", *path.split(".")),
            )


def _at(current: Pod | Group, problem: InputError) -> InputError:
    problem.label = f"{type(current).__name__}/{current.name}"
    return problem.under("spec")
