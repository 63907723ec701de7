"""PreEnqueue of an entity: one refused member gates the whole tree (spec §2.8)."""

from __future__ import annotations

from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.run_queueing import run_pre_enqueue
from gangsched_framework.status import Status
from gangsched_queue.entities import Entity, QueuedPodGroupInfo
from gangsched_queue.member_gates import Cohort, CohortKey, MemberOrder, Scopes, member_order
from gangsched_queue.registrations import Frameworks, QueueFramework

_NO_PLUGINS = Scopes()

Answers = dict[tuple[str, int], tuple[str, Status | None]]
"""What was just said of a member: scheduler name, depth of its leaf -> refusing ``tree`` plugin ('' = none), status."""

_UNKNOWN: tuple[str, Status | None] = ("?", None)


Gated = tuple[QueuedPodInfo, Status]
"""A refused member, and what was said of it."""


class PreEnqueue:
    """Asks the plugins of each pod's profile; a pod without profile passes."""

    def __init__(self, frameworks: Frameworks, forest: Forest) -> None:
        self._forest = forest
        self._plugins = {name: framework.pre_enqueue_plugins for name, framework in frameworks.items()}
        self._scopes = {name: _scopes_of(framework) for name, framework in frameworks.items()}

    def passes(self, entity: Entity) -> bool:
        """Run PreEnqueue and note in the entity who gates it: of several, the last in tree order (conformance §2)."""
        if isinstance(entity, QueuedPodInfo):
            status = self._ask(entity.pod, entity.gating_plugin)
            if status is not None:
                entity.unschedulable_plugins |= {status.plugin}
        else:
            status = self._check_group(entity)
        if status is None:
            entity.gating_plugin = entity.gating_reason = ""
            return True
        entity.gating_plugin = status.plugin
        entity.gating_reason = status.message
        entity.was_flushed = False
        return False

    def _check_group(self, entity: QueuedPodGroupInfo) -> Status | None:
        gates = entity.gates
        answers: Answers = {}
        asked = gates.take_unseen() if gates.unseen else []
        if gates.volatile:
            asked += gates.volatile.values()
        gated = self._ask_members(entity, asked, answers)
        if answers and len(gates.cohorts) == 1:  # a newcomer has just been answered for all
            return self._last_gated(entity, gated)
        if gates.cohorts:
            self._ask_cohorts(entity, answers)
            if gates.unseen:
                self._ask_members(entity, gates.take_unseen(), answers)
        return self._last_gated(entity, gated)

    def _ask(self, pod: Pod, first: str) -> Status | None:
        return run_pre_enqueue(self._plugins.get(pod.scheduler_name, ()), pod, first)

    def _ask_cohorts(self, entity: QueuedPodGroupInfo, answers: Answers) -> None:
        """One question for each cohort, unless a newcomer was just told the same or was let pass by all.

        Where the answer is new, the cohort becomes, or joins, another one.
        """
        gates = entity.gates
        moved: list[tuple[CohortKey, Cohort]] = []
        for key, cohort in list(gates.cohorts.items()):
            if not cohort.members:
                del gates.cohorts[key]
                continue
            scheduler_name, depth, _, sure = key
            plugin, status = answers.get((scheduler_name, depth), _UNKNOWN)
            if plugin and plugin != cohort.plugin:
                status = self._ask(next(iter(cohort.members.values())).pod, cohort.plugin)
                plugin = status.plugin if status is not None else ""
            if plugin == cohort.plugin:
                cohort.status = status
                continue
            del gates.cohorts[key]
            if not sure:  # each must be asked for himself
                gates.unseen.update(cohort.members)
                continue
            cohort.plugin, cohort.status = plugin, status
            for info in cohort.unmarked.pop(plugin, {}).values():
                entity.rejected.reject(info, plugin)
            moved.append(((scheduler_name, depth, plugin, True), cohort))
        for key, cohort in moved:
            self._merge(entity, key, cohort)

    def _merge(self, entity: QueuedPodGroupInfo, key: CohortKey, cohort: Cohort) -> None:
        cohorts = entity.gates.cohorts
        other = cohorts.get(key)
        if other is not None:
            small, large = sorted((cohort, other), key=lambda each: len(each.members))
            scopes = self._scopes.get(key[0], _NO_PLUGINS)
            for info in small.members.values():
                large.enter(info, scopes, self._tree_order)
            large.status, cohort = cohort.status, large
        cohorts[key] = cohort

    def _ask_members(self, entity: QueuedPodGroupInfo, infos: list[QueuedPodInfo], answers: Answers) -> list[Gated]:
        """Ask for members without a standing answer. Returns the refused among those that will be asked each time."""
        gates = entity.gates
        gated: list[Gated] = []
        for info in infos:
            pod, first, plugin = info.pod, info.gating_plugin, ""
            status = self._ask(pod, first)
            if status is not None:
                plugin = status.plugin
                entity.rejected.reject(info, plugin)
            info.gating_plugin = plugin
            scopes = self._scopes.get(pod.scheduler_name, _NO_PLUGINS)
            if not scopes.declared:
                gates.volatile[pod.key] = info
                if status is not None:
                    gated.append((info, status))
            elif status is not None and plugin in scopes.pod:
                gates.held.add(info, self._tree_order)
                gates.held_status[pod.key] = status
            else:
                depth = self._forest.depth(_leaf_of(info))
                answers[pod.scheduler_name, depth] = plugin, status
                key = (pod.scheduler_name, depth, plugin, scopes.passed_all_of_pod(first, plugin))
                cohort = gates.cohorts.get(key)
                if cohort is None:
                    cohort = gates.cohorts[key] = Cohort(plugin=plugin)
                cohort.status = status
                cohort.enter(info, scopes, self._tree_order)
        return gated

    def _last_gated(self, entity: QueuedPodGroupInfo, gated: list[Gated]) -> Status | None:
        """What is said of the last refused member in tree order, None when nobody is refused."""
        gates = entity.gates
        refused = [cohort for cohort in gates.cohorts.values() if cohort.plugin and cohort.members]
        if len(refused) == 1 and not gated and not gates.held.members:  # then the order does not matter
            return refused[0].status
        for cohort in refused:
            assert cohort.status is not None
            gated.append((cohort.last(self._tree_order), cohort.status))
        if gates.held.members:
            last = gates.held.last(self._tree_order)
            gated.append((last, gates.held_status[last.pod.key]))
        return max(gated, key=lambda each: self._tree_order(each[0]))[1] if gated else None

    def _tree_order(self, info: QueuedPodInfo) -> tuple[tuple[tuple[object, ...], ...], MemberOrder]:
        return self._forest.position(_leaf_of(info)), member_order(info)


def _leaf_of(info: QueuedPodInfo) -> EntityKey:
    leaf = info.pod.group_key
    assert leaf is not None
    return leaf


def _scopes_of(framework: QueueFramework) -> Scopes:
    declared = {plugin.name: getattr(plugin, "pre_enqueue_scope", "") for plugin in framework.pre_enqueue_plugins}
    return Scopes(
        order=tuple(declared),
        pod=frozenset(name for name, scope in declared.items() if scope == "pod"),
        tree=tuple(name for name, scope in declared.items() if scope == "tree"),
        declared=all(scope in ("pod", "tree") for scope in declared.values()),
    )
