"""A framework for the queue alone: five small plugins whose answers a test can foresee."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.hierarchy import Forest, HierarchyError
from gangsched_framework.interface import Sortable
from gangsched_framework.objects import EntityKey, Group, Node, Pod
from gangsched_framework.status import Status, unresolvable

GATES, PREEMPTION, GANG = "SchedulingGates", "DefaultPreemption", "GangScheduling"
FIT, CLAIM, LOUD = "Fit", "Claim", "Loud"

NODE_ADD = ClusterEvent(Resource.NODE, Action.ADD)
NODE_LABEL = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL)
NODE_TAINT = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_TAINT)
NODE_CONDITION = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_CONDITION)
"""Nobody registers this one."""
WAITING_ADD = ClusterEvent(Resource.UNSCHEDULED_POD, Action.ADD)
ASSIGNED_ADD = ClusterEvent(Resource.ASSIGNED_POD, Action.ADD)
ASSIGNED_DELETE = ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)
POD_LABEL = ClusterEvent(Resource.TARGET_POD, Action.UPDATE_POD_LABEL)
POD_GATES = ClusterEvent(Resource.TARGET_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)


class Gates:
    """PreEnqueue: no pod with scheduling gates."""

    name = GATES

    def pre_enqueue(self, pod: Pod) -> Status | None:
        return unresolvable(f"gates: {' '.join(pod.scheduling_gates)}") if pod.scheduling_gates else None

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [ClusterEventWithHint(POD_GATES, lambda pod, old, new: Hint.QUEUE)]


@define(eq=False)
class Preemption:
    """PreEnqueue: entities in ``held`` wait; deletions un-gate through other plugins' hints (spec §5.6)."""

    forest: Forest
    held: set[EntityKey] = field(factory=set)
    name: str = PREEMPTION

    def pre_enqueue(self, pod: Pod) -> Status | None:
        leaf = pod.group_key
        key = pod.entity_key if leaf is None else self.forest.root(leaf)
        return unresolvable("preemption runs") if key in self.held else None

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [ClusterEventWithHint(ASSIGNED_DELETE, lambda pod, old, new: Hint.SKIP)]


@define(eq=False)
class Gang:
    """PreEnqueue: the root's quorum (spec §3.6-3.7)."""

    forest: Forest
    scoped: bool
    name: str = GANG

    def pre_enqueue(self, pod: Pod) -> Status | None:
        leaf = pod.group_key
        if leaf is None:
            return None
        try:
            root, ready = self.forest.quorum(leaf)
        except HierarchyError as problem:
            return unresolvable(str(problem).split(" ")[0])
        return None if ready else unresolvable(f"no quorum of {root.required}")

    def events_to_register(self) -> list[ClusterEventWithHint]:
        pods = [(WAITING_ADD, self._pod), (ASSIGNED_ADD, self._pod)]
        groups = [
            (ClusterEvent(resource, action), hint)
            for resource in (Resource.POD_GROUP, Resource.COMPOSITE_POD_GROUP)
            for action, hint in ((Action.ADD, self._group), (Action.UPDATE, self._lowered))
        ]
        return [ClusterEventWithHint(event, hint, within_tree=self.scoped) for event, hint in (*pods, *groups)]

    def _pod(self, pod: Pod, old: Any, new: Any) -> Hint:
        return self._same_tree(pod, new.group_key)

    def _group(self, pod: Pod, old: Any, new: Any) -> Hint:
        return self._same_tree(pod, new.key)

    def _lowered(self, pod: Pod, old: Any, new: Any) -> Hint:
        if old.minimum is None or new.minimum is None or new.minimum >= old.minimum:
            return Hint.SKIP
        return self._same_tree(pod, new.key)

    def _same_tree(self, pod: Pod, key: EntityKey | None) -> Hint:
        leaf = pod.group_key
        same = leaf is not None and key is not None and self.forest.same_hierarchy(leaf, key)
        return Hint.QUEUE if same else Hint.SKIP


class Fit:
    """Rejects in cycles. A new node helps pods labelled ``fits: <node>``, a deletion those labelled ``room: yes``."""

    name = FIT

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [
            ClusterEventWithHint(NODE_ADD, self._node),
            ClusterEventWithHint(ASSIGNED_DELETE, self._room),
            ClusterEventWithHint(POD_LABEL, self._own_label),
        ]

    def _node(self, pod: Pod, old: Any, new: Any) -> Hint:
        return Hint.QUEUE if pod.labels.get("fits") == new.name else Hint.SKIP

    def _room(self, pod: Pod, old: Any, new: Any) -> Hint:
        return Hint.QUEUE if pod.labels.get("room") == "yes" else Hint.SKIP

    def _own_label(self, pod: Pod, old: Any, new: Any) -> Hint:
        return Hint.QUEUE if new.labels.get("fits") else Hint.SKIP


class Claim:
    """Rejects as Pending; a change of a taint or a deletion helps, without a hint function."""

    name = CLAIM

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [ClusterEventWithHint(NODE_TAINT), ClusterEventWithHint(ASSIGNED_DELETE)]


class Loud:
    """A rejector that registers a node's labels without hint: always Queue."""

    name = LOUD

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [ClusterEventWithHint(NODE_LABEL)]


SCOPES: Mapping[str, str] = {GATES: "pod", PREEMPTION: "tree", GANG: "tree"}


@define(eq=False)
class FakeFramework:
    """One profile. ``asked`` counts the questions each PreEnqueue plugin and each hint was asked.

    ``scoped``: the plugins declare how far their verdicts and hints reach. ``reverse``: PreEnqueue order turned round.
    """

    forest: Forest
    scoped: bool = True
    reverse: bool = False
    asked: dict[str, int] = field(factory=dict)
    preemption: Preemption = field(init=False)
    pre_enqueue_plugins: list[Any] = field(init=False)
    registrations: dict[str, tuple[ClusterEventWithHint, ...]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.preemption = Preemption(self.forest)
        gating: list[Any] = [Gates(), self.preemption, Gang(self.forest, self.scoped)]
        counting = _Scoped if self.scoped else _Counting
        self.pre_enqueue_plugins = [counting(plugin, self.count) for plugin in gating]
        if self.reverse:
            self.pre_enqueue_plugins.reverse()
        everyone: list[Any] = [*gating, Fit(), Claim(), Loud()]
        self.registrations = {p.name: tuple(self._counted(p.name, r) for r in p.events_to_register()) for p in everyone}

    def sort_key(self, entity: Sortable) -> tuple[int, ...]:
        return (-entity.priority, entity.timestamp)

    def count(self, name: str) -> None:
        self.asked[name] = self.asked.get(name, 0) + 1

    def _counted(self, plugin: str, registration: ClusterEventWithHint) -> ClusterEventWithHint:
        hint = registration.hint
        if hint is None:
            return registration

        def counted(pod: Pod, old: Pod | Node | Group | None, new: Pod | Node | Group | None) -> Hint:
            self.count(f"{plugin} hint")
            return hint(pod, old, new)

        return ClusterEventWithHint(registration.event, counted, registration.within_tree)


@define(eq=False)
class _Counting:
    """A plugin whose questions are counted."""

    plugin: Any
    count: Callable[[str], None]

    @property
    def name(self) -> str:
        return str(self.plugin.name)

    def pre_enqueue(self, pod: Pod) -> Status | None:
        self.count(self.name)
        status: Status | None = self.plugin.pre_enqueue(pod)
        return status


class _Scoped(_Counting):
    """One that declares the scope of its verdicts."""

    @property
    def pre_enqueue_scope(self) -> str:
        return SCOPES[self.name]
