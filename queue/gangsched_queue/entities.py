"""What the queue holds: plain pods and whole trees of groups (spec §2.2.9)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from attrs import define, field

from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo, QueueingParams
from gangsched_framework.objects import EntityKey, Group, Pod
from gangsched_queue.member_gates import Kind, MemberGates, are_in_order, member_order


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


@define(eq=False, init=False)
class QueuedPodGroupInfo(QueueingParams):
    """A tree in the queue, under the key of its root: the waiting members of each leaf that has any.

    The structure itself is the Forest's. ``ordered`` gives the members in order, as a pop hands them out.
    """

    key: EntityKey
    group: Group
    size: int
    fresh: dict[str, QueuedPodInfo]
    """Members that were never in the active queue (spec §2.2.2), in a tree that was; no list is kept before."""
    by_leaf: dict[EntityKey, dict[str, QueuedPodInfo]]
    """The members of each leaf that has any."""
    alike: Kind | None
    """Of all members, while each of them was told by PreEnqueue what the entity was; None = they are told apart, or
    nobody was asked yet."""
    _gates: MemberGates | None
    _rejected: RejectedMembers | None

    def __init__(self, key: EntityKey, group: Group, timestamp: int) -> None:
        self.timestamp = timestamp
        self.attempts = self.unschedulable_count = self.consecutive_errors = self.flush_timestamp = 0
        self.backoff_expiration = self.refusal = self.initial_attempt_timestamp = None
        self.was_flushed = False
        self.gating_plugin = ""
        self.key = key
        self.group = group
        self.priority = group.effective_priority
        self.size = 0
        self.fresh = {}
        self.by_leaf = {}
        self.alike = self._gates = self._rejected = None

    def come_back(self, group: Group, leaves: dict[EntityKey, dict[str, QueuedPodInfo]]) -> None:
        """A cycle ends that left these members: what is counted stays, all else begins anew (spec §2.11)."""
        self.renew(group)
        self.by_leaf = leaves
        self.size = sum(map(len, leaves.values()))
        self.fresh = {}
        self.backoff_expiration = None
        self.was_flushed = False
        self.flush_timestamp = 0
        self.alike = self._gates = self._rejected = None

    def renew(self, group: Group) -> None:
        """The root group's object changed."""
        self.group = group
        self.priority = group.effective_priority

    @property
    def source(self) -> Group:
        """Whose annotations and age are the entity's."""
        return self.group

    @property
    def rejected(self) -> RejectedMembers:
        """Worked out when it is first asked for: most trees are tried before anybody does. O(members) then."""
        if self._rejected is None:
            self._rejected = RejectedMembers()
            for info in self.members():
                self._rejected.add(info)
        return self._rejected

    @property
    def gates(self) -> MemberGates:
        """What PreEnqueue said to whom: from now on members are told apart. O(members) the first time."""
        if self._gates is None:
            if self.alike is not None:
                self._gates = MemberGates.of_alike(self.alike, self.members(), self.refusal)
                self.alike = None
            else:
                self._gates = MemberGates(unseen={info.pod.key: info for info in self.members()})
        return self._gates

    @property
    def unasked(self) -> bool:
        """Whether PreEnqueue has not been asked about any member yet."""
        return self.alike is None and self._gates is None

    def is_open(self) -> bool:
        """Whether it has a member that nobody rejected; a gate that is shut for all alike has rejected everybody."""
        return not (self.alike is not None and self.gating_plugin) and bool(self.rejected.unrejected)

    def insert(self, leaf: EntityKey, info: QueuedPodInfo) -> None:
        """Add a member, of whom PreEnqueue has not been asked. O(rejectors of the member)."""
        if not self.unasked:
            self.gates.unseen[info.pod.key] = info
        self.insert_alike(leaf, info)

    def insert_alike(self, leaf: EntityKey, info: QueuedPodInfo) -> None:
        """Add a member that was told what the other ones were."""
        key = info.pod.key
        members = self.by_leaf.get(leaf)
        if members is None:
            members = self.by_leaf[leaf] = {}
        assert key not in members
        members[key] = info
        self.size += 1
        if self.initial_attempt_timestamp is not None and info.initial_attempt_timestamp is None:
            self.fresh[key] = info
        if self._rejected is not None:
            self._rejected.add(info)

    def reject(self, info: QueuedPodInfo, plugin: str) -> None:
        """A plugin gates the member: it joins the member's rejectors (spec §2.8.3)."""
        if self._rejected is not None:
            self._rejected.reject(info, plugin)
        else:
            info.unschedulable_plugins |= {plugin}

    def remove(self, leaf: EntityKey, pod_key: str) -> QueuedPodInfo | None:
        """Take a member out; None when it is not here."""
        members = self.by_leaf.get(leaf)
        info = members.pop(pod_key, None) if members is not None else None
        if info is None:
            return None
        if not members:
            del self.by_leaf[leaf]
        self.size -= 1
        self.fresh.pop(pod_key, None)
        if self._rejected is not None:
            self._rejected.remove(info)
        if self.alike is not None:
            info.gating_plugin = self.gating_plugin
        elif self._gates is not None:
            self._gates.leave(info)
        return info

    def replace(self, info: QueuedPodInfo, pod: Pod) -> None:
        """A member's object changed: PreEnqueue must see it anew when it next runs."""
        if not self.unasked:
            self.gates.leave(info)
            self.gates.unseen[pod.key] = info
        info.renew(pod)

    def some_member(self) -> QueuedPodInfo:
        """Any member. Amortised O(1): to look for the first one passes over all that stood before it and have left."""
        leaf, members = self.by_leaf.popitem()
        self.by_leaf[leaf] = members
        key, info = members.popitem()
        members[key] = info
        return info

    def members(self) -> Iterator[QueuedPodInfo]:
        """Every member, in no particular order."""
        return (info for members in self.by_leaf.values() for info in members.values())

    def members_of(self, leaf: EntityKey) -> list[QueuedPodInfo]:
        return list(self.by_leaf.get(leaf, {}).values())

    def ordered(self, tree: PodGroupInfo) -> dict[EntityKey, list[QueuedPodInfo]]:
        """Leaves in the order of their evaluation, each with its members in the order they are tried (spec §2.9).

        ``tree``: of the forest, as it is now.
        """
        by_leaf, leaves = self.by_leaf, {}
        for leaf in tree.leaves():
            members = by_leaf.get(leaf.key)
            if members is not None:
                infos = leaves[leaf.key] = [*members.values()]
                if not are_in_order(infos):
                    infos.sort(key=member_order)
        return leaves

    def _check(self, forest: Forest) -> None:
        count = 0
        assert self.priority == self.group.effective_priority
        rejected = RejectedMembers()
        for leaf, members in self.by_leaf.items():
            assert members, f"{leaf}: empty"
            assert forest.root(leaf) == self.key, f"{leaf} does not belong to {self.key}"
            for key, info in members.items():
                assert info.pod.key == key
                assert info.pod.group_key == leaf
                assert info.priority == info.pod.priority
                rejected.add(info)
                count += 1
        assert count == self.size > 0
        never = {i.pod.key: i for i in self.members() if i.initial_attempt_timestamp is None}
        assert self.fresh == ({} if self.initial_attempt_timestamp is None else never)
        if self._rejected is not None:
            assert rejected.unrejected == self._rejected.unrejected
            assert rejected.pending == self._rejected.pending
            assert {p: dict(infos) for p, infos in rejected.by_plugin.items()} == {
                p: dict(infos) for p, infos in self._rejected.by_plugin.items()
            }
        if self._gates is not None:
            assert self.alike is None
            self._gates._check()
            assert sorted(self._gates.everywhere()) == sorted(i.pod.key for i in self.members())
        if self.alike is not None:
            gate = self.gating_plugin
            assert (self.refusal.plugin if self.refusal is not None else "") == gate
            assert gate in self.alike.keepers.telling
            for info in self.members():
                assert info.pod.scheduler_name == self.alike.profile
                assert not gate or gate in info.unschedulable_plugins
            assert all(forest.depth(leaf) == self.alike.depth for leaf in self.by_leaf)


Entity = QueuedPodInfo | QueuedPodGroupInfo
"""A waiting entity: what the containers hold."""
