"""EVERY extension point, as a Protocol. A plugin serves the points whose methods it has; no base class needed.

Each point answers the same six questions: **when** is it called, **by whom**, **with what**, **may it block**, what
does each **status** mean, what must be **undone**. Common answers, not repeated below: nothing may block, sleep, read
a wall clock or draw randomness (the engine is single-threaded and sans-IO); a method that may return ``None`` means
Success by it; a plugin keeps no ``NodeInfo``, ``CycleState`` or ``Snapshot`` beyond a call, and calls no engine in it;
raising an exception is a bug and ends the run (``PluginError``). The spec is podgroup-scheduling.md §7.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from attrs import frozen

from gangsched_framework.cycle_state import CycleState, PlacementCycleState, PodGroupCycleState
from gangsched_framework.events import ClusterEvent, ClusterEventWithHint
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo, PoppedPodGroupInfo
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Assignment, Placement, Progress
from gangsched_framework.status import Status

MAX_NODE_SCORE = 100
"""Upper bound of a normalised node score (lower bound 0)."""


@runtime_checkable
class Plugin(Protocol):
    """What every plugin has: the name by which profiles, statuses and rejector sets know it."""

    @property
    def name(self) -> str: ...


PluginFactory = Callable[[Mapping[str, Any], Handle], Plugin]
"""``(arguments, handle) -> plugin``. Raises ``ConfigurationError`` for arguments it refuses."""


# --- queueing -------------------------------------------------------------------------------------------------------


class Sortable(Protocol):
    """What QueueSort may look at: a waiting entity."""

    @property
    def key(self) -> str: ...
    @property
    def priority(self) -> int: ...
    @property
    def timestamp(self) -> int: ...


@runtime_checkable
class QueueSortPlugin(Plugin, Protocol):
    """Static order of entities in the active queue. Exactly one per profile set.

    When: an entity enters the active queue. By: the queue. With: the entity. Status: none; a smaller key is popped
    first; the queue appends the entity key as the last tie. Undo: nothing.
    """

    def sort_key(self, entity: Sortable) -> tuple[int, ...]: ...


@runtime_checkable
class PreEnqueuePlugin(Plugin, Protocol):
    """Gate before the active queue (and, with PopFromBackoffQ, before the backoff queue).

    When: at each such move, for every member pod (spec §2.8). By: the queue. With: the pod. Must be cheap.
    Status: Success lets it pass; any rejection gates the **whole entity**, which parks until an event the plugin
    registered for, or the flush. Never shown to users. Undo: nothing.
    """

    def pre_enqueue(self, pod: Pod) -> Status | None: ...


@runtime_checkable
class DeclaresPreEnqueueScope(PreEnqueuePlugin, Protocol):
    """What a PreEnqueue verdict depends on, so that the queue need not ask every member again at every move.

    ``pod``: on the pod but for its status, for ever. ``tree``: at any one time it is the same for all members of a tree
    whose leaves are equally deep. A plugin that declares nothing is asked for every member each time.
    """

    @property
    def pre_enqueue_scope(self) -> str: ...


@runtime_checkable
class EnqueueExtensions(Plugin, Protocol):
    """Which cluster events may make a pod schedulable that this plugin rejected.

    When: once, when the framework is built. By: the framework. Status: none. A hint is asked only for pods in whose
    rejector sets the plugin stands; without one every event queues, and so does, for a plugin without this, any event.
    """

    def events_to_register(self) -> Iterable[ClusterEventWithHint]: ...


@frozen
class PreHint:
    """Answer of a pre-hint: the pods (``namespace/name``) an event concerns; ``None`` = all."""

    pods: tuple[str, ...] | None = None


@runtime_checkable
class PreQueueingHintPlugin(Plugin, Protocol):
    """Narrow an event to a list of pods, once per event (KEP-6132). Its gate is off in v1.37: never called today."""

    def pre_queueing_hint(self, event: ClusterEvent, old: object, new: object) -> PreHint: ...


# --- one pod --------------------------------------------------------------------------------------------------------


@runtime_checkable
class PreFilterPlugin(Plugin, Protocol):
    """Look at the pod once before its nodes are filtered; may narrow the nodes.

    When: first step of a pod's attempt. By: the pod algorithm. With: the state, the pod, all nodes (``snapshot.nodes``:
    those of the placement). Returns (names of the only nodes worth filtering or None for all, status). Status: Skip =
    do not call my Filter for this pod; Unschedulable = remember and go on; UnschedulableAndUnresolvable = stop, the pod
    fits nowhere; anything else = the attempt is an Error. Undo: nothing (what it stores lives in ``state``).
    """

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]: ...


@runtime_checkable
class PreFilterExtensions(Plugin, Protocol):
    """Keep what PreFilter stored in step when pods are added to or removed from nodes in thought.

    When: nominated pods are counted in, victims are taken out or given back. By: the pod algorithm and preemption.
    With: the state of the incoming ``pod``, the ``other`` pod and its node (the snapshot already shows the change).
    Status: not Success = Error of the attempt. Undo: the caller works on a clone of the state.
    """

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeInfo) -> Status | None: ...
    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeInfo) -> Status | None: ...


@runtime_checkable
class FilterPlugin(Plugin, Protocol):
    """Can the pod run on this node?

    When: for each node until enough are found, plugins in profile order, first refusal wins. By: the pod algorithm.
    With: state, pod, a view of the node with all reservations. Status: Success; Unschedulable (preemption may help);
    UnschedulableAndUnresolvable (it cannot); anything else is an Error of the attempt. Undo: nothing.
    """

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None: ...


@frozen
class PostFilterResult:
    """``nominated_node``: None = leave the pod's nomination, '' = clear it. ``victims`` are evicted by submit."""

    nominated_node: str | None = None
    victims: tuple[Pod, ...] = ()
    cleared: tuple[Pod, ...] = ()
    """Waiting pods of lower priority whose nomination on the node is cleared."""


