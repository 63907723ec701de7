"""The one Forest: every observed group, parent and child links, and the pods of each leaf (spec §1.4, §2.1, §3).

Queue, readiness, plugins and cycle share it. Links are by name: a child is linked under its parent's key even while the
parent is not observed (a *placeholder*), so that order of arrival does not matter. Readiness counters are kept in step
on every change (``readiness.py``), O(depth) each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gangsched_framework import readiness
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import EntityKey, Group, Pod, PodGroup
from gangsched_framework.readiness import Record
from gangsched_framework.tally import Tally
from gangsched_framework.trees import tree_of

MAX_PARENT_LINKS = 4
"""Deepest legal path: four parent links from a leaf to its root (DIV-18)."""

_LEGAL_DEPTHS = range(1, MAX_PARENT_LINKS + 2)


class HierarchyError(Exception):
    """A chain of parents that cannot be used; the text is shown by PreEnqueue."""


class Forest:
    """Groups and their pods. ``composite`` False = the CompositePodGroup gate is off: every PodGroup is a root."""

    def __init__(self, *, composite: bool = True, child_order: str = "name") -> None:
        self._composite = composite
        self._child_order = child_order
        self._records: dict[EntityKey, Record] = {}
        self.roots: dict[EntityKey, EntityKey] = {}
        """Root of every leaf whose chain of parents is observed and not cyclic: what ``root`` says of it."""
        self.priorities = Tally()
        """Priorities of the observed groups."""
        self._latest: PodGroupInfo | None = None
        """The tree handed out last, while no group changes."""

    # --- groups ---------------------------------------------------------------------------------------------------

    def add_group(self, group: Group) -> None:
        """Observe a group, or replace its object (then as ``update_group``). O(depth + leaves below)."""
        self._latest = None
        record = self._record(group.key)
        parent_key = group.parent_key if self._composite else None
        stays = record.group is not None and parent_key == (record.parent.key if record.parent is not None else None)
        if record.parent is not None and record.parent.key != parent_key:
            self._unlink(record)
        if record.group is not None:
            self.priorities.remove(record.group.effective_priority)
        self.priorities[group.effective_priority] += 1
        record.observe(group)
        # With its own M before its link: a placeholder counts with M = 1, and must not pass that on to the parent.
        readiness.refresh(record)
        parent = record.parent
        if parent is not None:
            parent.disown(record)
        record.order = self._order(group)
        if parent is not None:
            parent.adopt(record)
        elif parent_key is not None:
            parent = self._record(parent_key)
            parent.adopt(record)
            readiness.link(record, parent)
        if not stays:
            self._find_roots(record.key)

    def update_group(self, group: Group) -> None:
        """Replace the object of an observed group. O(1) when links and minimum stay, as with a condition."""
        record = self._records[group.key]
        old = record.group
        if (
            old is None
            or old.parent_name != group.parent_name
            or old.minimum != group.minimum
            or old.priority != group.priority
            or (self._child_order == "creation" and old.creation_timestamp != group.creation_timestamp)
        ):
            self.add_group(group)
        else:
            self.renew_group(group)

    def renew_group(self, group: Group) -> None:
        """Replace the object of an observed group by one that shows other conditions. O(1)."""
        self._latest = None
        self._records[group.key].group = group

    def delete_group(self, key: EntityKey) -> None:
        """Forget a group's object; its pods and children stay under its name (spec §3.4). O(depth + leaves below)."""
        self._latest = None
        record = self._records[key]
        if record.parent is not None:
            self._unlink(record)
        if record.group is not None:
            self.priorities.remove(record.group.effective_priority)
        record.observe(None)
        readiness.refresh(record)
        self._find_roots(key)
        self._prune(record)

    def _find_roots(self, key: EntityKey) -> None:
        """The chains at and below a group changed; all of them go on alike above it. O(depth + leaves below)."""
        path = self._path(key)
        for leaf in (key,) if self._records[key].is_leaf else self.leaves_below(key):
            if path:
                self.roots[leaf] = path[-1].key
            else:
                self.roots.pop(leaf, None)

    def _order(self, group: Group) -> tuple[object, ...]:
        # DIV-3: by name, then type; `creation` is v1.37.2's order (whole seconds, then name).
        if self._child_order == "creation":
            return (group.creation_timestamp // 1_000_000_000, group.name, group.key.kind)
        return (group.name, group.key.kind)

    def _record(self, key: EntityKey) -> Record:
        return self._records.get(key) or self._records.setdefault(key, Record(key))

    def _unlink(self, record: Record) -> None:
        parent = record.parent
        assert parent is not None
        parent.disown(record)
        readiness.unlink(record)
        self._prune(parent)

    def _prune(self, record: Record) -> None:
        if record.group is None and not record.pods and not record.children:
            self._records.pop(record.key, None)

    def group(self, key: EntityKey) -> Group | None:
        """The observed object, None for a placeholder or an unknown key."""
        record = self._records.get(key)
        return record.group if record is not None else None

    def groups(self) -> Iterator[Group]:
        """Every observed group, in order of first mention."""
        return (record.group for record in self._records.values() if record.group is not None)

    # --- pods -----------------------------------------------------------------------------------------------------

    def add_pod(self, pod: Pod) -> None:
        """A member appears; waiting and assigned ones count alike for the quorum. Known UIDs count once."""
        key = pod.group_key
        if key is None:
            return
        record = self._records.get(key) or self._record(key)
        pods = record.pods
        pods[pod.uid] = pod
        if pod.node_name:
            record.scheduled[pod.uid] = pod.node_name
        if record.ready is not (len(pods) >= record.required):
            readiness.refresh(record)

    def update_pod(self, old: Pod, new: Pod) -> None:
        """Replace a member's object; another UID or group is a removal and an addition."""
        key, uid = new.group_key, new.uid
        record = self._records.get(key) if key is not None else None
        if record is None or uid not in record.pods or old.uid != uid or old.group_name != new.group_name:
            self.delete_pod(old)
            self.add_pod(new)
            return
        record.pods[uid] = new
        if new.node_name:
            record.scheduled[uid] = new.node_name
        elif old.node_name:
            record.scheduled.pop(uid, None)  # a pod that loses its node is waiting again (B-05)

    def renew_pod(self, pod: Pod) -> None:
        """Replace the object of a known member in which nothing changed that counts here."""
        record = self._records.get(pod.group_key) if pod.group_key is not None else None
        if record is not None and pod.uid in record.pods:
            record.pods[pod.uid] = pod

    def delete_pod(self, pod: Pod) -> None:
        """Remove a member from every count."""
        record = self._records.get(pod.group_key) if pod.group_key is not None else None
        if record is None:
            return
        record.pods.pop(pod.uid, None)
        record.scheduled.pop(pod.uid, None)
        readiness.refresh(record)
        self._prune(record)

    def assume(self, pod: Pod, node_name: str) -> None:
        """A waiting member is being bound to a node: it counts as scheduled (spec §3.8)."""
        record = self._records.get(pod.group_key) if pod.group_key is not None else None
        if record is not None and pod.uid in record.pods:
            record.scheduled[pod.uid] = node_name

    def assume_all(self, pods: Iterable[Pod], nodes: Iterable[str]) -> None:
        """``assume`` of each pod on its node."""
        for pod, node_name in zip(pods, nodes, strict=True):
            self.assume(pod, node_name)

    def forget(self, pod: Pod) -> None:
        """The binding failed: the member waits again."""
        record = self._records.get(pod.group_key) if pod.group_key is not None else None
        if record is not None and pod.uid in record.pods and not record.pods[pod.uid].node_name:
            record.scheduled.pop(pod.uid, None)

    def pods(self, leaf: EntityKey) -> Mapping[str, Pod]:
        """Every known pod of a leaf by UID."""
        record = self._records.get(leaf)
        return record.pods if record is not None else {}

    def scheduled_pods(self, leaf: EntityKey) -> Mapping[str, Pod]:
        """Assigned and assumed pods of a leaf by UID, each with its ``node_name``. O(scheduled pods)."""
        record = self._records.get(leaf)
        if record is None or not record.scheduled:
            return {}
        pods = ((uid, record.pods[uid], node) for uid, node in record.scheduled.items())
        return {uid: pod if pod.node_name else pod.bound_to(node) for uid, pod, node in pods}

    def scheduled_count(self, leaf: EntityKey) -> int:
        record = self._records.get(leaf)
        return len(record.scheduled) if record is not None else 0

    # --- chains ---------------------------------------------------------------------------------------------------

    def root(self, key: EntityKey) -> EntityKey | None:
        """Key of the root above ``key``; None when a link is not observed or the chain is cyclic. O(depth)."""
        return self.roots.get(key) or next((record.key for record in reversed(self._path(key))), None)

    def position(self, leaf: EntityKey) -> tuple[tuple[object, ...], ...]:
        """Where a leaf stands in the evaluation order of its tree: positions compare as the leaves are evaluated.

        One entry per group from the root down, so the length is the leaf's depth. Empty when the root is unknown.
        """
        return tuple(record.order for record in reversed(self._path(leaf)))

    def depth(self, leaf: EntityKey) -> int:
        """How many groups stand from the root down to the leaf, the leaf included; 0 when the root is unknown."""
        return len(self._path(leaf))

    def _path(self, key: EntityKey) -> list[Record]:
        """Records from ``key`` up to its root; empty when a link is not observed or the chain is cyclic."""
        record = self._records.get(key)
        path: list[Record] = []
        while record is not None and record.group is not None:
            path.append(record)
            if record.parent is None:
                return path
            if record.parent is path[len(path) // 2]:  # a cycle meets its own middle sooner or later
                return []
            record = record.parent
        return []

    def chain(self, key: EntityKey) -> list[Group]:
        """The groups from ``key`` up to its root. Raises HierarchyError on a missing link or a cycle; any depth."""
        groups: list[Group] = []
        seen: dict[EntityKey, None] = {}
        while True:
            record = self._records.get(key)
            if record is None or record.group is None:
                raise HierarchyError(f"group {key} not found")
            if key in seen:
                raise HierarchyError(f"cycle detected in the hierarchy at {key}")
            seen[key] = None
            groups.append(record.group)
            parent = record.group.parent_key if self._composite else None
            if parent is None:
                return groups
            key = parent

    def climb(self, key: EntityKey, most: int) -> list[Group]:
        """The groups from ``key`` upwards, at most so many, as far as they are observed."""
        groups: list[Group] = []
        record = self._records.get(key)
        while record is not None and record.group is not None and len(groups) < most:
            groups.append(record.group)
            record = record.parent
        return groups

    def quorum(self, leaf: EntityKey) -> tuple[Group, bool]:
        """The root of a leaf, and whether it meets its quorum. O(depth).

        Fails closed beyond four parent links (DIV-18). Raises HierarchyError.
        """
        record = self._records.get(leaf)
        for _ in _LEGAL_DEPTHS:
            if record is None or record.group is None:
                break
            if record.parent is None:
                return record.group, record.ready
            record = record.parent
        self.chain(leaf)
        raise HierarchyError(f"hierarchy of {leaf} is deeper than maximum of {MAX_PARENT_LINKS} or has a cycle")

    def ready(self, key: EntityKey) -> bool:
        """Whether a group meets its quorum (spec §3.2). O(1)."""
        record = self._records.get(key)
        return record is not None and record.group is not None and record.ready

    def same_hierarchy(self, a: EntityKey, b: EntityKey) -> bool:
        """Whether two groups stand under one root; False when either is unresolved (spec §3.5.4)."""
        root = self.root(a)
        return root is not None and (a == b or root == self.root(b))

    # --- trees ----------------------------------------------------------------------------------------------------

    def children(self, key: EntityKey) -> list[EntityKey]:
        """Observed child groups in evaluation order."""
        record = self._records.get(key)
        return [child.key for child in record.children] if record is not None else []

    def tree(self, key: EntityKey) -> PodGroupInfo:
        """The frozen tree below an observed, acyclic group, however deep. O(size of the tree)."""
        tree = self._latest = tree_of(self._records[key])
        return tree

    def shows(self, tree: PodGroupInfo) -> bool:
        """Whether ``tree`` was handed out last, and no group has changed since."""
        return tree is self._latest

    def leaves_below(self, key: EntityKey, levels: int | None = None) -> Iterator[EntityKey]:
        """PodGroups at or below ``key``, on so many levels, in evaluation order; placeholders and cycles once."""
        seen: dict[EntityKey, None] = {}
        stack = [(key, 0)]
        while stack:
            current, level = stack.pop()
            record = self._records.get(current)
            if record is None or current in seen or level == levels:
                continue
            seen[current] = None
            if record.is_leaf:
                yield current
            stack.extend((child.key, level + 1) for child in reversed(record.children))

    def _check(self) -> None:
        """Assert that links and counters equal a recomputation (tests only)."""
        chains = [self._path(key) for key, record in self._records.items() if record.is_leaf]
        assert self.roots == {path[0].key: path[-1].key for path in chains if path}
        for key, record in self._records.items():
            assert record.key == key
            assert record.group is not None or record.pods or record.children, f"{key}: empty placeholder"
            assert record.group is None or isinstance(record.group, PodGroup) == record.is_leaf
            assert record.children == sorted(record.children, key=lambda child: child.order)
            assert all(child.parent is record and child.group is not None for child in record.children), key
            assert record.ready_children == sum(child.ready for child in record.children), key
            assert record.ready == (record.count() >= record.required), key
            assert all(uid in record.pods for uid in record.scheduled)
        if self._latest is not None:
            now = tree_of(self._records[self._latest.key])
            assert [(i.group, len(i.children)) for i in self._latest.walk()] == [
                (i.group, len(i.children)) for i in now.walk()
            ]
