"""Reconcile and validate a popped tree before anything is tried (spec §4.1-§4.4). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import Group, Pod


class TreeError(Exception):
    """The tree cannot be scheduled as it stands; the text goes to every pod."""


def reconcile(popped: PodGroupInfo, forest: Forest) -> PodGroupInfo:
    """The popped tree with the snapshot's group objects (spec §4.2). Raises TreeError when the shapes differ."""
    if forest.shows(popped):
        return popped
    group = forest.group(popped.key)
    if group is None:
        raise TreeError(
            f"pod group object not found for pod group {popped.key}"
            if popped.is_leaf
            else f'composite pod group object not found for pod group "{popped.key}"'
        )
    kind = "pod group" if popped.is_leaf else "composite pod group"
    if group.parent_name != popped.group.parent_name:
        raise TreeError(
            f"different parent in {kind} between snapshot ({group.parent_name or '[unset]'}) and queued entity "
            f"({popped.group.parent_name or '[unset]'})"
        )
    if not popped.is_leaf:
        count = len(forest.children(popped.key))
        if count != len(popped.children):
            raise TreeError(
                f"different number of children in composite pod group between snapshot ({count}) and queued entity "
                f"({len(popped.children)})"
            )
    if not popped.children and group is popped.group:
        return popped
    return PodGroupInfo(group, tuple(reconcile(child, forest) for child in popped.children))


def validate(
    tree: PodGroupInfo, queued: Sequence[Pod], forest: Forest, profiles: Mapping[str, object], policy_gate: bool
) -> str:
    """The schedulerName of the pods, '' when there are none. ``queued`` in tree and member order.

    Raises TreeError unless groups and pods agree on priority, policy and schedulerName (spec §4.3). ``policy_gate``:
    PodGroupPreemptionPolicy, compares policies with the root group instead of the first pod.
    """
    root = tree.group
    if tree.children:
        for info in tree.walk():
            _validate_group(info.group, root, policy_gate)
    compared = _compared(tree, queued, forest)
    if not compared:
        return ""
    first, priority = compared[0].scheduler_name, root.effective_priority
    policy = _policy_of(root) if policy_gate else compared[0].preemption_policy
    for pod in compared:
        if pod.scheduler_name != first:
            raise TreeError(
                "all pods in a single pod group should have the same .spec.schedulerName set, got: "
                f'"{pod.scheduler_name}" and "{first}"'
            )
        if pod.priority != priority:
            raise TreeError(
                "all pods in a single pod group should have the same priority as the pod group's priority, got "
                f"{pod.priority} and {priority}"
            )
        if pod.preemption_policy != policy:
            whose = " as the pod group's preemption policy" if policy_gate else ""
            raise TreeError(
                f"all pods in a single pod group should have the same preemption policy{whose}, got "
                f"{pod.preemption_policy} and {policy}"
            )
    if first not in profiles:
        raise TreeError(f'profile not found for scheduler name "{first}"')
    return first


def _validate_group(group: Group, root: Group, policy_gate: bool) -> None:
    # DIV-20: every group of the tree is checked, not only the pods
    if group.effective_priority != root.effective_priority:
        raise TreeError(
            "all pod groups in a hierarchy should have the same priority as the root pod group's priority, got "
            f"{group.effective_priority} ({group.key.full_name}) and {root.effective_priority} ({root.key.full_name})"
        )
    if not policy_gate:
        return
    policy, wanted = _policy_of(group), _policy_of(root)
    if policy != wanted:
        raise TreeError(
            "all pod groups in a hierarchy should have the same preemption policy as the root pod group, got "
            f"{policy} and {wanted}"
        )


def _policy_of(group: Group) -> str:
    return group.preemption_policy or "PreemptLowerPriority"


def _compared(tree: PodGroupInfo, queued: Sequence[Pod], forest: Forest) -> Sequence[Pod]:
    """The queued pods, then the scheduled ones in tree order (spec §4.3)."""
    scheduled: list[Pod] = []
    for leaf in tree.leaves():
        if forest.scheduled_count(leaf.key):
            scheduled += forest.scheduled_pods(leaf.key).values()
    return [*queued, *scheduled] if scheduled else queued
