"""Members that showed up, new or failed, while their root is the entity being scheduled (spec §2.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey


@frozen(eq=False)
class PendingPod:
    """``attempted``: the pod failed in this cycle; False = it arrived meanwhile (spec §2.11, AddAttempted)."""

    info: QueuedPodInfo
    attempted: bool


class PendingPods:
    """leaf -> pod key -> pod, all below the one popped root; drained when its cycle ends."""

    def __init__(self) -> None:
        self._leaves: dict[EntityKey, dict[str, PendingPod]] = {}

    def __bool__(self) -> bool:
        return bool(self._leaves)

    def add(self, leaf: EntityKey, info: QueuedPodInfo, *, attempted: bool) -> None:
        self._leaves.setdefault(leaf, {})[info.pod.key] = PendingPod(info, attempted)

    def get(self, leaf: EntityKey, pod_key: str) -> QueuedPodInfo | None:
        pending = self._leaves.get(leaf, {}).get(pod_key)
        return pending.info if pending is not None else None

    def remove(self, leaf: EntityKey, pod_key: str) -> QueuedPodInfo | None:
        """Take one pod out; None when it is not here."""
        pods = self._leaves.get(leaf)
        if pods is None or pod_key not in pods:
            return None
        pending = pods.pop(pod_key)
        if not pods:
            del self._leaves[leaf]
        return pending.info

    def take(self, leaf: EntityKey) -> list[QueuedPodInfo]:
        """Take every pod of a leaf out."""
        return [pending.info for pending in self._leaves.pop(leaf, {}).values()]

    def drain(self) -> dict[EntityKey, dict[str, PendingPod]]:
        """Take everything out."""
        leaves, self._leaves = self._leaves, {}
        return leaves

    def leaves(self) -> Iterator[tuple[EntityKey, Mapping[str, PendingPod]]]:
        return iter(self._leaves.items())

    def _check(self) -> None:
        for leaf, pods in self._leaves.items():
            assert pods, f"{leaf}: empty"
            assert all(key == p.info.pod.key and p.info.pod.group_key == leaf for key, p in pods.items())
