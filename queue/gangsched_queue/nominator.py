"""Which waiting pods hold a nomination: room promised to them on a node (spec §2.10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from gangsched_framework.handle import NO_PRIORITY
from gangsched_framework.objects import EntityKey, Pod

K = TypeVar("K")


def _unheard(_node_name: str) -> None:
    """Nobody follows."""


class Nominator:
    """Pod -> nominated node. ``known`` is the engine's lister: ``namespace/name`` -> newest pod, or None.

    ``changed`` is told the name of every node whose nominations change. Implements
    ``gangsched_framework.handle.Nominations``.
    """

    def __init__(self, known: Callable[[str], Pod | None], changed: Callable[[str], None] = _unheard) -> None:
        self._known = known
        self._changed = changed
        self.node_of: dict[str, str] = {}
        """UID -> node of every nomination, for reading."""
        self._by_node: dict[str, dict[str, Pod]] = {}
        self._by_leaf: dict[EntityKey, dict[str, Pod]] = {}
        self._priorities: dict[int, int] = {}  # priority -> nominated pods
        self.highest = NO_PRIORITY
        """The highest priority of them; every pod that is tried asks."""

    def add(self, pod: Pod, node_name: str | None = None) -> None:
        """Nominate a pod: to ``node_name`` ('' clears), or to what its status says when None.

        Ignored for a pod that is gone or assigned (spec §2.10.1).
        """
        node = pod.status.nominated_node_name if node_name is None else node_name
        if self.node_of:
            self.delete(pod)
        if not node:
            return
        newest = self._known(pod.key)
        if newest is None or newest.node_name:
            return
        self._put(pod, node)

    def _put(self, pod: Pod, node: str) -> None:
        self.node_of[pod.uid] = node
        self._by_node.setdefault(node, {})[pod.uid] = pod
        if pod.group_key is not None:
            self._by_leaf.setdefault(pod.group_key, {})[pod.uid] = pod
        self._priorities[pod.priority] = self._priorities.get(pod.priority, 0) + 1
        self.highest = max(self.highest, pod.priority)
        self._changed(node)

    def update(self, old: Pod, new: Pod) -> None:
        """A pod changed: a nomination known in memory only is kept, else the new status counts (spec §2.10.2)."""
        if not self.node_of and not new.status.nominated_node_name:
            return
        kept = None
        if not old.status.nominated_node_name and not new.status.nominated_node_name:
            kept = self.node_of.get(old.uid)
        if old.uid in self.node_of:
            self.delete(old)
        self.add(new, kept)

    def leave(self, pod: Pod) -> None:
        """The pod is there still, but in no queue: what is known of it promises one place, at priority 0 [1.37]."""
        node = self.node_of.get(pod.uid)
        if node is not None:
            self.delete(pod)
            self._put(Pod(pod.namespace, pod.name, pod.uid, group_name=pod.group_name), node)

    def delete(self, pod: Pod) -> None:
        """The pod is gone, assigned or assumed: its nomination ends."""
        node = self.node_of.pop(pod.uid, None)
        if node is None:
            return
        stood = _take(self._by_node, node, pod.uid)
        if stood.group_key is not None:
            _take(self._by_leaf, stood.group_key, pod.uid)
        left = self._priorities[stood.priority] - 1
        if left:
            self._priorities[stood.priority] = left
        else:
            del self._priorities[stood.priority]
            self.highest = max(self._priorities, default=NO_PRIORITY)
        self._changed(node)

    def nominated_pods(self, node_name: str) -> Sequence[Pod]:
        """Pods nominated to a node, in the order of their nomination."""
        pods = self._by_node.get(node_name)
        return tuple(pods.values()) if pods else ()

    def nodes(self) -> Collection[str]:
        """Names of the nodes that pods are nominated to."""
        return self._by_node.keys()

    def leaves(self) -> Collection[EntityKey]:
        """The PodGroups that have nominated members."""
        return self._by_leaf.keys()

    def members(self, leaf: EntityKey) -> Collection[Pod]:
        """The nominated pods of a PodGroup."""
        return self._by_leaf.get(leaf, {}).values()

    def any(self) -> bool:
        """Whether any pod holds a nomination."""
        return bool(self.node_of)

    def nominated_node(self, pod: Pod) -> str:
        return self.node_of.get(pod.uid, "")

    def _check(self) -> None:
        listed = {uid: (node, pod) for node, pods in self._by_node.items() for uid, pod in pods.items()}
        assert {uid: node for uid, (node, _) in listed.items()} == self.node_of
        assert all(self._by_node.values())
        assert all(self._by_leaf.values())
        members = {uid: pod for pods in self._by_leaf.values() for uid, pod in pods.items()}
        assert members == {uid: pod for uid, (_, pod) in listed.items() if pod.group_key is not None}
        priorities = [pod.priority for _, pod in listed.values()]
        assert self._priorities == {priority: priorities.count(priority) for priority in priorities}
        assert self.highest == max(priorities, default=NO_PRIORITY)


def _take(index: dict[K, dict[str, Pod]], key: K, uid: str) -> Pod:
    pods = index[key]
    pod = pods.pop(uid)
    if not pods:
        del index[key]
    return pod
