"""Framework: a profile made runnable. Builds each plugin once and calls the points in profile order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from attrs import frozen

from gangsched_framework import run_binding, run_pod, run_podgroup, run_queueing
from gangsched_framework.columns import ColumnarPlugin
from gangsched_framework.cycle_state import CycleState, PlacementCycleState, PodGroupCycleState
from gangsched_framework.errors import ConfigurationError
from gangsched_framework.fair_order import DynamicSortPlugin, FairOrder
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo, PoppedPodGroupInfo
from gangsched_framework.interface import (
    Plugin,
    PodGroupPostFilterResult,
    PodsPlacementScorePlugin,
    PostFilterResult,
    PreFilterExtensions,
    SchedulingFunction,
    ScorePlugin,
    Sortable,
)
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Placement, Progress
from gangsched_framework.profile import Profile
from gangsched_framework.registry import Registry
from gangsched_framework.run_pod import PreFilterOutcome, ScoreTable, Unprepared
from gangsched_framework.run_podgroup import Candidate
from gangsched_framework.status import Code, Status, error

_WAIT = Code.WAIT  # as in status.py
_PLACING = "TopologyAwareWorkloadScheduling"


@frozen
class NodePlugin:
    """A plugin asked about nodes: whether it filters, its score weight (0 = it does not score).

    ``columnar`` is the plugin if its columnar form may be used: it has one, and where it filters or scores the profile
    also runs its PreFilter or PreScore, as that form assumes.
    """

    plugin: Plugin
    filters: bool
    weight: int
    columnar: ColumnarPlugin | None


class Framework:
    """One profile's plugins and the calls of every extension point.

    Raises ConfigurationError when a plugin is unknown, does not serve a point it is named at, or refuses its arguments.
    """

    def __init__(self, profile: Profile, registry: Registry, handle: Handle) -> None:
        self.profile = profile
        self._handle = handle
        self.plugins: dict[str, Plugin] = {}
        for point, refs in profile.points.items():
            for ref in refs:
                if ref.name not in registry:
                    raise ConfigurationError(f'{_title(point)}Plugin "{ref.name}" does not exist')
                if not registry.implements(ref.name, point):
                    raise ConfigurationError(f'plugin "{ref.name}" does not extend {_title(point)}Plugin plugin')
                if ref.name not in self.plugins:
                    self.plugins[ref.name] = registry.build(ref.name, profile.args.get(ref.name, {}), handle)
        self.registrations = run_queueing.registrations_of(list(self.plugins.values()))
        sort = self._at("queueSort")
        tiers = [plugin for plugin in sort if isinstance(plugin, DynamicSortPlugin)]
        if len(sort) != 1 and (not sort or len(tiers) < len(sort)):
            raise ConfigurationError(f"exactly one queueSort plugin is needed, the profile has {len(sort)}")
        self.fair_order = FairOrder(handle.accounts, tiers) if tiers else None
        """The dynamic form of queueSort; None = the static one."""
        self.sort_key: Callable[[Sortable], tuple[int, ...]] = sort[0].sort_key if not tiers else _waits_longest
        """Static order of the active queue; without one, who waits longer comes first."""
        self._pre_enqueue = self._at("preEnqueue")
        self.pre_filter_plugins = self._at("preFilter")
        self.pod_judges = tuple(p for p in self.pre_filter_plugins if getattr(p, "judges_pod_alone", False))
        """PreFilter plugins whose answer is about the pod, whatever the nodes: asked even where columns choose."""
        self._extensions = tuple(p for p in self.pre_filter_plugins if isinstance(p, PreFilterExtensions))
        self.filter_plugins = tuple(self._prepared(p, "filter", self.pre_filter_plugins) for p in self._at("filter"))
        self._post_filter = self._at("postFilter")
        self.post_filters_prepare = all(getattr(plugin, "prepares_state", False) for plugin in self._post_filter)
        """Whether every PostFilter plugin sees to it that PreFilter was asked, before it reads the state."""
        self._pre_score = self._at("preScore")
        self.score_plugins = tuple((self._prepared(p, "score", self._pre_score), w) for p, w in self._weighted("score"))
        self.node_plugins = self._node_plugins()
        self.all_nodes = profile.percentage_of_nodes_to_score >= 100 and bool(self.score_plugins)
        """Whether every node is looked at: then neither the search start nor the number found decides."""
        self._reserve = self._at("reserve")
        self.reserves = bool(self._reserve)
        """Whether any plugin keeps reservations of its own."""
        self._permit = self._at("permit")
        self._pre_bind = self._at("preBind")
        self._bind = self._at("bind")
        self._post_bind = self._at("postBind")
        asked = (*self._reserve, *self._permit, *self._pre_bind)
        self.binds_plainly = not asked and getattr(next(iter(self._bind), None), "binds_always", False)
        """Whether no plugin has a say between the choice of a node and the Bind decision."""
        self.hears_of_bindings = bool(self._post_bind)
        """Whether any plugin is told of a binding that was carried out."""
        self._generate = self._at("placementGenerate")
        self.evaluates_placements = bool(self._generate) or handle.feature_gates.get(_PLACING, False)
        """Whether a group is evaluated inside a placement, be it only that of its parent (spec §6.4)."""
        self._feasible = self._at("placementFeasible")
        self.goes_on_when_placed = all(getattr(plugin, "keeps_to_placement", False) for plugin in self._feasible)
        """Whether PlacementFeasible is sure to go on, or not to, as before when the next child finds its place."""
        self.placement_scorers = self._weighted("placementScore")
        self._judges_apart = self._keeps_to_placements()
        self.keeps_to_placements = self._judges_apart and not self.pod_judges
        self._group_post_filter = self._at("podGroupPostFilter")
        declared = all(hasattr(plugin, "powerless") for plugin in self._group_post_filter)
        self.refuses_by_kind = self._judges_apart and declared
        """Whether equal trees are refused alike in an equal world, columns given, and what the judges answer."""

    def _at(self, point: str) -> tuple[Any, ...]:
        """The plugins to call at a point; one that declares itself inert there is listed in the profile, not called."""
        plugins = (self.plugins[ref.name] for ref in self.profile.points.get(point, ()))
        return tuple(plugin for plugin in plugins if point not in getattr(plugin, "inert", ()))

    def _prepared(self, plugin: Any, point: str, before: tuple[Any, ...]) -> Any:
        """The plugin; a stand-in that fails when it reads at ``point`` what it would have prepared just ``before``."""
        words = getattr(plugin, "unprepared", {}).get(point)
        if words is None or plugin in before:
            return plugin
        return Unprepared(plugin.name, f'{words} "Pre{_title(point)}{plugin.name}" from cycleState: not found')

    def _weighted(self, point: str) -> tuple[tuple[Any, int], ...]:
        return tuple((self.plugins[ref.name], ref.weight) for ref in self.profile.points.get(point, ()))

    def _node_plugins(self) -> tuple[NodePlugin, ...]:
        """Every plugin that has a say about nodes, in Filter order."""
        weights = {plugin.name: weight for plugin, weight in self.score_plugins}
        pre_filter = (plugin for plugin in self.pre_filter_plugins if plugin not in self.pod_judges)
        asked = (*self.filter_plugins, *pre_filter, *(plugin for plugin, _ in self.score_plugins))
        each = {id(plugin): plugin for plugin in asked}.values()  # a plugin need not be hashable
        return tuple(self._node_plugin(plugin, weights.get(plugin.name, 0)) for plugin in each)

    def _node_plugin(self, plugin: Plugin, weight: int) -> NodePlugin:
        filters = plugin in self.filter_plugins
        prepared = filters == (plugin in self.pre_filter_plugins) or not hasattr(plugin, "pre_filter")
        prepared &= bool(weight) == (plugin in self._pre_score) or not hasattr(plugin, "pre_score")
        columnar = plugin if prepared and isinstance(plugin, ColumnarPlugin) else None
        return NodePlugin(plugin, filters, weight, columnar)

    def _keeps_to_placements(self) -> bool:
        """Whether what a group comes to inside a placement depends on the placement's nodes alone, columns given.

        What ``pod_judges`` answer is left aside.
        """
        scorers = [plugin for plugin, _ in self.placement_scorers]
        asked = (*self._generate[:1], *self._feasible, *scorers)
        if not all(getattr(plugin, "keeps_to_placement", False) for plugin in asked):
            return False
        pure = all(isinstance(scorer, PodsPlacementScorePlugin) for scorer in scorers)
        return pure and self.all_nodes and not self._reserve

    # --- queueing -------------------------------------------------------------------------------------------------

    @property
    def pre_enqueue_plugins(self) -> Sequence[Any]:
        return self._pre_enqueue

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status | None:
        """The first refusal, signed; None lets the pod pass. ``first``: plugin to ask before all others."""
        return run_queueing.run_pre_enqueue(run_queueing.questions_of(self._pre_enqueue), pod, first)

    # --- one pod --------------------------------------------------------------------------------------------------

    def run_pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> PreFilterOutcome:
        return run_pod.run_pre_filter(self.pre_filter_plugins, state, pod, nodes)

    def judges_refuse(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> bool:
        """Whether PreFilter will refuse the pod wherever it might go."""
        for judge in self.pod_judges:
            status = judge.pre_filter(state, pod, nodes)[1]
            if status is not None and not status.ok:
                return True
        return False

    def judges_clear(self, pod: Pod) -> bool:
        """Whether PreFilter is sure to refuse neither the pod nor another of its tree, whichever find a node."""
        clear = True
        for judge in self.pod_judges:
            clear = clear and judge.clears(pod)
        return clear

    def run_filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """First refusal of the Filter plugins on a node, as the snapshot shows it."""
        return run_pod.run_filter(self.filter_plugins, state, pod, node)

    def run_filter_with_nominated_pods(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Filter with the node's nominated pods of at least the pod's priority counted in, then without (§4.2.2)."""
        return self.run_filter_beside(state, pod, node, self._nominated_to(pod, node))

    def run_filter_beside(self, state: CycleState, pod: Pod, node: NodeInfo, others: Sequence[Pod]) -> Status | None:
        """Filter with ``others`` counted in, then without; both must pass (spec node-plugins.md §4.2.2)."""
        status = self.run_filter_with(state, pod, node, others) if others else None
        return status or run_pod.run_filter(self.filter_plugins, state, pod, node)

    def run_filter_with(self, state: CycleState, pod: Pod, node: NodeInfo, others: Sequence[Pod]) -> Status | None:
        """Filter with ``others`` counted in."""
        snapshot = self._handle.snapshot
        trial = snapshot.begin_trial()
        with_them = state.clone()
        try:
            for other in others:
                snapshot.assume(other, node.name)
                status = self.run_add_pod(with_them, pod, other, node)
                if status is not None:
                    return status
            return run_pod.run_filter(self.filter_plugins, with_them, pod, node)
        finally:
            snapshot.end_trial(trial)

    def _nominated_to(self, pod: Pod, node: NodeInfo) -> list[Pod]:
        nominated = self._handle.nominations.nominated_pods(node.name)
        if not nominated:
            return []
        # spec §2.10.4: members of the pod's own tree are left out, else a placed member would count twice. So is one
        # that follows a pod of its name which stands here as long as the cycle lasts.
        forest = self._handle.forest
        root = forest.root(pod.group_key) if pod.group_key else None
        return [
            other
            for other in nominated
            if other.priority >= pod.priority
            and other.uid != pod.uid
            and other.key not in node.pods
            and not (root is not None and other.group_key is not None and forest.root(other.group_key) == root)
        ]

    def run_add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeInfo) -> Status | None:
        return run_pod.run_extension(self._extensions, state, pod, other, node, add=True)

    def run_remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeInfo) -> Status | None:
        return run_pod.run_extension(self._extensions, state, pod, other, node, add=False)

    def run_post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[PostFilterResult | None, Status | None]:
        return run_pod.run_post_filter(self._post_filter, state, pod, statuses)

    def prepare(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> None:
        """PreFilter, for a state that nobody has prepared yet."""
        if not state.prepared:
            self.run_pre_filter(state, pod, nodes)

    @property
    def has_post_filter(self) -> bool:
        return bool(self._post_filter)

    @property
    def has_scorers(self) -> bool:
        return bool(self.score_plugins)

    def run_pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        return run_pod.run_pre_score(self._pre_score, state, pod, nodes)

    def run_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> ScoreTable | Status:
        plugins = cast("tuple[tuple[ScorePlugin, int], ...]", self.score_plugins)
        return run_pod.run_score(plugins, state, pod, nodes)

    # --- binding --------------------------------------------------------------------------------------------------

    def run_reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return run_binding.run_reserve(self._reserve, state, pod, node_name)

    def run_unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        run_binding.run_unreserve(self._reserve, state, pod, node_name)

    def run_permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return run_binding.run_permit(self._permit, state, pod, node_name)

    def run_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """PreBind, then the first Bind plugin that takes the pod."""
        return run_binding.run_pre_bind(self._pre_bind, state, pod, node_name) or run_binding.run_bind(
            self._bind, state, pod, node_name
        )

    def run_post_bind(self, pod: Pod, node_name: str) -> None:
        for plugin in self._post_bind:
            plugin.post_bind(pod, node_name)

    # --- one group ------------------------------------------------------------------------------------------------

    @property
    def generates_placements(self) -> bool:
        """Whether a group may be kept to a part of its parent's placement."""
        return bool(self._generate)

    def run_generate_placements(
        self, state: PodGroupCycleState, group: PodGroupInfo, parent: Placement
    ) -> tuple[tuple[Placement, ...], Status | None]:
        """The first generator decides (spec §6.2); without one, the parent's placement is the only candidate."""
        if not self._generate:
            return (parent,), None
        placements, status = self._generate[0].generate_placements(state, group, parent)
        if status is not None and not status.ok:
            return (), error(*status.reasons, plugin=self._generate[0].name)
        return placements, None

    def run_placement_feasible(
        self, state: PlacementCycleState, group: PodGroupInfo, progress: Progress
    ) -> Status | None:
        """In plugin order; a refusal or Error ends at once, Wait is remembered (spec §4.8)."""
        waiting: Status | None = None
        for plugin in self._feasible:
            status: Status | None = plugin.placement_feasible(state, group, progress)
            if status is None or status.ok:
                continue
            signed = status if status.plugin else status.with_plugin(plugin.name)
            if status.code is not _WAIT:
                return signed
            waiting = signed
        return waiting

    def run_placement_score(
        self, state: PodGroupCycleState, group: PodGroupInfo, candidates: Sequence[Candidate]
    ) -> run_podgroup.PlacementScores | Status:
        return run_podgroup.run_placement_score(self.placement_scorers, state, group, candidates)

    def weigh_placement_score(self, number: int, state: PodGroupCycleState, raw: list[int]) -> list[int] | Status:
        """What raw scores by that one of ``placement_scorers`` come to; ``raw`` is used up."""
        return run_podgroup.weigh_placement_score(*self.placement_scorers[number], state, raw)

    def refusal_lasts(self, priority: int) -> bool:
        """Whether a root of this priority without topology constraints is refused in the same way for as long as every
        node fares the same with its pods, and what the judges' answers rest on is the same."""
        return self.refuses_by_kind and all(plugin.powerless(priority) for plugin in self._group_post_filter)

    def run_pod_group_post_filter(
        self, state: PodGroupCycleState, root: PoppedPodGroupInfo, schedule: SchedulingFunction
    ) -> tuple[PodGroupPostFilterResult | None, Status | None]:
        return run_podgroup.run_pod_group_post_filter(self._group_post_filter, state, root, schedule)


def _waits_longest(entity: Sortable) -> tuple[int, ...]:
    return (entity.timestamp,)


def _title(point: str) -> str:
    return point[0].upper() + point[1:]
