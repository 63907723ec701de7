"""The node table: the one owner of node state (architecture.md §5).

Columns over rows, rows in name order. Amounts live in ``array('q')`` so that scalar code reads them at list speed and
numpy sees them without a copy. Every change of a row is told in ``touched``; adding or removing nodes starts a new
epoch in which rows are renumbered, done once per batch (``settle``).
"""

from __future__ import annotations

from array import array

from attrs import frozen

from gangsched_framework.errors import GangschedError, InvariantError
from gangsched_framework.homeless import Homeless
from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_images import ImageIndex
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_sums import FIXED, NodeSums
from gangsched_framework.objects import Node, Pod
from gangsched_framework.tally import Tally

MAX_TOUCHES = 1_000_000
MAX_MOVES = 200_000

Move = tuple[Pod, int, int]


@frozen(eq=False)
class KeptRow:
    """Copies of what a tentative step may lose of a row: orders, and which ports were in use."""

    pods: dict[str, Pod]
    affinity_pods: dict[str, Pod]
    ports: dict[tuple[str, str, int], int]


class NodeTable:
    """Nodes and the pods on them.

    Attributes are for reading: ``names``, ``row_of``, ``nodes``, ``infos`` (by row); ``allocatable`` and ``used``
    (resource -> column), ``nonzero_cpu`` / ``nonzero_memory`` (columns); ``pods`` (row -> pods by key);
    ``affinity_pods`` and ``ports`` (sparse, row -> ...); ``images``; ``priorities`` of the counted pods; ``epoch``
    (numbering of the rows); ``classes`` (nodes grouped by what their objects say). Logs, each a new list when it
    starts anew: ``touched`` (changed rows), ``moves`` (pod, row, +1 came / -1 left / 0 renewed; see ``follow_moves``).
    A column of sums that was read is up to date again once ``touched`` is asked for; ``sums`` may be behind.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.sums = NodeSums()
        self.moves: list[Move] | None = None
        self.names: list[str] = []
        self.row_of: dict[str, int] = {}
        self.nodes: list[Node] = []
        self.infos: list[NodeInfo] = []
        self.allocatable: dict[str, array[int]] = {r: array("q") for r in FIXED}
        self.pods: list[dict[str, Pod]] = []
        self.affinity_pods: dict[int, dict[str, Pod]] = {}
        self.ports: dict[int, dict[tuple[str, str, int], int]] = {}
        self.images = ImageIndex()
        self.priorities = Tally()
        self.classes = NodeClasses(self.nodes, 0)
        self._known: dict[str, Node] = {}  # in order of addition
        self.homeless = Homeless()
        self._stale = False

    # --- sums over pods -----------------------------------------------------------------------------------------

    def counted(self) -> NodeSums:
        """The sums and the log of changed rows, up to date."""
        sums = self.sums
        if sums.noted:
            sums.catch_up()
        return sums

    @property
    def touched(self) -> list[int]:
        return self.counted().log

    @property
    def used(self) -> dict[str, array[int]]:
        return self.counted().used

    @property
    def nonzero_cpu(self) -> array[int]:
        return self.counted().nonzero_cpu

    @property
    def nonzero_memory(self) -> array[int]:
        return self.counted().nonzero_memory

    def column(self, resource: str) -> tuple[array[int], array[int]]:
        """The (used, allocatable) columns of a resource, made when no node or pod named it yet."""
        if resource not in self.allocatable:
            self.allocatable[resource] = array("q", bytes(8 * len(self.names)))
        return self.counted().column(resource), self.allocatable[resource]

    # --- nodes --------------------------------------------------------------------------------------------------

    def add_node(self, node: Node) -> None:
        """A node appears; its row exists after the next ``settle``. O(1)."""
        self._known[node.name] = node
        self.images.add(node)
        self._stale = True

    def update_node(self, node: Node, *, moved_to_end: bool = False) -> None:
        """Replace the object of a known node. ``moved_to_end``: its zone changed, so it counts as added last (§3.7)."""
        old = self._known[node.name]
        if moved_to_end:
            del self._known[node.name]
        self._known[node.name] = node
        if old.images != node.images:
            self.images.remove(old)
            self.images.add(node)
        row = self.row_of.get(node.name)
        if row is not None:
            self._replace(row, node)

    def remove_node(self, name: str) -> None:
        """A node vanishes; pods on it are remembered but count nowhere. O(pods of the node), rows at ``settle``."""
        self.images.remove(self._known.pop(name))
        row = self.row_of.get(name)
        if row is not None:
            pods, ports = dict(self.pods[row]), dict(self.ports.get(row, {}))
            for key in pods:
                self._take(row, key)
            self.homeless.move_in(name, pods, ports)
        self._stale = True

    def known_nodes(self) -> list[Node]:
        """Every node in order of addition (what the ``upstream`` node order starts from)."""
        return list(self._known.values())

    def node(self, name: str) -> Node | None:
        return self._known.get(name)

    def settle(self) -> None:
        """Give every known node a row, in name order, once per batch of changes; a log grown long starts anew."""
        if self._stale:
            self._settle()
        if len(self.sums.log) > MAX_TOUCHES:
            self.counted().log = []
        if self.moves is not None and len(self.moves) > MAX_MOVES:
            self.moves = []

    def _settle(self) -> None:
        self._stale = False
        names = sorted(self._known)
        if names == self.names:
            for row, name in enumerate(names):  # a node removed and added again keeps its row
                self._replace(row, self._known[name])
        else:
            self._renumber(names)
        for name in [n for n in self.homeless.pods if n in self.row_of]:
            pods, ports = self.homeless.move_out(name)
            ports = {**self.ports.get(self.row_of[name], {}), **ports}  # some may have come to the row already
            for pod in pods.values():
                self.add_pod(pod, name)
            self._set_ports(self.row_of[name], ports)

    def _replace(self, row: int, node: Node) -> None:
        if self.nodes[row] is not node:
            self.nodes[row] = node
            self.infos[row] = NodeInfo(self, row, node)
            self._write_allocatable(row, node)
            self.sums.log.append(row)
            self.classes = self.classes.renewed(self.nodes)

    def _renumber(self, names: list[str]) -> None:
        old = [self.row_of.get(name, -1) for name in names]
        self.epoch += 1
        self.sums.renumber(old)
        if self.moves is not None:
            self.moves = []
        self.pods = [self.pods[o] if o >= 0 else {} for o in old]
        self.affinity_pods = {n: self.affinity_pods[o] for n, o in enumerate(old) if o in self.affinity_pods}
        self.ports = {n: self.ports[o] for n, o in enumerate(old) if o in self.ports}
        self.names = names
        self.row_of = {name: row for row, name in enumerate(names)}
        self.nodes = [self._known[name] for name in names]
        self.infos = [NodeInfo(self, row, node) for row, node in enumerate(self.nodes)]
        self.classes = self.classes.renewed(self.nodes)
        self.allocatable = {r: array("q", bytes(8 * len(names))) for r in self.allocatable}
        for row, node in enumerate(self.nodes):
            self._write_allocatable(row, node)

    def _write_allocatable(self, row: int, node: Node) -> None:
        amounts = node.allocatable
        for resource, column in self.allocatable.items():
            column[row] = amounts.get(resource)
        for resource in amounts.scalars:
            if resource not in self.allocatable:
                self.allocatable[resource] = array("q", bytes(8 * len(self.names)))
                self.allocatable[resource][row] = amounts.scalars[resource]

    def follow_moves(self) -> list[Move]:
        """The log of pods that come and go, kept from the first call on."""
        if self.moves is None:
            self.moves = []
        return self.moves

    def touch(self, node_name: str) -> None:
        """Something outside the table that bears on a node changed: whoever follows the log looks at its row again."""
        row = self.row_of.get(node_name)
        if row is not None:
            self.sums.log.append(row)

    # --- pods ---------------------------------------------------------------------------------------------------

    def add_pod(self, pod: Pod, node_name: str, row: int | None = None) -> None:
        """Count a pod on a node; one of an unknown node waits for it. O(its resources).

        ``row``: of the node, told by a plan; then more like it may follow, and nobody looks meanwhile.
        """
        planned = row is not None
        if row is None:
            row = self.row_of.get(node_name)
            if row is None or (self._stale and node_name not in self._known):
                self.homeless.add(node_name, pod)
                return
        key, pods, spec, sums = pod.key, self.pods[row], pod.spec, self.sums
        if key in pods:
            raise InvariantError(f"pod {key} is already on {node_name}")
        usage = pod.usage if pod.status.allocated else spec.requests
        if planned and (usage is sums.kind or sums.begin(usage)):
            sums.noted.append(row)
        else:
            try:
                sums.count(row, usage, 1)
            except OverflowError:
                sums.recount(row, pods.values())
                raise GangschedError(
                    f"pod {key} would raise the requests on node {node_name} above 2**63 - 1"
                ) from None
        pods[key] = pod
        self.priorities[pod.priority] += 1
        if spec.has_affinity:
            self.affinity_pods.setdefault(row, {})[key] = pod
        if spec.host_ports:
            self.ports.setdefault(row, {}).update(dict.fromkeys(spec.host_ports, 1))
        if self.moves is not None:
            self.moves.append((pod, row, 1))

    def remove_pod(self, pod: Pod, node_name: str) -> Pod:
        """Take back what ``add_pod`` counted under the pod's key; returns the object that stood there."""
        if pod.key in self.homeless.of(node_name):
            return self.homeless.take(node_name, pod.key)
        row = self.row_of.get(node_name)
        if row is None:
            raise InvariantError(f"pod {pod.key} is not on {node_name}")
        return self._take(row, pod.key)

    def replace_pod(self, pod: Pod, node_name: str, like: Pod | None = None) -> None:
        """Count ``pod`` in place of the object under its key there; free when amounts are equal (a confirmed bind).

        ``like``: an object from which ``pod`` differs in its node and its status only, of that not in the amounts.
        """
        key, row = pod.key, self.row_of.get(node_name)
        old = self.pods[row].get(key) if row is not None else None
        if row is None or old is None:
            if key not in self.homeless.of(node_name):
                raise InvariantError(f"pod {key} is not on {node_name}")
            self.homeless.add(node_name, pod)
            return
        changed = False
        if old is not like:
            changed = old.labels is not pod.labels or old.deletion_timestamp != pod.deletion_timestamp
            again = changed and pod.spec.host_ports  # which another that left may have taken along (spec §7.5.3)
            resized = (old.status.allocated or pod.status.allocated) and old.usage != pod.usage
            if old.spec is not pod.spec or old.priority != pod.priority or resized or again:
                self._take(row, key)
                self.add_pod(pod, node_name)
                return
        self.pods[row][key] = pod
        if pod.spec.has_affinity:
            self.affinity_pods[row][key] = pod
        if changed:
            self.sums.log.append(row)
        if self.moves is not None:
            self.moves.extend(((old, row, -1), (pod, row, 1))) if changed else self.moves.append((pod, row, 0))

    def _take(self, row: int, key: str) -> Pod:
        pod = self.pods[row].pop(key, None)
        if pod is None:
            raise InvariantError(f"pod {key} is not on {self.names[row]}")
        spec, sums, usage = pod.spec, self.sums, pod.usage
        if usage is sums.kind:
            sums.noted.append(~row)
        else:
            sums.count(row, usage, -1)
        self.priorities.remove(pod.priority)
        if spec.has_affinity:
            del self.affinity_pods[row][key]
            if not self.affinity_pods[row]:
                del self.affinity_pods[row]
        if spec.host_ports and row in self.ports:
            ports = self.ports[row]
            for port in spec.host_ports:
                ports.pop(port, None)  # a set upstream: one leaving pod frees the triple (spec §7.5.3)
            if not ports:
                del self.ports[row]
        if self.moves is not None:
            self.moves.append((pod, row, -1))
        return pod

    # --- what sums cannot undo --------------------------------------------------------------------------------------

    def keep(self, node_name: str) -> KeptRow | None:
        """The order of a node's pods and its set of ports, for ``restore``. O(pods of the node)."""
        row = self.row_of.get(node_name)
        if row is None:
            return None
        return KeptRow(dict(self.pods[row]), dict(self.affinity_pods.get(row, {})), dict(self.ports.get(row, {})))

    def restore(self, node_name: str, kept: KeptRow) -> None:
        """Give a node, whose pods are again those of ``keep``, their order and the ports as they were."""
        row = self.row_of[node_name]
        self.pods[row] = kept.pods
        if kept.affinity_pods:
            self.affinity_pods[row] = kept.affinity_pods
        self._set_ports(row, kept.ports)

    def _set_ports(self, row: int, ports: dict[tuple[str, str, int], int]) -> None:
        self.ports.pop(row, None)
        if ports:
            self.ports[row] = ports

    def _check(self) -> None:
        """Assert that every sum equals a recount (tests only, O(everything))."""
        assert self.names == sorted(self.names)
        assert self.row_of == {name: row for row, name in enumerate(self.names)}
        assert self._stale or self.nodes == [self._known[name] for name in self.names]
        self.sums._check([pods.values() for pods in self.pods])
        for row, info in enumerate(self.infos):
            assert (info.row, info.node, info.name) == (row, self.nodes[row], self.names[row])
            assert all(key == pod.key for key, pod in self.pods[row].items())
            pods = list(self.pods[row].values())
            assert list(info.pods_with_affinity) == [p.key for p in pods if p.spec.has_affinity]
            assert self.ports.get(row, {}).keys() <= {port for p in pods for port in p.spec.host_ports}
            for resource, column in self.allocatable.items():
                assert column[row] == self.nodes[row].allocatable.get(resource)
        for sparse in (self.affinity_pods, self.ports):
            assert all(0 <= row < len(self.names) and held for row, held in sparse.items())
        for name, waiting in self.homeless.pods.items():
            assert waiting, name
            assert self._stale or name not in self._known, name
