"""Phase pod: PreFilter, Filter, PostFilter, PreScore, Score of one pod (spec node-plugins.md §4, §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.interface import (
    MAX_NODE_SCORE,
    FilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.status import Code, Status, error, unresolvable

_SKIP, _UNRESOLVABLE = Code.SKIP, Code.UNSCHEDULABLE_AND_UNRESOLVABLE  # as in status.py


@frozen
class PreFilterOutcome:
    """``names`` None = no narrowing; ``status`` None = go on; ``plugins`` narrowed or rejected (rejector set)."""

    names: frozenset[str] | None = None
    status: Status | None = None
    plugins: tuple[str, ...] = ()


@frozen
class Unprepared:
    """Stands in for a plugin without the state it reads: an Error for every pod, as upstream (configuration files
    that do this are accepted)."""

    name: str
    complaint: str

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return error(self.complaint)

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return error(self.complaint)


def run_pre_filter(
    plugins: Sequence[PreFilterPlugin], state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
) -> PreFilterOutcome:
    """PreFilter of every plugin; narrowed sets are intersected (spec §4.1.2-4.1.4). The state learns who skipped."""
    skipped: list[str] = []
    outcome = _ask_pre_filter(plugins, state, pod, nodes, skipped)
    state.skip_filter, state.prepared = frozenset(skipped), True
    return outcome


def _ask_pre_filter(
    plugins: Sequence[PreFilterPlugin], state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], skipped: list[str]
) -> PreFilterOutcome:
    narrowed: list[str] = []
    names: frozenset[str] | None = None
    refused: Status | None = None
    for plugin in plugins:
        result, status = plugin.pre_filter(state, pod, nodes)
        if status is not None and status.code is _SKIP:
            skipped.append(plugin.name)
            continue
        if status is not None and not status.ok:
            if status.code is _UNRESOLVABLE:
                return PreFilterOutcome(status=status.with_plugin(plugin.name), plugins=(plugin.name,))
            if not status.rejected:
                text = f'running PreFilter plugin "{plugin.name}": {status.message}'
                return PreFilterOutcome(status=error(text, plugin=plugin.name))
            refused = status.with_plugin(plugin.name)
        if result is not None:
            narrowed.append(plugin.name)
            names = result if names is None else names & result
            if not names:
                return PreFilterOutcome(names, _no_common_node(narrowed), tuple(narrowed))
    if refused is not None:
        return PreFilterOutcome(names, refused, (refused.plugin,))
    return PreFilterOutcome(names, None, tuple(narrowed))


def _no_common_node(narrowed: list[str]) -> Status:
    if len(narrowed) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {narrowed[0]}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed))}] simultaneously")


def run_filter(plugins: Sequence[FilterPlugin], state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
    """The first refusal of the not-skipped plugins, signed; an unexpected status becomes an Error (spec §4.2.1)."""
    skipped = state.skip_filter
    for plugin in plugins:
        if plugin.name in skipped:
            continue
        status = plugin.filter(state, pod, node)
        if status is not None and not status.ok:
            if status.rejected:
                return status.with_plugin(plugin.name)
            return error(f'running "{plugin.name}" filter plugin: {status.message}', plugin=plugin.name)
    return None


def run_extension(
    plugins: Sequence[PreFilterExtensions], state: CycleState, pod: Pod, other: Pod, node: NodeInfo, *, add: bool
) -> Status | None:
    """AddPod / RemovePod of every not-skipped plugin."""
    for plugin in plugins:
        if plugin.name in state.skip_filter:
            continue
        step = plugin.add_pod if add else plugin.remove_pod
        status = step(state, pod, other, node)
        if status is not None and not status.ok:
            verb = "AddPod" if add else "RemovePod"
            return error(f'running {verb} on PreFilter plugin "{plugin.name}": {status.message}')
    return None


def run_post_filter(
    plugins: Sequence[PostFilterPlugin], state: CycleState, pod: Pod, statuses: Mapping[str, Status]
) -> tuple[PostFilterResult | None, Status | None]:
    """Ask until one succeeds or answers UU; Unschedulable reasons are collected (spec §7.1)."""
    reasons: list[str] = []
    kept: PostFilterResult | None = None
    rejector = ""
    for plugin in plugins:
        result, status = plugin.post_filter(state, pod, statuses)
        if status is None or status.ok or status.code is _UNRESOLVABLE:
            return result, status
        if not status.rejected:
            return None, error(status.message, plugin=plugin.name)
        kept = result if result is not None else kept
        rejector = rejector or plugin.name
        reasons += status.reasons
    return kept, Status(Code.UNSCHEDULABLE, tuple(reasons), rejector)


@define
class ScoreTable:
    """Scores of the feasible nodes, in their order: ``total``, and per plugin the raw and normalised values."""

    total: list[int]
    raw: dict[str, list[int]] = field(factory=dict)
    normalized: dict[str, list[int]] = field(factory=dict)
    weights: dict[str, int] = field(factory=dict)


def run_pre_score(
    plugins: Sequence[PreScorePlugin], state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
) -> Status | None:
    """PreScore; plugins that answer Skip are left out of Score (spec §5.2)."""
    skipped: list[str] = []
    for plugin in plugins:
        status = plugin.pre_score(state, pod, nodes)
        if status is None or status.ok:
            continue
        if status.code is not _SKIP:
            return error(f'running PreScore plugin "{plugin.name}": {status.message}')
        skipped.append(plugin.name)
    state.skip_score = frozenset(skipped)
    return None


def run_score(
    plugins: Sequence[tuple[ScorePlugin, int]], state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
) -> ScoreTable | Status:
    """Score, normalise, weigh, sum (spec §5.3-5.4). ``plugins`` come with their weights."""
    table = ScoreTable([0] * len(nodes))
    for plugin, weight in plugins:
        name = plugin.name
        if name in state.skip_score:
            continue
        scores: list[int] = []
        for node in nodes:
            value = plugin.score(state, pod, node)
            if isinstance(value, Status):
                return error(f'running Score plugins: plugin "{name}" failed with: {value.message}')
            scores.append(value)
        table.raw[name] = scores
        normalize = getattr(plugin, "normalize_score", None)  # isinstance of a protocol costs fifty times as much
        if normalize is not None:
            scores = scores.copy()
            status = normalize(state, pod, nodes, scores)
            if status is not None and not status.ok:
                return error(f'running Normalize on Score plugins: plugin "{name}" failed with: {status.message}')
        for value in scores:
            if not 0 <= value <= MAX_NODE_SCORE:
                return error(
                    f'plugin "{name}" returns an invalid score {value}, it should in the range of [0, '
                    f"{MAX_NODE_SCORE}] after normalizing"
                )
        table.normalized[name], table.weights[name] = scores, weight
        table.total = [total + weight * value for total, value in zip(table.total, scores, strict=True)]
    return table
