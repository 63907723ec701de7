"""Which waiting pods hold a nomination: room promised to them on a node (spec §2.10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gangsched_framework.objects import Pod


class Nominator:
    """Pod -> nominated node. ``known`` is the engine's lister: ``namespace/name`` -> newest pod, or None.

    Implements ``gangsched_framework.handle.Nominations``.
    """

    def __init__(self, known: Callable[[str], Pod | None]) -> None:
        self._known = known
        self._node_of: dict[str, str] = {}
        self._by_node: dict[str, dict[str, Pod]] = {}

    def add(self, pod: Pod, node_name: str | None = None) -> None:
        """Nominate a pod: to ``node_name`` ('' clears), or to what its status says when None.

        Ignored for a pod that is gone or assigned (spec §2.10.1).
        """
        node = pod.status.nominated_node_name if node_name is None else node_name
        self.delete(pod)
        if not node:
            return
        newest = self._known(pod.key)
        if newest is None or newest.node_name:
            return
        self._node_of[pod.uid] = node
        self._by_node.setdefault(node, {})[pod.uid] = pod

    def update(self, old: Pod, new: Pod) -> None:
        """A pod changed: a nomination known in memory only is kept, else the new status counts (spec §2.10.2)."""
        kept = None
        if not old.status.nominated_node_name and not new.status.nominated_node_name:
            kept = self._node_of.get(old.uid)
        if old.uid in self._node_of:
            self.delete(old)
        self.add(new, kept)

    def delete(self, pod: Pod) -> None:
        """The pod is gone, assigned or assumed: its nomination ends."""
        node = self._node_of.pop(pod.uid, None)
        if node is not None:
            pods = self._by_node[node]
            del pods[pod.uid]
            if not pods:
                del self._by_node[node]

    def nominated_pods(self, node_name: str) -> Sequence[Pod]:
        """Pods nominated to a node, in the order of their nomination."""
        pods = self._by_node.get(node_name)
        return tuple(pods.values()) if pods else ()

    def any(self) -> bool:
        """Whether any pod holds a nomination."""
        return bool(self._node_of)

    def nominated_node(self, pod: Pod) -> str:
        return self._node_of.get(pod.uid, "")

    def _check(self) -> None:
        listed = {uid: node for node, pods in self._by_node.items() for uid in pods}
        assert listed == self._node_of
        assert all(self._by_node.values())
