"""Memo of refused trees: an attempt is not evaluated again while nothing changed that could change its outcome.

The key describes a tree by what its evaluation may read: the shape, the minimums, the scheduled counts, the signature
of each queued pod in order. Equal trees share an outcome, for its texts name no object. It holds for one version of the
world, and on from there while no node has come to fare otherwise with a pod of the tree; trees whose pods need the
per-node form, carry nominations, or are pinned to a topology domain are left out, and all trees where a plugin that is
asked about groups does not declare what it reads of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

from attrs import define, field, frozen

from gangsched.engine.column_watch import ColumnWatch
from gangsched.engine.columns import MAX_COLUMNS, ColumnCache, alike
from gangsched.engine.complete import End, Failure
from gangsched.engine.world import World
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Nominations
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.status import Code, Status


@frozen(cache_hash=True)
class MemoKey:
    """What an evaluation may read of a tree. ``columns``: numbers of the columns of its pods, in order.

    ``versions`` tells whether pods that had a column in common may have come to differ; ``bound``: some group of the
    tree must stay in a topology domain; ``judged``: what PreFilters that judge a pod by itself answer by.
    """

    profile: str
    versions: tuple[Hashable, ...]
    priority: int
    policies: tuple[str | None, ...]
    shape: tuple[object, ...]
    columns: tuple[int, ...]
    bound: bool
    judged: tuple[Hashable, ...]


@frozen(eq=False)
class Refusal:
    """The outcome of a refused tree by position: ``groups`` in tree order, ``pods`` in the order they are handled.

    ``raw`` holds the code of each group as evaluated, None where it was not evaluated.
    """

    root: Status
    groups: tuple[Status, ...]
    raw: tuple[Code | None, ...]
    pods: tuple[Failure, ...]

    @cached_property
    def record(self) -> tuple[Hashable, ...]:
        """What a decision log shows of it: codes and rejecting plugins, no texts (architecture.md §4)."""
        errors = ((pod.status.code, pod.fit_error) for pod in self.pods)
        pods = ((code, frozenset() if e is None else e.unschedulable_plugins) for code, e in errors)
        return (self.root.code, tuple(s.code for s in self.groups), tuple(pods))


@frozen(eq=False)
class _Grounds:
    """What a refusal rests on beyond the version of the world: the nodes, the lists, and how each row fares."""

    framework: Framework
    classes: NodeClasses
    listed: int
    watches: tuple[tuple[ColumnWatch, int], ...]


@define(eq=False)
class _Kept:
    refusal: Refusal
    version: int
    grounds: _Grounds | None


@define(eq=False)
class Memo:
    """The refusals met last, by key. ``lasting``: they are kept beyond the version of the world they were found in."""

    world: World
    nominations: Nominations
    columns: ColumnCache
    lasting: bool = False
    hits: int = 0
    _version: int = -1
    _kept: OrderedDict[MemoKey, _Kept] = field(factory=OrderedDict)
    _watches: dict[int, ColumnWatch] = field(factory=dict)
    _now: tuple[int, dict[tuple[str, int], tuple[Hashable, ...] | None]] = (-1, {})

    def key(
        self, framework: Framework, tree: PodGroupInfo, leaves: Mapping[EntityKey, Sequence[QueuedPodInfo]]
    ) -> MemoKey | None:
        """The key of a tree about to be tried; None when its outcome must not be kept."""
        if self.nominations.any() or not framework.refuses_by_kind:
            return None
        shape: list[object] = []
        numbers: list[int] = []
        policies: dict[str | None, None] = {tree.group.preemption_policy: None}
        pods: list[Pod] = []
        bound = False
        for info in tree.walk():
            group, queue = info.group, leaves.get(info.key, ())
            scheduled = self.world.forest.scheduled_count(info.key) if info.is_leaf else 0
            if scheduled and (group.topology_key or info is not tree):
                return None
            shape.append((info.is_leaf, group.minimum, len(info.children), group.topology_key, scheduled, len(queue)))
            bound = bound or bool(group.topology_key)
            for queued in queue:
                pod = queued.pod
                if pods and alike(pod, pods[-1]):
                    number = numbers[-1]
                else:
                    column = self.columns.of(framework, pod)
                    if column is None or column.particular:
                        return None
                    number = column.number
                if pod.status.nominated_node_name or pod.status.allocated:
                    return None
                numbers.append(number)
                pods.append(pod)
                policies[pod.preemption_policy] = None
        return MemoKey(
            framework.profile.scheduler_name,
            self.columns.versions(framework),
            tree.group.effective_priority,
            tuple(policies),
            tuple(shape),
            tuple(numbers),
            bound,
            tuple(judge.rests_on(pods) for judge in framework.pod_judges),
        )

    def get(self, key: MemoKey) -> Refusal | None:
        """The refusal such a tree would meet now, if it is known."""
        kept = self._kept.get(key)
        if kept is None or self.nominations.any():
            return None
        if kept.version != self.world.version:
            if kept.grounds is None or not self._hold(kept.grounds, key):
                return None
            kept.version = self.world.version
        self.hits += 1
        return kept.refusal

    def empty(self) -> bool:
        """Whether nothing can be known of the world as it is now."""
        return not self._kept or (not self.lasting and self._version != self.world.version)

    def put(self, framework: Framework, key: MemoKey, refusal: Refusal) -> None:
        """Keep a refusal that was found in the world as it is now."""
        self._version = self.world.version
        grounds = self._grounds(framework, key) if self.lasting else None
        self._kept[key] = _Kept(refusal, self._version, grounds)
        self._kept.move_to_end(key)
        if len(self._kept) > MAX_COLUMNS:
            self._kept.popitem(last=False)

    # --- beyond one version of the world ----------------------------------------------------------------------------

    def _grounds(self, framework: Framework, key: MemoKey) -> _Grounds | None:
        """None when the refusal rests on more than how each node fares with each pod."""
        watches = [self._watch(number) for number in dict.fromkeys(key.columns)]
        known = [watch for watch in watches if watch is not None]
        if key.bound or len(known) < len(watches) or not framework.refusal_lasts(key.priority):
            return None
        marks = tuple((watch, watch.changes()) for watch in known)
        return _Grounds(framework, self.world.table.classes, self.world.listed, marks)

    def _watch(self, number: int) -> ColumnWatch | None:
        column = self.columns.numbered(number)
        if column is None or not column.local:
            return None
        watch = self._watches.get(number)
        if watch is None or watch.column is not column:
            if len(self._watches) >= MAX_COLUMNS:
                self._watches.clear()
            watch = self._watches[number] = ColumnWatch(column, self.world.table)
        return watch

    def _hold(self, grounds: _Grounds, key: MemoKey) -> bool:
        """Whether a refusal stands though the world has changed."""
        world = self.world
        versions = self._versions_now(grounds.framework, key.priority)
        if grounds.classes is not world.table.classes or grounds.listed != world.listed or key.versions != versions:
            return False
        return all(watch.column.usable() and watch.changes() == mark for watch, mark in grounds.watches)

    def _versions_now(self, framework: Framework, priority: int) -> tuple[Hashable, ...] | None:
        """The versions of keys made now; None when no refusal of this priority lasts. Found once a version."""
        if self._now[0] != self.world.version:
            self.world.table.settle()  # nodes may have come and gone since
            self._now = (self.world.version, {})
        place, known = (framework.profile.scheduler_name, priority), self._now[1]
        if place not in known:
            known[place] = self.columns.versions(framework) if framework.refusal_lasts(priority) else None
        return known[place]

    def refusal(
        self,
        tree: PodGroupInfo,
        root: Status,
        raw: Mapping[EntityKey, Code],
        groups: Mapping[EntityKey, Status],
        pods: Sequence[End],
    ) -> Refusal | None:
        """The outcome of a refused root by position; None when a pod of it is nominated."""
        kept: list[Failure] = []
        for end in pods:
            assert isinstance(end, tuple), "a pod of a refused root is bound"
            failure = end[1]
            if failure.nominate:
                return None
            kept.append(failure)
        keys = [info.key for info in tree.walk()]
        return Refusal(root, tuple(groups[k] for k in keys), tuple(raw.get(k) for k in keys), tuple(kept))
