"""The plugin: which constraints hold for a pod, and the calls of each extension point."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from gangsched_framework.columns import SILENT, Columns
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import ClusterEventWithHint
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.status import SKIP, Status, error, unresolvable, unschedulable
from gangsched_plugins import names
from gangsched_plugins.common.selectors import SelectorError
from gangsched_plugins.common.tolerations import comparison_operators
from gangsched_plugins.pod_topology_spread import hints
from gangsched_plugins.pod_topology_spread.columnar import SpreadSums, filter_column, score_column
from gangsched_plugins.pod_topology_spread.constraints import (
    HARD,
    SOFT,
    SYSTEM_DEFAULTS,
    Constraint,
    MatchCounts,
    NodeInclusion,
    compile_constraints,
    default_matcher,
    parse_defaults,
)
from gangsched_plugins.pod_topology_spread.filtering import FilterState
from gangsched_plugins.pod_topology_spread.scoring import ScoreState

_SKEW = "node(s) didn't match pod topology spread constraints"
_VERDICTS = {
    "missing": unresolvable(f"{_SKEW} (missing required label)", plugin=names.POD_TOPOLOGY_SPREAD),
    "skew": unschedulable(_SKEW, plugin=names.POD_TOPOLOGY_SPREAD),
}
_FILTER, _SCORE = "PodTopologySpread/filter", "PodTopologySpread/score"


class PodTopologySpread:
    """Arguments: ``defaultingType`` (``System`` or ``List``) and ``defaultConstraints``."""

    name = names.POD_TOPOLOGY_SPREAD
    locality = "domain"
    ignores_requests = True
    unprepared: ClassVar[Mapping[str, str]] = {"filter": "reading", "score": "error reading"}

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle
        self._comparison = comparison_operators(handle.feature_gates)
        self._system = args.get("defaultingType", "System") == "System"
        self._counts = MatchCounts()
        self._sums = SpreadSums()
        self._defaults = SYSTEM_DEFAULTS if self._system else parse_defaults(args)

    def _constraints(self, pod: Pod, action: str) -> tuple[Constraint, ...]:
        """The pod's constraints of one kind; the defaults only when it has none of either kind (spec §7.9.1)."""
        own = pod.spec.topology_spread_constraints
        if own:
            return compile_constraints(own, action, pod)
        if not any(default.when_unsatisfiable == action for default in self._defaults):
            return ()
        matcher = default_matcher(pod, self._handle.selector_owners)
        return () if matcher.everything else compile_constraints(self._defaults, action, pod, matcher)

    def _columns(self, pod: Pod, constraints: tuple[Constraint, ...]) -> list[Sequence[int]]:
        table = self._handle.snapshot.table
        return [self._counts.column(table, pod.namespace, constraint.matcher) for constraint in constraints]

    # --- filtering --------------------------------------------------------------------------------------------------

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        """Count the matching pods per domain; Skip without hard constraints, Error for a malformed selector."""
        try:
            constraints = self._constraints(pod, HARD)
        except SelectorError as problem:
            return None, error(f"get constraints from pod: obtaining pod's hard topology spread constraints: {problem}")
        if not constraints:
            return None, SKIP
        inclusion = NodeInclusion(pod, self._comparison)
        state.write(_FILTER, FilterState.of(pod, constraints, inclusion, nodes, self._columns(pod, constraints)))
        return None, None

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeInfo) -> Status | None:
        """Count ``other`` in."""
        self._read(state).change(other, node.node, 1)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeInfo) -> Status | None:
        """Count ``other`` out."""
        self._read(state).change(other, node.node, -1)
        return None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Refuse a node without a key (unresolvable), or one whose domain would be ahead by more than ``maxSkew``."""
        violation = self._read(state).violation(node)
        return None if violation is None else _VERDICTS[violation]

    def _read(self, state: CycleState) -> FilterState:
        data = state.read(_FILTER)
        assert isinstance(data, FilterState)
        return data

    # --- columns ----------------------------------------------------------------------------------------------------

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """Over domains; a malformed selector is left to the per-node form."""
        try:
            hard, soft = self._constraints(pod, HARD), self._constraints(pod, SOFT)
        except SelectorError:
            return None
        if not hard and not soft:
            return SILENT
        inclusion = NodeInclusion(pod, self._comparison)
        refuse, score = None, None
        if hard:
            parts = self._sums.parts(table, pod, hard, inclusion, all_keys=True)
            refuse = filter_column(table, pod, parts, _VERDICTS["missing"], _VERDICTS["skew"])
        if soft:
            all_keys = self._needs_all_keys(pod)
            score = score_column(self._sums.parts(table, pod, soft, inclusion, all_keys), all_keys)
        return Columns(refuse, score)

    def column_key(self, pod: Pod, table: NodeTable) -> Hashable:
        """The pod's constraints and whether it matches them itself; None without constraints."""
        if not self._defaults and not pod.spec.topology_spread_constraints:
            return None
        try:
            constraints = [(a, c) for a in (HARD, SOFT) for c in self._constraints(pod, a)]
        except SelectorError:
            return self.name
        if not constraints:
            return None
        return (pod.namespace, *((action, *each.meaning(pod)) for action, each in constraints))

    def column_version(self, table: NodeTable) -> Hashable:
        """Default constraints depend on the owners of pods."""
        return self._handle.lister_version if self._defaults else 0

    # --- scoring ----------------------------------------------------------------------------------------------------

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Count the matching pods of the scored domains; Skip without soft constraints."""
        try:
            constraints = self._constraints(pod, SOFT)
        except SelectorError as problem:
            return error(f"calculating preScoreState: obtaining pod's soft topology spread constraints: {problem}")
        if not constraints:
            return SKIP
        all_keys = self._needs_all_keys(pod)
        data = ScoreState.of(constraints, self._columns(pod, constraints), nodes, all_keys)
        data.count(NodeInclusion(pod, self._comparison), self._handle.snapshot.all_nodes, all_keys)
        state.write(_SCORE, data)
        return None

    def _needs_all_keys(self, pod: Pod) -> bool:
        """Whether a node without one of the keys is not scored (spec §7.9.6)."""
        return bool(pod.spec.topology_spread_constraints) or not self._system

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Weighted number of matching pods in the node's domains: the fewer the better."""
        data: ScoreState = state.read(_SCORE)
        return data.score(node)

    def normalize_score(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]
    ) -> Status | None:
        """100 for the emptiest domains."""
        data: ScoreState = state.read(_SCORE)
        data.normalize(nodes, scores)
        return None

    # --- hints ------------------------------------------------------------------------------------------------------

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        """Pods, nodes and the pod's own labels and tolerations that bear on its hard constraints."""
        return hints.registrations(lambda pod: self._constraints(pod, HARD))
