"""Pods of nodes that have no row in the node table: nodes that are not known yet, or not any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import define, field

from gangsched_framework.objects import Pod

Port = tuple[str, str, int]
"""(ip, protocol, port)."""


@define(eq=False)
class Homeless:
    """``pods`` by node and ``namespace/name``, in order of arrival; no node without any.

    ``ports``: the host ports in use on such a node. A set as on a row: one leaving pod frees the triple, though another
    has it, too (spec node-plugins.md §7.5.3).
    """

    pods: dict[str, dict[str, Pod]] = field(factory=dict)
    ports: dict[str, dict[Port, int]] = field(factory=dict)

    def add(self, node_name: str, pod: Pod) -> None:
        """A pod of that node waits for it, or takes the place of the one under its key."""
        waiting = self.pods.setdefault(node_name, {})
        old = waiting.get(pod.key)
        if old is not None and old.spec.host_ports:
            self._free(node_name, old.spec.host_ports)
        waiting[pod.key] = pod
        if pod.spec.host_ports:
            self.ports.setdefault(node_name, {}).update(dict.fromkeys(pod.spec.host_ports, 1))

    def of(self, node_name: str) -> Mapping[str, Pod]:
        """Those that wait for one node."""
        return self.pods.get(node_name, {})

    def take(self, node_name: str, key: str) -> Pod:
        """The pod leaves."""
        waiting = self.pods[node_name]
        pod = waiting.pop(key)
        if not waiting:
            del self.pods[node_name]
        if pod.spec.host_ports:
            self._free(node_name, pod.spec.host_ports)
        return pod

    def move_in(self, node_name: str, pods: dict[str, Pod], ports: dict[Port, int]) -> None:
        """A node goes and leaves its pods behind, and the ports that were in use; others may wait for it already."""
        if pods:
            self.pods.setdefault(node_name, {}).update(pods)
        if ports:
            self.ports.setdefault(node_name, {}).update(ports)

    def move_out(self, node_name: str) -> tuple[dict[str, Pod], dict[Port, int]]:
        """The node's pods and the ports in use there, when it has a row now."""
        return self.pods.pop(node_name), self.ports.pop(node_name, {})

    def _free(self, node_name: str, ports: Iterable[Port]) -> None:
        used = self.ports.get(node_name, {})
        for port in ports:
            used.pop(port, None)
        if not used:
            self.ports.pop(node_name, None)
