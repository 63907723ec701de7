"""The gate of asynchronous preemption: the preemptor waits while its evictions are under way (spec §5.6)."""

from __future__ import annotations

from collections.abc import Iterable

from gangsched_framework.handle import Handle
from gangsched_framework.objects import EntityKey, Pod


class EvictionGate:
    """Remembers the victims of each preempting entity until one of them is seen leaving."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._victims: dict[EntityKey, list[tuple[Pod, str]]] = {}

    def close(self, preemptor: EntityKey, victims: Iterable[Pod]) -> None:
        """The preemptor asked for the eviction of ``victims``. Called inside the cycle."""
        self._victims[preemptor] = [(pod, self._node_of(pod)) for pod in victims if not pod.deleting]

    def _node_of(self, pod: Pod) -> str:
        if pod.node_name:
            return pod.node_name
        nodes = self._handle.snapshot.all_nodes  # a victim that is still being bound does not name its node
        return next((node.name for node in nodes if pod.key in node.pods), "")

    def holds(self, preemptor: EntityKey) -> bool:
        """Whether no victim is seen leaving yet: when one is, the evictions have all been asked for."""
        victims = self._victims.get(preemptor)
        if victims is None:
            return False
        if victims and all(self._untouched(pod, node_name) for pod, node_name in victims):
            return True
        del self._victims[preemptor]
        return False

    def _untouched(self, victim: Pod, node_name: str) -> bool:
        node = self._handle.snapshot.node(node_name)
        current = node.pods.get(victim.key) if node is not None else None
        return current is not None and current.uid == victim.uid and not current.deleting
