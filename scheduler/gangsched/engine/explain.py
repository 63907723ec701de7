"""Why a pod can or cannot go where: every node's verdict, as an attempt at this moment would find it. A pure read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from gangsched.engine.pod_algorithm import NO_NODES, PodAlgorithm, score_nodes
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.trace import TraceStep
from gangsched.engine.waiting import Waiting, entity_of, waiting
from gangsched_framework.columns import ColumnarPlugin, ParticularColumns
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.run_pod import PreFilterOutcome, ScoreTable
from gangsched_framework.status import Code, Status, unresolvable


@frozen
class PluginScore:
    """A plugin's score of one node: ``raw``, ``normalized`` (0…100), its ``weight``. Plugins that skip have none."""

    plugin: str
    raw: int
    normalized: int
    weight: int

    @property
    def weighted(self) -> int:
        return self.normalized * self.weight


@frozen
class NodeExplanation:
    """One node. Refused: the first refusing ``plugin``, its ``code`` and ``message``. Feasible: code Success.

    ``total`` None on a feasible node: an attempt would not score it (the search ends before, or the pod's nominated
    node is tried alone).
    """

    node: str
    code: Code = Code.SUCCESS
    plugin: str = ""
    message: str = ""
    scores: tuple[PluginScore, ...] = ()
    total: int | None = None

    @property
    def feasible(self) -> bool:
        return self.code is Code.SUCCESS


@frozen
class Explanation:
    """What an attempt to place ``pod`` alone would find now.

    ``node``: where the pod stands; it is then explained as if it were not there. ``nodes``: feasible ones first, by
    falling total, then by name. ``chosen``: the node an attempt would take, '' = none, and ``message`` says why.
    ``by_nodes``: why the pod needs the per-node form of its plugins; '' = it is placed by columns. ``waiting``: why it
    waits; None when it has a node. ``attempt``: the steps its entity's attempt would take now.
    """

    pod: str
    entity: EntityKey
    node: str
    nodes: tuple[NodeExplanation, ...]
    chosen: str
    message: str
    by_nodes: str
    waiting: Waiting | None
    attempt: tuple[TraceStep, ...] = ()


def explain(core: Scheduler, pod: Pod) -> Explanation:
    """Explain a known pod. Nothing changes: the snapshot is as found, the search does not rotate.

    Raises GangschedError while a cycle is open.
    """
    core.require_closed("explain")
    snapshot = core.snapshot
    snapshot.refresh()
    stands = next((node.name for node in snapshot.all_nodes if pod.key in node.pods), "")
    mark = snapshot.mark()
    tried = pod
    if stands:
        snapshot.remove(pod, stands)
        tried = evolve(pod, node_name="", status=evolve(pod.status, nominated_node_name=""))
    try:
        explainer = _Explainer(core, tried)
        nodes, chosen, message = explainer.look()
        by_nodes = explainer.why_by_nodes()
    finally:
        snapshot.rollback(mark)
    entity = entity_of(core, pod)
    waits = not stands and not pod.node_name
    return Explanation(
        pod=pod.key,
        entity=entity,
        node=stands or pod.node_name,
        nodes=tuple(sorted(nodes, key=_rank)),
        chosen=chosen,
        message=message,
        by_nodes=by_nodes,
        waiting=waiting(core, pod, entity) if waits else None,
        attempt=core.rehearse(entity) if waits else (),
    )


def _rank(node: NodeExplanation) -> tuple[bool, bool, int, str]:
    return not node.feasible, node.total is None, -(node.total or 0), node.node