@runtime_checkable
class PostFilterPlugin(Plugin, Protocol):
    """Try to make room for a plain pod that fits nowhere. Never called inside a group cycle.

    When: after a FitError of a plain pod. By: the cycle. With: state, pod, status of each node by name (nodes absent
    from the map were excluded: unresolvable). Status: Success = room will come, the pod keeps waiting with the
    nomination; Unschedulable = next plugin; anything else = Error. Undo: it must leave the snapshot as it found it.
    """

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[PostFilterResult | None, Status | None]: ...


@runtime_checkable
class PreScorePlugin(Plugin, Protocol):
    """Prepare scoring. When: two or more nodes are feasible. With: state, pod, the feasible nodes.

    Status: Skip = my Score is left out (0 everywhere, not normalised); other non-Success = Error. Undo: nothing.
    """

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None: ...


@runtime_checkable
class ScorePlugin(Plugin, Protocol):
    """Raw score of one feasible node, any integer if the plugin also normalises, else 0…100.

    By: the pod algorithm, after PreScore. A status instead of a number = Error of the attempt. Undo: nothing.
    """

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status: ...


@runtime_checkable
class NormalizeScorePlugin(Plugin, Protocol):
    """Map the raw scores of all feasible nodes to 0…100, in place. With: state, pod, nodes and scores in step."""

    def normalize_score(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]
    ) -> Status | None: ...


@runtime_checkable
class ReservePlugin(Plugin, Protocol):
    """Claim and give back what the plugin itself keeps for the pod on its node.

    When: after the pod is assumed, in the simulation and again at submit. Status: not Success = this pod fails and
    ``unreserve`` is called for all plugins in reverse order. Undo: ``unreserve`` must be idempotent.
    """

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None: ...
    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None: ...


@runtime_checkable
class PermitPlugin(Plugin, Protocol):
    """Last word before binding; only at submit (spec §4.9.5). Status: Success, or a rejection of this pod alone.

    Wait is not supported by the sans-IO engine: it counts as an Error.
    """

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | None: ...


@runtime_checkable
class PreBindPlugin(Plugin, Protocol):
    """Called when the Bind decision is made; not Success = the binding fails like one refused by the API."""

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None: ...


