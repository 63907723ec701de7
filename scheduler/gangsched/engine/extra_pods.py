"""Whether a tree that succeeded preempts for the pods it could not place (KEP-4671, KEP-6012; docs/choices.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gangsched.engine.results import GroupResult
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey


def want_room(result: GroupResult, waiting: Mapping[EntityKey, Sequence[QueuedPodInfo]], forest: Forest) -> bool:
    """Whether the root is a gang that had its minimum before this cycle, and one of its waiting pods found no node.

    A basic root binds what it can first: it preempts when none found a node, as without this rule.
    """
    if not result.ok or result.info.group.minimum is None or not _satisfied(result.info, forest):
        return False
    return len(result.placed()) < sum(map(len, waiting.values()))


def _satisfied(group: PodGroupInfo, forest: Forest) -> bool:
    """Whether what runs already is the group's minimum."""
    if group.is_leaf:
        return forest.scheduled_count(group.key) >= group.group.required
    return sum(_satisfied(child, forest) for child in group.children) >= group.group.required