class _Explainer:
    """Looks at all nodes for one pod."""

    def __init__(self, core: Scheduler, pod: Pod) -> None:
        self._core = core
        self._pod = pod
        self._framework = core.frameworks.get(pod.scheduler_name)
        # a copy: the rotation of the search (node-plugins.md §4.3) must not move
        self._algorithm: PodAlgorithm = evolve(core.algorithm, columns=None)

    def look(self) -> tuple[list[NodeExplanation], str, str]:
        """The nodes, the name of the chosen one ('' = none) and the message of a refusal."""
        nodes, framework = self._core.snapshot.nodes, self._framework
        if framework is None:
            return [], "", f"no profile for scheduler {self._pod.scheduler_name}"
        if not nodes:
            return [], "", NO_NODES
        verdicts = list(self._verdicts(framework, nodes))
        state = CycleState()
        found = self._algorithm.find_feasible(framework, state, self._pod, nodes)
        if not isinstance(found, list):
            return [_refused(n, s) for n, s in zip(nodes, verdicts, strict=True)], "", found.message
        table = score_nodes(framework, state, self._pod, found)
        if isinstance(table, Status):
            return [_refused(n, s) for n, s in zip(nodes, verdicts, strict=True)], "", table.message
        scored = {node.name: i for i, node in enumerate(found)}
        looked = [
            _scored(node, table, scored[node.name]) if node.name in scored else _refused(node, status)
            for node, status in zip(nodes, verdicts, strict=True)
        ]
        return looked, found[self._algorithm.choose(table.total)].name, ""

    def _verdicts(self, framework: Framework, nodes: Sequence[NodeInfo]) -> Iterator[Status | None]:
        """PreFilter's and Filter's answer for every node, also those an attempt would not come to."""
        state = CycleState()
        outcome = framework.run_pre_filter(state, self._pod, nodes)
        for node in nodes:
            yield _pre_filtered(outcome, node) or framework.run_filter_with_nominated_pods(state, self._pod, node)

    # --- columns ------------------------------------------------------------------------------------------------------

    def why_by_nodes(self) -> str:
        """Why columns cannot answer for this pod here and now; '' when they do (architecture.md §5)."""
        core, framework = self._core, self._framework
        if core.columns is None:
            return "the scheduler works without columns"
        if framework is None:
            return ""
        if framework.profile.percentage_of_nodes_to_score < 100:
            return "percentageOfNodesToScore is below 100"
        if not framework.has_scorers:
            return "the profile has no score plugin: the first feasible node is taken"
        return self._plugin_without_columns(framework)

    def _plugin_without_columns(self, framework: Framework) -> str:
        pod, table = self._pod, self._core.snapshot.table
        promised = pod.priority <= self._core.nominator.highest
        if self._core.columns is not None:
            self._core.columns.versions(framework)  # asked before the keys, as the search does
        for asked in framework.node_plugins:
            plugin = asked.plugin
            columns = plugin.columns(pod, table) if isinstance(plugin, ColumnarPlugin) else None
            if columns is None:
                return f"{plugin.name} has no columnar form for this pod"
            if asked.columnar is None:
                return f"{plugin.name} stands at some of its extension points only"
            if columns.guard is not None and not columns.guard():
                return f"{plugin.name} has no columnar form for what is in the cluster"
            if promised and isinstance(plugin, ParticularColumns) and plugin.column_key(pod, table) is not None:
                return f"{plugin.name} looks at pods elsewhere, and nominated ones are counted in node by node"
        return ""


def _pre_filtered(outcome: PreFilterOutcome, node: NodeInfo) -> Status | None:
    """PreFilter's refusal of the pod, or of this node (node-plugins.md §4.1.2-4)."""
    if outcome.status is not None:
        return outcome.status
    if outcome.names is None or node.name in outcome.names:
        return None
    names = sorted(outcome.plugins)
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(names)}]", plugin=names[0])


def _refused(node: NodeInfo, status: Status | None) -> NodeExplanation:
    """A node that gets no score: refused, or (None) feasible and not come to."""
    if status is None:
        return NodeExplanation(node.name)
    return NodeExplanation(node.name, status.code, status.plugin, status.message)


def _scored(node: NodeInfo, table: ScoreTable, i: int) -> NodeExplanation:
    scores = tuple(
        PluginScore(name, raw[i], table.normalized[name][i], table.weights[name]) for name, raw in table.raw.items()
    )
    return NodeExplanation(node.name, scores=scores, total=table.total[i])
