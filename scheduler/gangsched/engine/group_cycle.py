"""The cycle of a PodGroup or a tree, as a straight line a host may walk stage by stage (architecture.md §2-§3).

``pop → snapshot → reconcile → algorithm → complete → post-filter → submit → requeue``: ``Scheduler.pop`` makes the
cycle, ``decide`` ends after the algorithm, ``submit`` does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, evolve, field

from gangsched.engine.child_order import arranged
from gangsched.engine.complete import (
    NOMINATION_CLEARED,
    Completed,
    End,
    Failure,
    Statuses,
    append_reasons,
    complete_groups,
    complete_pods,
)
from gangsched.engine.extra_pods import want_room
from gangsched.engine.memo import MemoKey, Refusal
from gangsched.engine.placement_algorithm import GROUP_UNSCHEDULABLE
from gangsched.engine.podgroup_algorithm import PodGroupAlgorithm
from gangsched.engine.reconcile import TreeError, reconcile, validate
from gangsched.engine.report import CycleReport, GroupVerdict, PodVerdict
from gangsched.engine.results import GroupResult
from gangsched.engine.session import START, Session
from gangsched.engine.submit import Preemptor
from gangsched.engine.tools import Tools
from gangsched_framework.cycle_state import PodGroupCycleState
from gangsched_framework.framework import Framework
from gangsched_framework.infos import PodGroupInfo, PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.interface import PodGroupPostFilterResult, RootAttempt
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.placement import Assignment
from gangsched_framework.status import SUCCESS, Code, Status, error, unschedulable

_UNSCHEDULABLE = Code.UNSCHEDULABLE  # looked up once: see gangsched_framework.status
PostFiltered = tuple[Completed, PodGroupPostFilterResult | None]


@define(eq=False)
class GroupCycle:
    """The cycle of a standalone PodGroup or of a whole tree."""

    tools: Tools
    entity: PoppedPodGroupInfo
    number: int
    time: int
    _tree: PodGroupInfo | None = None
    _leaves: Mapping[EntityKey, Sequence[QueuedPodInfo]] = {}
    _failure: Status | None = None
    _validated: bool = False
    _result: GroupResult | None = None
    _session: Session | None = None
    _version: int = 0
    _key: MemoKey | None = None
    _refusal: Refusal | None = None
    _rehearsal: bool = False
    _framework: Framework = field(init=False)
    _state: PodGroupCycleState = field(init=False)

    # --- decide -----------------------------------------------------------------------------------------------------

    @property
    def holds(self) -> bool:
        """Whether it was evaluated, so that until its submit the node table must stay as it saw it."""
        return self._result is not None

    def decide(self) -> bool:
        """Snapshot, reconcile, validate, skip, algorithm. False when the cycle ends before the algorithm."""
        tools, entity, world = self.tools, self.entity, self.tools.world
        tools.snapshot.refresh()
        pods = [info.pod for infos in entity.leaves.values() for info in infos]
        try:
            tree = self._tree = reconcile(entity.tree, world.forest)
            self._validated = True
            scheduler_name = validate(tree, pods, world.forest, tools.frameworks, tools.policy_gate)
        except TreeError as problem:
            self._failure = error(str(problem))
            tools.trace.add("early", entity.key, str(problem))
            self._log("refused", reason=str(problem))
            return False
        self._leaves = entity.leaves
        not_tried = world.not_tried(pods)
        if not_tried:
            self._skip(not_tried)
        leaves = self._leaves
        if not any(leaves.values()):
            return False
        if tree.children:
            self._tree = arranged(tree, leaves, tools.groups.child_order, world.table)
        algorithm = tools.trees[scheduler_name]
        self._session = session = algorithm.session
        self._framework = session.framework
        if tools.log.on:
            self._log("reconciled", leaves=len(leaves))
        self._version = world.version
        if self._known_refusal() is not None:
            return True
        result = self._result = self._run(algorithm)
        if tools.log.on:
            self._log("decided", root=result.status.code.value)
        if tools.trace.on:
            tools.trace.add("root", entity.key, _text(result.status))
        return True

    def rehearse(self) -> None:
        """Take every step of an attempt up to the submit, for whoever traces it; nothing of it stays."""
        self._rehearsal = True
        if not self.decide() or self._session is None or self._result is None or self._tree is None:
            return
        room = self._room_for_extra_pods(self._result, self._session)
        self._session.revert(START)
        if room is None:
            self._post_filter(self._result.status, complete_groups(self._tree, self._result.by_key()))

    def _known_refusal(self) -> Refusal | None:
        memo = self.tools.memo
        if memo is None or self.tools.trace.on or memo.empty():
            return None
        key = self._memo_key()
        self._refusal = memo.get(key) if key is not None else None
        return self._refusal

    def _memo_key(self) -> MemoKey | None:
        """The key of what was tried: to be asked before submit, which renews the pods."""
        memo = self.tools.memo
        if memo is not None and self._key is None and self._tree is not None:
            self._key = memo.key(self._framework, self._tree, self._leaves)
        return self._key

    def _remember(self, root: Status, raw: Mapping[EntityKey, Code], groups: Statuses, pods: Sequence[End]) -> None:
        """Keep a refusal for equal trees, if the world is still the one it was found in."""
        memo, tree = self.tools.memo, self._tree
        if memo is None or tree is None or self._version != self.tools.world.version:
            return
        refusal = memo.refusal(tree, root, raw, groups, pods)
        if self._key is not None and refusal is not None:
            memo.put(self._framework, self._key, refusal)
            self._refusal = refusal

    def _log(self, event: str, **values: object) -> None:
        self.tools.log.stage(event, self.number, self.entity.key, **values)

    def _skip(self, pods: Sequence[Pod]) -> None:
        """Go on without these."""
        if not self._rehearsal:
            for pod in pods:
                self.tools.submitter.skip(pod)
        gone = {pod.uid for pod in pods}
        leaves = self.entity.leaves.items()
        self._leaves = {leaf: [info for info in infos if info.pod.uid not in gone] for leaf, infos in leaves}

    def _run(self, algorithm: PodGroupAlgorithm) -> GroupResult:
        assert self._tree is not None
        self._state = PodGroupCycleState()
        return algorithm.run_root(self._tree, self._leaves, self._state)

    def _rerun(self, more_than: int = -1) -> RootAttempt:
        """The scheduling function of the post-filter: the same algorithm on the snapshot as it stands.

        It fails, too, unless it places more pods than ``more_than``.
        """
        assert self._session is not None
        session, mark = self._session.preparing(), self.tools.snapshot.mark()
        result = self._run(PodGroupAlgorithm(session, self.tools.groups))
        session.revert(mark)
        if result.ok and len(result.placed()) <= more_than:
            return RootAttempt(unschedulable("no further pod would find a node"), (), ())
        found = result.found()
        assignments = tuple(Assignment(p.info.pod, p.node) for p in found)
        return RootAttempt(result.status, assignments, tuple(p.state for p in found))

    # --- submit -----------------------------------------------------------------------------------------------------

    def submit(self) -> CycleReport:
        """Complete, post-filter, submit, requeue."""
        if self._refusal is not None:
            report = self._repeat(self._refusal)
        elif self._result is None:
            report = self._end_early()
        else:
            report = self._submit(self._result)
        return report

    def _end_early(self) -> CycleReport:
        """A broken tree fails every pod, nothing left to try ends in Success (spec §4.1, §4.4)."""
        failure = self._failure
        if failure is None:
            self.tools.queue.add_attempted(self.entity, SUCCESS)
            return self._report(None, {}, {}, {})
        end, fail = Failure(failure, NOMINATION_CLEARED), self.tools.submitter.fail
        pods = {info.pod.key: fail(info, end) for info in self.entity.members()}
        if self._tree is not None and self._validated:
            for group in self._tree.walk():
                self.tools.submitter.write_group(group.group, failure)
        self.tools.queue.add_attempted(self.entity, failure)
        return self._report(failure, {}, {}, pods, early=True)

    def _submit(self, result: GroupResult) -> CycleReport:
        tools, tree, session = self.tools, self._tree, self._session
        assert tree is not None
        assert session is not None
        room = self._room_for_extra_pods(result, session)
        root_status = result.status
        rejected = False
        if not root_status.ok:
            session.revert(START)
            rejected = root_status.rejected
        evaluated = result.by_key()
        groups, found = room or self._post_filter(root_status, complete_groups(tree, evaluated))
        counted = tools.let_go(session)
        ends = complete_pods(tree, evaluated, self._leaves, groups)
        if tools.log.on:
            self._log("completed", groups=len(groups.after), pods=len(ends))
        if rejected:
            self._memo_key()
        pods = tools.submitter.submit(self._framework, ends, counted)
        if found is not None:
            by = Preemptor(tree.key, tree.group.uid, self._framework.profile.scheduler_name)
            tools.submitter.evict(found.victims, by, "cluster")
        verdicts: dict[EntityKey, GroupVerdict] = {}
        raw: dict[EntityKey, Code] = {}
        final, waiting, write = groups.after, groups.nominations is not None, tools.submitter.write_group
        for info in tree.walk():
            key = info.key
            status, tried = final[key], evaluated.get(key)
            write(info.group, status)
            verdicts[key] = GroupVerdict(status, waiting)
            if tried is not None:
                raw[key] = tried.status.code
        if tools.log.on:
            self._log("submitted", pods=len(pods))
        tools.queue.add_attempted(self.entity, root_status)
        if tools.log.on:
            self._log("requeued", root=root_status.code.value)
        if rejected and found is None:
            self._remember(root_status, raw, groups.after, ends)
            self._lay_down()
        return self._report(root_status, raw, verdicts, pods)

    def _room_for_extra_pods(self, result: GroupResult, session: Session) -> PostFiltered | None:
        """The post-filter's answer when it makes room for what a satisfied gang could not place; else None.

        Nothing is bound in a cycle that preempts, so the root is refused then, as if none had found a node.
        """
        tools, tree = self.tools, self._tree
        assert tree is not None
        if tools.groups.extra_pod_preemption == "nonePlaced" or not want_room(result, self._leaves, tools.world.forest):
            return None
        steps, placed = tools.snapshot.steps_since(START), len(result.placed())
        session.revert(START)
        success, result.status = result.status, unschedulable(GROUP_UNSCHEDULABLE)
        answer = self._post_filter(result.status, complete_groups(tree, result.by_key()), more_than=placed)
        if answer[0].nominations is not None:
            return answer
        result.status = session.reapply(result, steps) or success
        return None

    def _repeat(self, refusal: Refusal) -> CycleReport:
        """The refusal an equal tree met in this very world, submitted as if it had been found again."""
        tools, tree = self.tools, self._tree
        assert tree is not None
        queued = [info for leaf in tree.leaves() for info in self._leaves.get(leaf.key, ())]
        pods = tools.submitter.submit(self._framework, [*zip(queued, refusal.pods, strict=True)])
        groups: Statuses = {}
        for info, status in zip(tree.walk(), refusal.groups, strict=True):
            groups[info.key] = status
            tools.submitter.write_group(info.group, status)
        tools.queue.add_attempted(self.entity, refusal.root)
        self._lay_down()
        raw = {key: code for key, code in zip(groups, refusal.raw, strict=True) if code is not None}
        verdicts = {key: GroupVerdict(status) for key, status in groups.items()}
        return self._report(refusal.root, raw, verdicts, pods)

    def _lay_down(self) -> None:
        idle = self.tools.idle
        if idle is not None and self._key is not None and self._refusal is not None:
            idle.lay_down(self._framework, self.entity.key, self._key, self._refusal)

    def _post_filter(self, root: Status, before: Statuses, more_than: int = -1) -> PostFiltered:
        """Only when the root is exactly Unschedulable (spec §4.9.2). ``more_than``: see ``_rerun``."""
        if root.code is not _UNSCHEDULABLE:
            return Completed(before, before), None
        framework = self._framework
        entity = self.entity
        if self._leaves is not entity.leaves:  # who is skipped holds no place for the tree any more (spec §4.1, §5.1.4)
            entity = evolve(entity, leaves={leaf: list(infos) for leaf, infos in self._leaves.items() if infos})
        result, status = framework.run_pod_group_post_filter(self._state, entity, lambda: self._rerun(more_than))
        message = status.message if status is not None else ""
        self.tools.trace.add("post-filter", self.entity.key, message)
        self._log("post_filtered", reason=message)
        if status is not None and status.code is Code.ERROR:
            return Completed(before, dict.fromkeys(before, status)), None
        nominations = result.nominations if result is not None and (status is None or status.ok) else None
        return Completed(before, append_reasons(before, message), nominations), result

    def _report(
        self,
        root: Status | None,
        raw: Mapping[EntityKey, Code],
        groups: Mapping[EntityKey, GroupVerdict],
        pods: Mapping[str, PodVerdict],
        *,
        early: bool = False,
    ) -> CycleReport:
        entity, decisions, trace = self.entity, self.tools.outbox.take(), self.tools.trace.take()
        number, time, key, attempt = self.number, self.time, entity.key, entity.attempts
        return CycleReport(number, time, key, attempt, early, root, raw, groups, pods, decisions, trace)


def _text(status: Status) -> str:
    return f"{status.code.value} {status.message}".strip()
