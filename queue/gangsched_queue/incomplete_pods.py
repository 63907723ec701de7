"""Members whose chain of groups is not fully observed, or is a cycle (spec §2.1). Never popped, gated or asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey


class IncompletePods:
    """leaf -> pod key (``namespace/name``) -> pod."""

    def __init__(self) -> None:
        self._leaves: dict[EntityKey, dict[str, QueuedPodInfo]] = {}

    def add(self, leaf: EntityKey, info: QueuedPodInfo) -> None:
        self._leaves.setdefault(leaf, {})[info.pod.key] = info

    def get(self, leaf: EntityKey, pod_key: str) -> QueuedPodInfo | None:
        return self._leaves.get(leaf, {}).get(pod_key)

    def remove(self, leaf: EntityKey, pod_key: str) -> QueuedPodInfo | None:
        """Take one pod out; None when it is not here."""
        pods = self._leaves.get(leaf)
        if pods is None or pod_key not in pods:
            return None
        info = pods.pop(pod_key)
        if not pods:
            del self._leaves[leaf]
        return info

    def take(self, leaf: EntityKey) -> list[QueuedPodInfo]:
        """Take every pod of a leaf out."""
        return list(self._leaves.pop(leaf, {}).values())

    def leaves(self) -> Iterator[tuple[EntityKey, Mapping[str, QueuedPodInfo]]]:
        return iter(self._leaves.items())

    def _check(self, forest: Forest) -> None:
        for leaf, pods in self._leaves.items():
            assert pods, f"{leaf}: empty"
            assert forest.root(leaf) is None, f"{leaf}: its chain is complete"
            assert all(key == info.pod.key and info.pod.group_key == leaf for key, info in pods.items())
