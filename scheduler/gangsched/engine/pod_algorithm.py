"""One pod: PreFilter, Filter, Score, host (spec node-plugins.md §4, §5). Reads the snapshot, writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from gangsched.engine.column_search import ColumnSearch
from gangsched.engine.placement_board import PlacementBoards
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Nominations
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.run_pod import ScoreTable
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.status import Code, FitError, Status, unresolvable

MIN_FEASIBLE_NODES = 100
NO_NODES = "no nodes available to schedule pods"


@define(eq=False)
class Diagnosis:
    """Why nodes were refused, while it is being collected."""

    statuses: dict[str, Status] = field(factory=dict)
    plugins: dict[str, None] = field(factory=dict)

    def refuse(self, node: NodeInfo, status: Status) -> None:
        self.statuses[node.name] = status
        self.plugins[status.plugin] = None


@define(eq=False)
class PodAlgorithm:
    """Finds the node of one pod. ``next_start`` rotates the search when not all nodes are wanted (spec §4.3).

    ``columns`` None = always the per-node form.
    """

    snapshot: Snapshot
    nominations: Nominations
    columns: ColumnSearch | None = None
    boards: PlacementBoards | None = None
    upstream_order: bool = False
    next_start: int = 0

    def schedule(
        self, framework: Framework, state: CycleState, pod: Pod, prepare: bool = False
    ) -> str | Status | FitError:
        """The node's name; a Status for "no nodes" and errors; a FitError when no node takes the pod.

        ``prepare``: the caller goes on with what PreFilter leaves in ``state``, even when columns chose the node.
        """
        if self.columns is not None and framework.all_nodes:
            if not (framework.pod_judges and framework.judges_refuse(state, pod, self.snapshot.all_nodes)):
                answer = self.columns.find(framework, state, pod, prepare)
                if answer is not None:
                    return answer
        nodes = self.snapshot.nodes
        if not nodes:
            return unresolvable(NO_NODES)
        found = self.find_feasible(framework, state, pod, nodes)
        if not isinstance(found, list):
            return found
        if len(found) == 1:
            return found[0].name
        scores = score_nodes(framework, state, pod, found)
        if isinstance(scores, Status):
            return scores
        return found[self.choose(scores.total)].name

    # --- node by node -----------------------------------------------------------------------------------------------

    def find_feasible(
        self, framework: Framework, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> list[NodeInfo] | Status | FitError:
        """Every feasible node in search order, at least one."""
        outcome = framework.run_pre_filter(state, pod, self.snapshot.all_nodes)  # it counts beyond a placement
        if outcome.status is not None:
            if outcome.status.code is Code.ERROR:
                return outcome.status
            return FitError(len(nodes), pre_filter=outcome.status, unschedulable_plugins=frozenset(outcome.plugins))
        diagnosis = Diagnosis()
        own = self._nominated_node(framework, state, pod, diagnosis)
        if own is not None:
            return own
        # who refused the nominated node stands among those who narrowed the search [run]
        narrowed = {*outcome.plugins, *diagnosis.plugins} if outcome.plugins else set[str]()
        searched = nodes if outcome.names is None else [n for n in nodes if n.name in outcome.names]
        found = self._search(framework, state, pod, searched, diagnosis)
        if found:
            return found
        return self._fit_error(nodes, narrowed, diagnosis)

    def _nominated_node(
        self, framework: Framework, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> list[NodeInfo] | None:
        # spec node-plugins.md §4.2.3: the pod's own nomination is tried first and alone
        name = pod.status.nominated_node_name
        node = self.snapshot.node(name) if name else None
        if node is None or not self.snapshot.contains(node):
            return None
        status = framework.run_filter_with_nominated_pods(state, pod, node)
        if status is None:
            return [node]
        if status.rejected:
            diagnosis.refuse(node, status)
        return None

    def _search(
        self, framework: Framework, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], diagnosis: Diagnosis
    ) -> list[NodeInfo] | Status:
        wanted = self._wanted(framework, len(nodes))
        start = self.next_start if wanted < len(nodes) else 0
        found: list[NodeInfo] = []
        broken: Status | None = None
        count = len(nodes)
        for i in range(count):
            node = nodes[(start + i) % count]
            status = framework.run_filter_with_nominated_pods(state, pod, node)
            if status is None:
                if len(found) == wanted:  # the search ends at the (wanted + 1)-th, which is not used (§4.3.2)
                    break
                found.append(node)
            elif status.rejected:
                diagnosis.refuse(node, status)
            else:
                broken = status
                break
        # by the nodes with a verdict, the nominated one included, however the search ended (§4.3.3)
        self.next_start = (self.next_start + len(found) + len(diagnosis.statuses)) % len(self.snapshot.nodes)
        return found if broken is None else broken

    def _wanted(self, framework: Framework, count: int) -> int:
        """How many feasible nodes end the search (spec node-plugins.md §4.3.1-2)."""
        percentage = framework.profile.percentage_of_nodes_to_score
        if not framework.has_scorers:
            return 1
        if count < MIN_FEASIBLE_NODES or percentage >= 100:
            return count
        if percentage == 0:
            percentage = max(5, 50 - count // 125)
        return max(MIN_FEASIBLE_NODES, count * percentage // 100)

    def _fit_error(self, nodes: Sequence[NodeInfo], narrowed: set[str], diagnosis: Diagnosis) -> FitError:
        excluded = None
        plugins = [name for name in diagnosis.plugins if name]
        if narrowed:
            excluded = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed))}]")
            plugins += narrowed
        return FitError(
            node_count=len(nodes),
            node_statuses=diagnosis.statuses,
            excluded=excluded,
            excluded_count=len(nodes) - len(diagnosis.statuses),
            unschedulable_plugins=frozenset(plugins),
        )

    def choose(self, totals: Sequence[int]) -> int:
        """Index of the chosen node: the first of the best, or upstream's heap root (spec node-plugins.md §5.5)."""
        return heap_root(totals) if self.upstream_order else max(range(len(totals)), key=totals.__getitem__)


def score_nodes(framework: Framework, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> ScoreTable | Status:
    """PreScore and Score of feasible nodes."""
    status = framework.run_pre_score(state, pod, nodes)
    return status if status is not None else framework.run_score(state, pod, nodes)


def heap_root(totals: Sequence[int]) -> int:
    """Which of equal totals a binary max-heap built in place has at its root (spec node-plugins.md §5.5)."""
    heap = list(range(len(totals)))
    for i in range(len(heap) // 2 - 1, -1, -1):
        top = i
        while (child := 2 * top + 1) < len(heap):
            if child + 1 < len(heap) and totals[heap[child + 1]] > totals[heap[child]]:
                child += 1
            if totals[heap[child]] <= totals[heap[top]]:
                break
            heap[top], heap[child] = heap[child], heap[top]
            top = child
    return heap[0]
