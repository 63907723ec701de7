"""PreEnqueue of an entity: one refused member gates the whole tree (spec §2.8)."""

from __future__ import annotations

from collections.abc import Iterable

from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.run_queueing import run_pre_enqueue
from gangsched_framework.status import Status
from gangsched_queue.entities import Entity, QueuedPodGroupInfo
from gangsched_queue.member_gates import Cohort, CohortKey, Gatekeepers, Kind, MemberOrder, member_order
from gangsched_queue.registrations import Frameworks, QueueFramework

_NOBODY = Gatekeepers()

Answers = dict[tuple[str, int], tuple[str, Status | None]]
"""What was just said of a member: scheduler name, depth of its leaf -> refusing ``tree`` plugin ('' = none), status."""

_UNKNOWN: tuple[str, Status | None] = ("?", None)


Gated = tuple[QueuedPodInfo, Status]
"""A refused member, and what was said of it."""


class PreEnqueue:
    """Asks the plugins of each pod's profile; a pod without profile passes."""

    def __init__(self, frameworks: Frameworks, forest: Forest) -> None:
        self._forest = forest
        self._keepers = {name: _keepers_of(framework) for name, framework in frameworks.items()}
        self._kinds: dict[tuple[str, int], Kind] = {}

    def passes(self, entity: Entity) -> bool:
        """Run PreEnqueue and note in the entity who gates it: of several, the last in tree order (conformance §2)."""
        if isinstance(entity, QueuedPodInfo):
            keepers = self._keepers.get(entity.pod.scheduler_name, _NOBODY)
            status = run_pre_enqueue(keepers.questions, entity.pod, entity.gating_plugin)
            if status is not None:
                entity.unschedulable_plugins |= {status.plugin}
        elif entity.alike is not None:
            status = self._ask_alike(entity, entity.alike)
        elif entity.unasked:
            status = self._ask_unasked(entity)
        else:
            status = self._check_group(entity)
        entity.refusal = status
        if status is None:
            entity.gating_plugin = ""
            return True
        entity.gating_plugin = status.plugin
        entity.was_flushed = False
        return False

    def passes_with(self, entity: QueuedPodGroupInfo, leaf: EntityKey, info: QueuedPodInfo) -> bool:
        """Let a newcomer in, whom nobody has rejected, then as ``passes``.

        What is said of one more like all others is said of them, too, so nobody else is asked. If they were told the
        same before, or all pass now, nothing else changes. The first of a tree is like all others.
        """
        kind, first, profile = entity.alike, not entity.size, info.pod.scheduler_name
        if first:
            kind = self._kind(profile, self._depth(entity, leaf))
            like = kind.keepers.declared
        else:
            like = (
                kind is not None
                and kind.profile == profile
                and (leaf in entity.by_leaf or kind.depth == self._depth(entity, leaf))
            )
        if like and kind is not None:
            keepers = kind.keepers
            status = run_pre_enqueue(keepers.questions, info.pod)
            plugin = status.plugin if status is not None else ""
            if plugin in keepers.telling if first else not plugin or plugin == entity.gating_plugin:
                entity.alike, entity.gating_plugin, entity.refusal = kind, plugin, status
                if plugin:
                    info.unschedulable_plugins = keepers.marks[plugin]
                entity.insert_alike(leaf, info)
                return not plugin
        entity.insert(leaf, info)
        return self.passes(entity)

    def _ask_alike(self, entity: QueuedPodGroupInfo, kind: Kind) -> Status | None:
        """One question for all, who were told the same before."""
        status = run_pre_enqueue(kind.keepers.questions, entity.some_member().pod, entity.gating_plugin)
        if status is None or status.plugin == entity.gating_plugin:
            return status
        return self._check_group(entity)  # everybody is refused for another reason, which not all may carry yet

    def _ask_unasked(self, entity: QueuedPodGroupInfo) -> Status | None:
        """Everybody is asked; if they are of one kind, and let pass for what they are, they need not be told apart."""
        kind, status = None, None
        for leaf, members in entity.by_leaf.items():
            depth = self._depth(entity, leaf)
            for info in members.values():
                pod = info.pod
                its = self._kind(pod.scheduler_name, depth)
                if info.gating_plugin or (kind is not None and kind is not its) or not its.keepers.declared:
                    return self._check_group(entity)
                status = run_pre_enqueue(its.keepers.questions, pod)
                if (status.plugin if status is not None else "") not in its.keepers.telling:
                    return self._check_group(entity)
                if status is not None:
                    entity.reject(info, status.plugin)
                kind = its
        entity.alike = kind
        return status

    def _kind(self, profile: str, depth: int) -> Kind:
        kind = self._kinds.get((profile, depth))
        if kind is None:
            kind = self._kinds[profile, depth] = Kind(self._keepers.get(profile, _NOBODY), profile, depth)
        return kind

    def _depth(self, entity: QueuedPodGroupInfo, leaf: EntityKey) -> int:
        """How deep a leaf of the tree is."""
        return 1 if leaf == entity.key else self._forest.depth(leaf)

    def _check_group(self, entity: QueuedPodGroupInfo) -> Status | None:
        gates = entity.gates
        answers: Answers = {}
        newcomers, gates.unseen = gates.unseen, {}
        asked: Iterable[QueuedPodInfo] = newcomers.values()
        if gates.apart is not None:
            asked = (*asked, *gates.apart.volatile.values())
        gated = self._ask_members(entity, asked, answers)
        if len(gates.cohorts) != 1 or not answers:  # else a newcomer has just been answered for all
            self._ask_cohorts(entity, answers)
        if gates.unseen:
            newcomers, gates.unseen = gates.unseen, {}
            self._ask_members(entity, newcomers.values(), answers)
        return self._last_gated(entity, gated)

    def _ask_members(self, entity: QueuedPodGroupInfo, infos: Iterable[QueuedPodInfo], answers: Answers) -> list[Gated]:
        """Ask for members without a standing answer. Returns the refused among those that will be asked each time."""
        gates, gated = entity.gates, []
        for info in infos:
            pod, first, plugin = info.pod, info.gating_plugin, ""
            name = pod.scheduler_name
            keepers = self._keepers.get(name, _NOBODY)
            status = run_pre_enqueue(keepers.questions, pod, first)
            if status is not None:
                plugin = status.plugin
                entity.rejected.reject(info, plugin)
            info.gating_plugin = plugin
            if not keepers.declared:
                gates.set_apart().volatile[pod.key] = info
                if status is not None:
                    gated.append((info, status))
                continue
            if status is not None and plugin in keepers.pod:
                gates.set_apart().hold(info, status, self._tree_order)
                continue
            depth = self._depth(entity, _leaf_of(info))
            answers[name, depth] = plugin, status
            key = name, depth, plugin, keepers.speaks_for_all(first, plugin)
            cohort = gates.cohorts.get(key) or self._new_cohort(entity, key)
            cohort.status = status
            cohort.enter(info, keepers.tree, self._tree_order)
        return gated

    def _new_cohort(self, entity: QueuedPodGroupInfo, key: CohortKey) -> Cohort:
        """A cohort for a member that none has a place for. What lets it pass lets all of its profile and depth pass."""
        cohorts = entity.gates.cohorts
        name, depth, plugin, _ = key
        if not plugin:
            for each in list(cohorts):
                if each[0] == name and each[1] == depth:
                    self._revise(entity, each, plugin, None)
        if key not in cohorts:
            cohorts[key] = Cohort(plugin=plugin)
        return cohorts[key]

    def _ask_cohorts(self, entity: QueuedPodGroupInfo, answers: Answers) -> None:
        """One question for each cohort, unless a newcomer was just told the same."""
        cohorts = entity.gates.cohorts
        for key in list(cohorts):
            cohort = cohorts.get(key)
            if cohort is None:  # joined another one
                continue
            plugin, status = answers.get(key[:2], _UNKNOWN)
            if plugin != cohort.plugin:
                member = next(iter(cohort.members.values()))
                status = run_pre_enqueue(self._keepers.get(key[0], _NOBODY).questions, member.pod, cohort.plugin)
                plugin = status.plugin if status is not None else ""
            if plugin == cohort.plugin:
                cohort.status = status
            else:
                self._revise(entity, key, plugin, status)

    def _revise(self, entity: QueuedPodGroupInfo, key: CohortKey, plugin: str, status: Status | None) -> None:
        """The answer to a cohort is new: it becomes, or joins, another one."""
        cohorts = entity.gates.cohorts
        cohort = cohorts.pop(key)
        name, depth, _, sure = key
        if not sure:  # each must be asked for himself
            entity.gates.unseen.update(cohort.members)
            return
        cohort.plugin, cohort.status = plugin, status
        for info in cohort.unmarked.pop(plugin, {}).values():
            entity.rejected.reject(info, plugin)
        place = name, depth, plugin, True
        other = cohorts.get(place)
        if other is not None:
            small, large = sorted((cohort, other), key=lambda each: len(each.members))
            for info in small.members.values():
                large.enter(info, self._keepers.get(name, _NOBODY).tree, self._tree_order)
            large.status, cohort = status, large
        cohorts[place] = cohort

    def _last_gated(self, entity: QueuedPodGroupInfo, gated: list[Gated]) -> Status | None:
        """What is said of the last refused member in tree order, None when nobody is refused."""
        gates = entity.gates
        if len(gates.cohorts) == 1 and gates.apart is None:  # then the order does not matter
            return next(iter(gates.cohorts.values())).status
        refused = [cohort for cohort in gates.cohorts.values() if cohort.plugin]
        for cohort in refused:
            assert cohort.status is not None
            gated.append((cohort.last(self._tree_order), cohort.status))
        if gates.apart is not None and gates.apart.held.members:
            last = gates.apart.held.last(self._tree_order)
            gated.append((last, gates.apart.status[last.pod.key]))
        return max(gated, key=lambda each: self._tree_order(each[0]))[1] if gated else None

    def _tree_order(self, info: QueuedPodInfo) -> tuple[tuple[tuple[object, ...], ...], MemberOrder]:
        return self._forest.position(_leaf_of(info)), member_order(info)


def _leaf_of(info: QueuedPodInfo) -> EntityKey:
    leaf = info.pod.group_key
    assert leaf is not None
    return leaf


def _keepers_of(framework: QueueFramework) -> Gatekeepers:
    declared = {plugin.name: getattr(plugin, "pre_enqueue_scope", "") for plugin in framework.pre_enqueue_plugins}
    return Gatekeepers(
        plugins=framework.pre_enqueue_plugins,
        pod=frozenset(name for name, scope in declared.items() if scope == "pod"),
        tree=tuple(name for name, scope in declared.items() if scope == "tree"),
        declared=all(scope in ("pod", "tree") for scope in declared.values()),
    )
