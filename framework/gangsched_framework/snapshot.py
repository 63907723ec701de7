"""Snapshot: the world of one cycle, with one undo log (architecture.md §2).

It reads the node table itself: nothing is copied. While a cycle runs the engine keeps cluster events away from the
table, so the snapshot is frozen but for the cycle's own tentative steps, which ``rollback`` takes back, last in first
out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from gangsched_framework.alike_pods import add_alike
from gangsched_framework.hierarchy import Forest
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_order import NodeOrder, by_name
from gangsched_framework.node_table import KeptRow, Move, NodeTable
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.placement import Placement
from gangsched_framework.vacancy import Vacancy, reoccupy, vacate

ALL_NODES = Placement("")
"""The placement that restricts nothing."""

Trial = tuple[int, list[int], int, list[Move] | None, int]
"""Where the undo log and the table's logs stood."""

Step = tuple[int, Pod, str, KeptRow | None]
"""A tentative step: +1 assumed or -1 removed, the pod, its node, and what to restore when it is undone."""


class Snapshot:
    """The node table plus the tentative steps of the running cycle. ``cycle`` counts the cycles."""

    def __init__(self, table: NodeTable, forest: Forest, order: NodeOrder = by_name) -> None:
        self.table = table
        self.forest = forest
        self.placement = ALL_NODES
        self.cycle = 0
        self.followed = False
        """Whether somebody reads the undo log: then no pods are taken off outside it."""
        self._order = order
        self._undo: list[Step] = []
        self._group_delta: dict[EntityKey, int] = {}
        self._nodes: Sequence[NodeInfo] | None = None

    # --- reading --------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Begin a cycle: take in nodes that came or went."""
        self.cycle += 1
        self.table.settle()
        self._nodes = None

    @property
    def nodes(self) -> Sequence[NodeInfo]:
        """Nodes of the current placement in the configured order (name order unless ``nodeOrder: upstream``)."""
        if self._nodes is None:
            self._nodes = self._select()
        return self._nodes

    def _select(self) -> Sequence[NodeInfo]:
        infos = self.table.infos
        if self.placement.rows is not None:
            if self._order is by_name:
                return [infos[row] for row in self.placement.rows]
            inside = frozenset(self.placement.rows)
            return [infos[row] for row in self._order(self.table) if row in inside]
        if self._order is by_name:
            return infos
        return [infos[row] for row in self._order(self.table)]

    @property
    def all_nodes(self) -> Sequence[NodeInfo]:
        """Every node, whatever the placement, in name order."""
        return self.table.infos

    def node(self, name: str) -> NodeInfo | None:
        """The node of that name, None if there is none."""
        row = self.table.row_of.get(name)
        return None if row is None else self.table.infos[row]

    def contains(self, node: NodeInfo) -> bool:
        """Whether the current placement has the node. O(log nodes)."""
        rows = self.placement.rows
        if rows is None:
            return True
        at = bisect_left(rows, node.row)
        return at < len(rows) and rows[at] == node.row

    def nodes_with_affinity_pods(self) -> list[NodeInfo]:
        """Nodes that hold a pod with any (anti-)affinity term, whatever the placement, in row order."""
        infos = self.table.infos
        return [infos[row] for row in sorted(self.table.affinity_pods)]

    def scheduled(self, leaf: EntityKey) -> int:
        """Scheduled count of a PodGroup: assigned + assumed pods, tentative steps included (spec §3.8)."""
        return self.forest.scheduled_count(leaf) + self._group_delta.get(leaf, 0)

    # --- tentative steps ------------------------------------------------------------------------------------------

    def assume(self, pod: Pod, node_name: str, row: int | None = None) -> None:
        """Put ``pod`` on a node in thought; ``row``: of the node, when a plan told it."""
        table = self.table
        kept = table.keep(node_name) if pod.spec.host_ports else None  # the port may be in use already
        table.add_pod(pod, node_name, row)
        leaf = pod.group_key
        if leaf is not None:
            self._group_delta[leaf] = self._group_delta.get(leaf, 0) + 1
        self._undo.append((1, pod, node_name, kept))

    def assume_alike(self, pods: Sequence[Pod], rows: Sequence[int]) -> list[str]:
        """Put like pods, of one group or of none, each on its row; returns the names of their nodes.

        Their specs request the same, and whether they have affinity terms and host ports is the same; they are of one
        priority and have no status amounts.
        """
        first = pods[0]
        if first.spec.has_affinity or first.spec.host_ports:  # they are more than amounts
            return self._assume_each(pods, rows)
        nodes = add_alike(self.table, pods, rows, self._undo)
        if nodes is None:
            return self._assume_each(pods, rows)
        leaf = first.group_key
        if leaf is not None:
            self._group_delta[leaf] = self._group_delta.get(leaf, 0) + len(pods)
        return nodes

    def _assume_each(self, pods: Sequence[Pod], rows: Sequence[int]) -> list[str]:
        names = self.table.names
        for pod, row in zip(pods, rows, strict=True):
            self.assume(pod, names[row], row)
        return [names[row] for row in rows]

    def remove(self, pod: Pod, node_name: str, *, keep: bool = True) -> None:
        """Take a running pod off its node in thought.

        ``keep`` False: an earlier removal from the node, which will be undone too, has kept the order of its pods.
        """
        kept = self.table.keep(node_name) if keep else None
        stood = self.table.remove_pod(pod, node_name)
        if stood.group_key is not None:
            self._shift(stood.group_key, -1)
        self._undo.append((-1, stood, node_name, kept))

    def mark(self) -> int:
        """A point to roll back to."""
        return len(self._undo)

    def rollback(self, mark: int) -> None:
        """Undo every tentative step since ``mark``, newest first."""
        undo, table = self._undo, self.table
        while len(undo) > mark:
            sign, pod, node_name, kept = undo.pop()
            if sign > 0:
                table.remove_pod(pod, node_name)
            else:
                table.add_pod(pod, node_name)
            if kept is not None:
                table.restore(node_name, kept)
            if pod.group_key is not None:
                self._shift(pod.group_key, -sign)

    def vacate(self, vacancies: Sequence[Vacancy]) -> list[dict[str, Pod]]:
        """Take the pods of whole nodes off at once, outside the undo log; for ``reoccupy``, which must follow.

        Only while nobody follows the log.
        """
        assert not self.followed
        for vacancy in vacancies:
            for leaf in vacancy.leaves:
                self._shift(leaf, -1)
        return [vacate(self.table, vacancy) for vacancy in vacancies]

    def reoccupy(self, vacancies: Sequence[Vacancy], stood: Sequence[dict[str, Pod]]) -> None:
        """Put back what ``vacate`` took off, every later step being undone."""
        for vacancy, pods in zip(vacancies, stood, strict=True):
            reoccupy(self.table, vacancy, pods)
            for leaf in vacancy.leaves:
                self._shift(leaf, 1)

    def begin_trial(self) -> Trial:
        """Begin tentative steps that nobody who follows the table's logs should look at before ``end_trial``."""
        table = self.table
        return len(self._undo), table.touched, len(table.touched), table.moves, len(table.moves or ())

    def end_trial(self, trial: Trial, *, unseen: bool = True) -> None:
        """Undo the steps of a trial. ``unseen``: the logs forget them, for the rows are as they were."""
        mark, touched, touches, moves, moved = trial
        self.rollback(mark)
        if not unseen:
            return
        if touched is self.table.touched:
            del touched[touches:]
        if moves is not None and moves is self.table.moves:
            del moves[moved:]

    def commit(self) -> None:
        """Make the tentative steps the world's: what is assumed stays, and there is nothing left to roll back."""
        self._undo.clear()
        self._group_delta.clear()

    def follow(self) -> Sequence[Step]:
        """The undo log, for somebody who reads it from now on: a stack, the newest step last."""
        self.followed = True
        return self._undo

    def steps_since(self, mark: int) -> list[tuple[Pod, str]]:
        """Pods assumed since ``mark`` and still in place, oldest first."""
        placed: dict[str, tuple[Pod, str]] = {}
        for sign, pod, node_name, _ in self._undo[mark:]:
            if sign > 0:
                placed[pod.key] = (pod, node_name)
            else:
                placed.pop(pod.key, None)
        return list(placed.values())

    def _shift(self, leaf: EntityKey, amount: int) -> None:
        delta = self._group_delta.pop(leaf, 0) + amount
        if delta:
            self._group_delta[leaf] = delta

    # --- placement ------------------------------------------------------------------------------------------------

    def enter(self, placement: Placement) -> Placement:
        """Restrict the node list; returns the placement to give back to ``enter`` afterwards."""
        previous, self.placement = self.placement, placement
        self._nodes = None
        return previous

    def _check(self) -> None:
        """Assert that nothing tentative is left (between cycles)."""
        assert not self._undo
        assert self.placement is ALL_NODES
        assert not self._group_delta
        self.table._check()
