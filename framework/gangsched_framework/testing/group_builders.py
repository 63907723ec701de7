"""Builders of PodGroups and CompositePodGroups; values like those of ``builders``.

make_composite_pod_group("root").min_group_count(2).obj()
make_pod_group("train").min_count(3).parent("root").topology("rack").obj()
"""

from __future__ import annotations

from typing import Any, Generic, Literal, Self, TypeVar

from attrs import evolve, frozen

from gangsched_framework.objects import CompositePodGroup, Condition, PodGroup
from gangsched_framework.testing.checked import checked, checked_call
from gangsched_framework.words import ConditionStatus, PreemptionPolicy

_Group = TypeVar("_Group", PodGroup, CompositePodGroup)


@checked_call
def make_pod_group(name: str, namespace: str = "default") -> PodGroupBuilder:
    """A root PodGroup of policy ``basic``."""
    return PodGroupBuilder(PodGroup(namespace, name, uid=f"PodGroup|{namespace}/{name}#1"))


@checked_call
def make_composite_pod_group(name: str, namespace: str = "default") -> CompositePodGroupBuilder:
    """A root CompositePodGroup of policy ``basic``."""
    group = CompositePodGroup(namespace, name, uid=f"CompositePodGroup|{namespace}/{name}#1")
    return CompositePodGroupBuilder(group)


@checked
@frozen
class _GroupBuilder(Generic[_Group]):
    """What both kinds of group share."""

    _group: _Group

    def obj(self) -> _Group:
        return self._group

    def _with(self, **changes: Any) -> Self:
        return evolve(self, group=evolve(self._group, **changes))

    def parent(self, parent: str | CompositePodGroup) -> Self:
        """Child of a CompositePodGroup of its namespace."""
        return self._with(parent_name=parent if isinstance(parent, str) else parent.name)

    def priority(self, priority: int) -> Self:
        return self._with(priority=priority)

    def preemption_policy(self, policy: PreemptionPolicy) -> Self:
        return self._with(preemption_policy=policy)

    def disruption(self, mode: Literal["single", "all"]) -> Self:
        """``disruptionMode``."""
        return self._with(disruption_mode=mode)

    def topology(self, key: str) -> Self:
        """All its pods in one domain of this node label."""
        return self._with(topology_key=key)

    def label(self, key: str, value: str) -> Self:
        return self._with(labels={**self._group.labels, key: value})

    def annotation(self, key: str, value: str) -> Self:
        return self._with(annotations={**self._group.annotations, key: value})

    def created(self, time: int) -> Self:
        return self._with(creation_timestamp=time)

    def uid(self, uid: str) -> Self:
        return self._with(uid=uid)

    def condition(self, kind: str, status: ConditionStatus, reason: str = "") -> Self:
        return self._with(conditions=(*self._group.conditions, Condition(kind, status, reason)))


@checked
@frozen
class PodGroupBuilder(_GroupBuilder[PodGroup]):
    """Starts at ``make_pod_group``."""

    def min_count(self, pods: int) -> Self:
        """Policy ``gang`` of at least ``pods`` pods."""
        return self._with(minimum=pods)


@checked
@frozen
class CompositePodGroupBuilder(_GroupBuilder[CompositePodGroup]):
    """Starts at ``make_composite_pod_group``."""

    def min_group_count(self, groups: int) -> Self:
        """Policy ``gang`` of at least ``groups`` direct child groups."""
        return self._with(minimum=groups)
