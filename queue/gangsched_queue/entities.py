"""What the queue holds: plain pods and whole trees of groups (spec §2.2.9)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from attrs import define, field

from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo, QueueingParams
from gangsched_framework.objects import EntityKey, Group, Pod
from gangsched_queue.member_gates import MemberGates, member_order


def rejectors(info: QueuedPodInfo) -> list[str]:
    """Names of the plugins that rejected a pod, in name order."""
    if not info.pending_plugins:
        return sorted(info.unschedulable_plugins)
    return sorted(info.unschedulable_plugins | info.pending_plugins)


@define(eq=False)
class RejectedMembers:
    """Which members carry which rejectors, so that an event finds those it may concern (spec §2.7.3)."""

    unrejected: dict[str, QueuedPodInfo] = field(factory=dict)
    by_plugin: dict[str, OrderedDict[str, QueuedPodInfo]] = field(factory=dict)
    pending: dict[str, QueuedPodInfo] = field(factory=dict)

    def add(self, info: QueuedPodInfo) -> None:
        key = info.pod.key
        if not info.unschedulable_plugins and not info.pending_plugins:
            self.unrejected[key] = info
            return
        if info.pending_plugins:
            self.pending[key] = info
        for plugin in rejectors(info):
            self.by_plugin.setdefault(plugin, OrderedDict())[key] = info

    def remove(self, info: QueuedPodInfo) -> None:
        key = info.pod.key
        self.unrejected.pop(key, None)
        self.pending.pop(key, None)
        for plugin in rejectors(info):
            members = self.by_plugin[plugin]
            del members[key]
            if not members:
                del self.by_plugin[plugin]

    def reject(self, info: QueuedPodInfo, plugin: str) -> None:
        """A plugin gates the member: it joins the member's rejectors (spec §2.8.3)."""
        key = info.pod.key
        info.unschedulable_plugins |= {plugin}
        self.unrejected.pop(key, None)
        members = self.by_plugin.get(plugin)
        if members is None:
            members = self.by_plugin[plugin] = OrderedDict()
        members[key] = info


@define(eq=False, kw_only=True)
class QueuedPodGroupInfo(QueueingParams):
    """A tree in the queue, under the key of its root: the waiting members of each leaf that has any.

    The structure itself is the Forest's. Members stand in no particular order; ``ordered`` sorts them on demand, which
    a pop does once.
    """

    key: EntityKey
    group: Group
    size: int = 0
    rejected: RejectedMembers = field(factory=RejectedMembers)
    fresh: dict[str, QueuedPodInfo] = field(factory=dict)
    """Members that were never in the active queue (spec §2.2.2)."""
    gates: MemberGates = field(factory=MemberGates)
    _leaves: dict[EntityKey, dict[str, QueuedPodInfo]] = field(factory=dict)

    @property
    def priority(self) -> int:
        """The root group's, whatever the pods say (spec §2.9.1)."""
        return self.group.effective_priority

    @property
    def source(self) -> Group:
        """Whose annotations and age are the entity's."""
        return self.group

    def insert(self, leaf: EntityKey, info: QueuedPodInfo) -> None:
        """Add a member. O(rejectors of the member)."""
        key = info.pod.key
        members = self._leaves.get(leaf)
        if members is None:
            members = self._leaves[leaf] = {}
        assert key not in members
        members[key] = info
        self.size += 1
        self.rejected.add(info)
        if info.initial_attempt_timestamp is None:
            self.fresh[key] = info
        self.gates.unseen[key] = info

    def get(self, leaf: EntityKey, pod_key: str) -> QueuedPodInfo | None:
        return self._leaves.get(leaf, {}).get(pod_key)

    def remove(self, leaf: EntityKey, pod_key: str) -> QueuedPodInfo | None:
        """Take a member out; None when it is not here."""
        members = self._leaves.get(leaf)
        info = members.pop(pod_key, None) if members is not None else None
        if info is None:
            return None
        if not members:
            del self._leaves[leaf]
        self.size -= 1
        self.rejected.remove(info)
        self.fresh.pop(pod_key, None)
        self.gates.leave(info)
        return info

    def replace(self, info: QueuedPodInfo, pod: Pod) -> None:
        """A member's object changed: PreEnqueue must see it anew when it next runs."""
        self.gates.leave(info)
        info.pod = pod
        self.gates.unseen[pod.key] = info

    def members(self) -> Iterator[QueuedPodInfo]:
        """Every member, in no particular order."""
        return (info for members in self._leaves.values() for info in members.values())

    def leaves(self) -> Iterable[EntityKey]:
        """Keys of the leaves with members, in no particular order."""
        return self._leaves.keys()

    def members_of(self, leaf: EntityKey) -> list[QueuedPodInfo]:
        return list(self._leaves.get(leaf, {}).values())

    def ordered(self, forest: Forest) -> dict[EntityKey, list[QueuedPodInfo]]:
        """Leaves in the order of their evaluation, each with its members in the order they are tried (spec §2.9)."""
        keys = sorted(self._leaves, key=forest.position) if len(self._leaves) > 1 else self._leaves
        return {leaf: sorted(self._leaves[leaf].values(), key=member_order) for leaf in keys}

    def _check(self, forest: Forest) -> None:
        count = 0
        rejected = RejectedMembers()
        for leaf, members in self._leaves.items():
            assert members, f"{leaf}: empty"
            assert forest.root(leaf) == self.key, f"{leaf} does not belong to {self.key}"
            for key, info in members.items():
                assert info.pod.key == key
                assert info.pod.group_key == leaf
                rejected.add(info)
                count += 1
        assert count == self.size > 0
        assert rejected.unrejected == self.rejected.unrejected
        assert rejected.pending == self.rejected.pending
        assert rejected.by_plugin.keys() == self.rejected.by_plugin.keys()
        assert all(dict(rejected.by_plugin[plugin]) == dict(found) for plugin, found in self.rejected.by_plugin.items())
        self.gates._check()
        assert sorted(self.gates.everywhere()) == sorted(i.pod.key for i in self.members())
        assert self.fresh == {i.pod.key: i for i in self.members() if i.initial_attempt_timestamp is None}


Entity = QueuedPodInfo | QueuedPodGroupInfo
"""A waiting entity: what the containers hold."""
