"""Finding the node of one pod by columns: the answer of the per-node form, without asking every node.

Nominated pods are counted in where they stand (spec node-plugins.md §4.2.2): nodes with promised room have a verdict of
their own, the pod's own nomination is tried first, and nodes promised to its own tree are looked at one by one.
"""

from __future__ import annotations

from attrs import define

from gangsched.engine.columns import ColumnCache
from gangsched.engine.run_ahead import RunAhead
from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Nominations
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.status import FitError, Status

Verdicts = dict[int, "Status | None"]
"""Row -> why it refuses, None = it does not."""


@define(eq=False)
class _OwnRows:
    """Verdicts of the nodes promised to members of one tree, for one kind of pod in one cycle."""

    cycle: int
    root: EntityKey
    number: int
    verdicts: Verdicts
    position: int = 0


@define(eq=False)
class ColumnSearch:
    """The columnar form of the pod algorithm. ``cache`` holds the columns, ``run`` is the run of like pods going on."""

    snapshot: Snapshot
    nominations: Nominations
    cache: ColumnCache
    run: RunAhead
    _own_rows: _OwnRows | None = None

    def find(self, framework: Framework, state: CycleState, pod: Pod, prepare: bool) -> str | FitError | None:
        """The node's name, or a FitError; None when the pod needs the per-node form here and now."""
        column = self.run.column(pod)
        if column is None:
            column = self.cache.of(framework, pod)
            if column is None:
                return None
        snapshot = self.snapshot
        placement, names = snapshot.placement, snapshot.table.names
        if not (names if placement.rows is None else placement.rows):
            return None
        if pod.status.nominated_node_name or pod.priority <= self.nominations.highest:
            return self._find_beside(framework, state, pod, column)
        if prepare:
            framework.run_pre_filter(state, pod, snapshot.all_nodes)
        row = self.run.next(column, pod) if placement.rows is None else column.best_of(placement.array)
        if row >= 0:
            return names[row]
        if not framework.post_filters_prepare:
            framework.prepare(state, pod, snapshot.all_nodes)
        return self._refused(column, {})

    def _best(self, column: SignatureColumn) -> int:
        placement = self.snapshot.placement
        return column.best() if placement.rows is None else column.best_of(placement.array)

    def _refused(self, column: SignatureColumn, verdicts: Verdicts) -> FitError:
        placement, table = self.snapshot.placement, self.snapshot.table
        refusals = column.refusals(None if placement.rows is None else placement.array)
        if verdicts:
            refusals = refusals.replaced({row: status for row, status in verdicts.items() if status is not None})
        count = len(table.names if placement.rows is None else placement.rows)
        return FitError(count, refusals, unschedulable_plugins=refusals.plugins())

    # --- beside nominated pods --------------------------------------------------------------------------------------

    def _find_beside(
        self, framework: Framework, state: CycleState, pod: Pod, column: SignatureColumn
    ) -> str | FitError | None:
        promised = pod.priority <= self.nominations.highest
        if promised and column.particular:
            return None  # a nominated pod bears on more than its node
        snapshot = self.snapshot
        framework.run_pre_filter(state, pod, snapshot.all_nodes)
        verdicts: Verdicts = {}
        own = snapshot.node(pod.status.nominated_node_name)
        if own is not None and snapshot.contains(own):
            status = framework.run_filter_with_nominated_pods(state, pod, own)
            if status is None:
                return own.name
            if not status.rejected:
                return None
        if promised:
            column = self.cache.beside(framework, pod, column, self.nominations)
            known = self._own(framework, state, pod, column.number)
            verdicts.update((row, s) for row, s in known.items() if snapshot.contains(snapshot.table.infos[row]))
        undo = [(row, column.force(row, status is None)) for row, status in verdicts.items()]
        best = self._best(column)
        for row, old in undo:
            column.restore(row, old)
        if not column.usable() or any(s is not None and not s.rejected for s in verdicts.values()):
            return None  # a plugin broke on some node
        return snapshot.table.names[best] if best >= 0 else self._refused(column, verdicts)

    def _own(self, framework: Framework, state: CycleState, pod: Pod, number: int) -> Verdicts:
        """Verdicts of the nodes promised to the pod itself or to its tree, whose nominations do not count for it."""
        infos, row_of = self.snapshot.table.infos, self.snapshot.table.row_of
        root = self.snapshot.forest.root(pod.group_key) if pod.group_key is not None else None
        if root is None:
            row = row_of.get(self.nominations.nominated_node(pod), -1)
            return {} if row < 0 else {row: framework.run_filter_with_nominated_pods(state, pod, infos[row])}
        log, known = self.snapshot.table.touched, self._own_rows
        if known is None or (known.cycle, known.root, known.number) != (self.snapshot.cycle, root, number):
            rows = (row_of.get(name, -1) for name in self._nodes_of(root))
            known = _OwnRows(self.snapshot.cycle, root, number, {row: None for row in rows if row >= 0})
            self._own_rows, stale = known, list(known.verdicts)
        else:
            stale = [row for row in dict.fromkeys(log[known.position :]) if row in known.verdicts]
        for row in stale:
            known.verdicts[row] = framework.run_filter_with_nominated_pods(state, pod, infos[row])
        known.position = len(log)
        return known.verdicts

    def _nodes_of(self, root: EntityKey) -> list[str]:
        forest, nominations = self.snapshot.forest, self.nominations
        leaves = [leaf for leaf in nominations.leaves() if forest.root(leaf) == root]
        return [nominations.nominated_node(pod) for leaf in leaves for pod in nominations.members(leaf)]
