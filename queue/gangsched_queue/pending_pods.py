"""Members that showed up, new or failed, while their root is the entity being scheduled (spec §2.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey

Leaves = dict[EntityKey, dict[str, QueuedPodInfo]]


class PendingPods:
    """leaf -> pod key -> pod, all below the one popped root; drained when its cycle ends."""

    def __init__(self) -> None:
        self._leaves: Leaves = {}
        self._unasked: dict[str, bool] = {}
        """Pods of whom PreEnqueue is to be asked, because they are new or have changed: whether they failed."""

    def __bool__(self) -> bool:
        return bool(self._leaves)

    def add(self, leaf: EntityKey, info: QueuedPodInfo, attempted: bool, unchanged: bool) -> bool:
        """``attempted``: the pod failed in this cycle, False = it arrived meanwhile (spec §2.11, AddAttempted).

        ``unchanged``: its object is the one that was popped. False, and nothing is done, when it is here already.
        """
        key, pods = info.pod.key, self._leaves.get(leaf)
        if pods is None:
            pods = self._leaves[leaf] = {}
        elif key in pods:
            return False
        pods[key] = info
        if not unchanged:
            self._unasked[key] = attempted
        return True

    def get(self, leaf: EntityKey, pod_key: str) -> QueuedPodInfo | None:
        pods = self._leaves.get(leaf)
        return pods.get(pod_key) if pods is not None else None

    def remove(self, leaf: EntityKey, pod_key: str) -> QueuedPodInfo | None:
        """Take one pod out; None when it is not here."""
        pods = self._leaves.get(leaf)
        if pods is None or pod_key not in pods:
            return None
        info = pods.pop(pod_key)
        self._unasked.pop(pod_key, None)
        if not pods:
            del self._leaves[leaf]
        return info

    def changed(self, leaf: EntityKey, pod_key: str) -> None:
        """The object of a pod changed, if it is here."""
        if self.get(leaf, pod_key) is not None:
            self._unasked.setdefault(pod_key, True)

    def take(self, leaf: EntityKey) -> list[QueuedPodInfo]:
        """Take every pod of a leaf out."""
        infos = list(self._leaves.pop(leaf, {}).values())
        for info in infos:
            self._unasked.pop(info.pod.key, None)
        return infos

    def drain(self) -> tuple[Leaves, dict[str, bool]]:
        """Take everything out: the pods, and the keys of those of whom PreEnqueue is to be asked, True = failed."""
        drained = self._leaves, self._unasked
        self._leaves, self._unasked = {}, {}
        return drained

    def leaves(self) -> Iterator[tuple[EntityKey, Mapping[str, QueuedPodInfo]]]:
        return iter(self._leaves.items())

    def _check(self) -> None:
        keys: list[str] = []
        for leaf, pods in self._leaves.items():
            assert pods, f"{leaf}: empty"
            assert all(key == info.pod.key and info.pod.group_key == leaf for key, info in pods.items())
            keys += pods
        assert self._unasked.keys() <= set(keys)