@runtime_checkable
class BindPlugin(Plugin, Protocol):
    """Declares who binds. Status: Success = emit the Bind decision (the host binds), Skip = the next plugin decides.

    A plugin that takes every pod may say so with the attribute ``binds_always = True`` and is then not asked.
    """

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None: ...


@runtime_checkable
class PostBindPlugin(Plugin, Protocol):
    """Told when the host confirmed the binding. Undo: nothing."""

    def post_bind(self, pod: Pod, node_name: str) -> None: ...


# --- one group ------------------------------------------------------------------------------------------------------


@runtime_checkable
class PlacementGeneratePlugin(Plugin, Protocol):
    """Candidate node sets of a group inside its parent's placement; only the first such plugin is asked (spec §6.1-2).

    When: before a group is evaluated. By: the group algorithm. With: group state, the group, the parent's placement.
    Status: Success with an empty tuple = ``no feasible placements found``; else Error. Undo: nothing.
    """

    def generate_placements(
        self, state: PodGroupCycleState, group: PodGroupInfo, parent: Placement
    ) -> tuple[tuple[Placement, ...], Status | None]: ...


@runtime_checkable
class PlacementFeasiblePlugin(Plugin, Protocol):
    """Can the group still reach its policy?

    When: before the first child (or pod) and after each one. With: placement state, the group, the progress.
    Status: Success = satisfied, go on greedily; Wait = not yet; Unschedulable = hopeless, stop; UU = stop as well
    (DIV-5: abort); Error = Error of the group. Every plugin is asked until one stops (spec §4.8). Undo: nothing.
    """

    def placement_feasible(
        self, state: PlacementCycleState, group: PodGroupInfo, progress: Progress
    ) -> Status | None: ...


@runtime_checkable
class PlacementScorePlugin(Plugin, Protocol):
    """Score one feasible placement; called only when there are two or more.

    With: its placement state, the group, the placement, the pods newly placed. The simulation's reservations are NOT in
    the snapshot. Returns an integer 0…100 unless the plugin also normalises, or a status = Error.
    """

    def score_placement(
        self, state: PlacementCycleState, group: PodGroupInfo, placement: Placement, assignments: Sequence[Assignment]
    ) -> int | Status: ...


@runtime_checkable
class PodsPlacementScorePlugin(PlacementScorePlugin, Protocol):
    """A scorer to whom it is all one where inside the placement a pod is (see ``declarations.KeepsToPlacement``).

    ``score_pods`` answers what ``score_placement`` does when ``pods`` are newly placed.
    """

    def score_pods(self, group: PodGroupInfo, placement: Placement, pods: Sequence[Pod]) -> int: ...


@runtime_checkable
class NormalizePlacementScorePlugin(Plugin, Protocol):
    """Map raw placement scores to 0…100, in place."""

    def normalize_placement_score(self, state: PodGroupCycleState, scores: list[int]) -> Status | None: ...


@frozen
class RootAttempt:
    """The root's status, the pods placed in order (in leaves that failed later, too, spec §5.7), their states."""

    status: Status
    assignments: tuple[Assignment, ...]
    states: tuple[CycleState, ...]


SchedulingFunction = Callable[[], RootAttempt]
"""Re-runs the root algorithm on the snapshot as it stands and leaves the snapshot unchanged (spec §7.1)."""


@frozen
class PodGroupPostFilterResult:
    """``nominations``: pod key -> node, for every pod of the found assignment; ``victims`` are evicted by submit."""

    nominations: Mapping[str, str]
    victims: tuple[Pod, ...] = ()


@runtime_checkable
class PodGroupPostFilterPlugin(Plugin, Protocol):
    """Try to make room for a whole tree.

    When: once, when the root ended exactly Unschedulable. With: group state, popped entity, the scheduling function.
    Status: Success = waiting on preemption; Unschedulable = reason collected, next plugin; UU = stop; else Error.
    Undo: it must leave the snapshot as it found it.
    """

    def pod_group_post_filter(
        self, state: PodGroupCycleState, root: PoppedPodGroupInfo, schedule: SchedulingFunction
    ) -> tuple[PodGroupPostFilterResult | None, Status | None]: ...
