"""Reconcile and validate a popped tree before anything is tried (spec §4.1-§4.4). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import PodGroupInfo, PoppedPodGroupInfo
from gangsched_framework.objects import Group, Pod


class TreeError(Exception):
    """The tree cannot be scheduled as it stands; the text goes to every pod."""


def reconcile(popped: PodGroupInfo, forest: Forest) -> PodGroupInfo:
    """The popped tree with the snapshot's group objects (spec §4.2). Raises TreeError when the shapes differ."""
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
    tree: PodGroupInfo, popped: PoppedPodGroupInfo, forest: Forest, profiles: Mapping[str, object], policy_gate: bool
) -> None:
    """Raise TreeError unless groups and pods agree on priority, policy and schedulerName (spec §4.3).

    ``policy_gate``: PodGroupPreemptionPolicy, compares policies with the root group instead of the first pod.
    """
    root = tree.group
    if tree.children:
        for info in tree.walk():
            _validate_group(info.group, root, policy_gate)
    first: Pod | None = None
    for pod in _pods(tree, popped, forest):
        if first is None:
            first = pod
        elif (
            pod.scheduler_name == first.scheduler_name
            and pod.priority == first.priority
            and pod.preemption_policy == first.preemption_policy
        ):
            continue  # like the first, which passed
        if pod.scheduler_name != first.scheduler_name:
            raise TreeError(
                "all pods in a single pod group should have the same .spec.schedulerName set, got: "
                f'"{pod.scheduler_name}" and "{first.scheduler_name}"'
            )
        if pod.priority != root.effective_priority:
            raise TreeError(
                "all pods in a single pod group should have the same priority as the pod group's priority, got "
                f"{pod.priority} and {root.effective_priority}"
            )
        _validate_policy(pod, first, root, policy_gate)
    if first is not None and first.scheduler_name not in profiles:
        raise TreeError(f'profile not found for scheduler name "{first.scheduler_name}"')


def _validate_group(group: Group, root: Group, policy_gate: bool) -> None:
    # DIV-20: every group of the tree is checked, not only the pods
    if group.effective_priority != root.effective_priority:
        raise TreeError(
            "all pod groups in a hierarchy should have the same priority as the root pod group's priority, got "
            f"{group.effective_priority} ({group.key.full_name}) and {root.effective_priority} ({root.key.full_name})"
        )
    policy, wanted = _policy_of(group), _policy_of(root)
    if policy_gate and policy != wanted:
        raise TreeError(
            "all pod groups in a hierarchy should have the same preemption policy as the root pod group, got "
            f"{policy} and {wanted}"
        )


def _policy_of(group: Group) -> str:
    return group.preemption_policy or "PreemptLowerPriority"


def _validate_policy(pod: Pod, first: Pod, root: Group, policy_gate: bool) -> None:
    if policy_gate:
        wanted = _policy_of(root)
        if pod.preemption_policy != wanted:
            raise TreeError(
                "all pods in a single pod group should have the same preemption policy as the pod group's preemption "
                f"policy, got {pod.preemption_policy} and {wanted}"
            )
    elif pod.preemption_policy != first.preemption_policy:
        raise TreeError(
            "all pods in a single pod group should have the same preemption policy, got "
            f"{pod.preemption_policy} and {first.preemption_policy}"
        )


def _pods(tree: PodGroupInfo, popped: PoppedPodGroupInfo, forest: Forest) -> list[Pod]:
    """Queued pods in tree and member order, then scheduled ones (spec §4.3)."""
    leaves = tree.leaves()
    pods = [info.pod for leaf in leaves for info in popped.leaves.get(leaf.key, ())]
    for leaf in leaves:
        pods += forest.scheduled_pods(leaf.key).values()
    return pods
