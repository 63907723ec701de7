"""One cycle, as a straight line a host may walk stage by stage (architecture.md §2-§3).

``pop → snapshot → reconcile → algorithm → complete → post-filter → submit → requeue``: ``Scheduler.pop`` makes the
cycle, ``decide`` ends after the algorithm, ``submit`` does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field

from gangsched.engine.complete import Completed, FinalPod, append_reasons, complete_groups, complete_pods
from gangsched.engine.outbox import Outbox
from gangsched.engine.pod_algorithm import PodAlgorithm
from gangsched.engine.podgroup_algorithm import PodGroupAlgorithm
from gangsched.engine.reconcile import TreeError, reconcile, validate
from gangsched.engine.report import CycleReport, GroupVerdict, PodVerdict
from gangsched.engine.results import GroupResult, PodOutcome
from gangsched.engine.session import START, Session
from gangsched.engine.stage_log import StageLog
from gangsched.engine.submit import NOMINATION_CLEARED, Preemptor, Submitter
from gangsched.engine.trace import Tracer
from gangsched.engine.world import World
from gangsched_framework.cycle_state import PodGroupCycleState
from gangsched_framework.framework import Framework
from gangsched_framework.infos import PodGroupInfo, PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.interface import PodGroupPostFilterResult, RootAttempt
from gangsched_framework.objects import EntityKey
from gangsched_framework.placement import Assignment
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.status import SUCCESS, Code, Status, error, unschedulable
from gangsched_queue.scheduling_queue import SchedulingQueue


@define(eq=False)
class Tools:
    """What a cycle works with; owned by the Scheduler."""

    world: World
    snapshot: Snapshot
    queue: SchedulingQueue
    algorithm: PodAlgorithm
    submitter: Submitter
    outbox: Outbox
    trace: Tracer
    frameworks: Mapping[str, Framework]
    log: StageLog
    policy_gate: bool = False

    def let_go(self, session: Session) -> bool:
        """End the hold on the world. Whether the reservations of the session stay counted on their nodes.

        They do when nothing happened meanwhile; else they are taken back first, so that what waited meets the world as
        it was, and submit counts each pod anew.
        """
        counted = self.world.undisturbed
        if counted:
            session.commit()
        else:
            session.revert(START)
        self.world.release()
        return counted


@define(eq=False)
class PodCycle:
    """The cycle of a plain pod."""

    tools: Tools
    entity: QueuedPodInfo
    number: int
    time: int
    _outcome: PodOutcome | None = None
    _session: Session | None = None

    def decide(self) -> bool:
        """Find a node. False when the pod is skipped."""
        tools, pod = self.tools, self.entity.pod
        if pod.deleting or tools.world.is_assumed(pod):
            return False
        tools.snapshot.refresh()
        tools.world.hold()
        self._session = Session(self._framework, tools.snapshot, tools.algorithm, tools.trace)
        self._outcome = self._session.try_pod(self.entity)
        self._log("decided", node=self._outcome.node)
        return True

    def _log(self, event: str, **values: object) -> None:
        self.tools.log.stage(event, self.number, self.entity.key, **values)

    @property
    def _framework(self) -> Framework:
        return self.tools.frameworks[self.entity.pod.scheduler_name]

    def submit(self) -> CycleReport:
        """Post-filter, then bind or return the pod to the queue."""
        tools, pod = self.tools, self.entity.pod
        pods: dict[str, PodVerdict] = {}
        outcome = self._outcome
        if outcome is None:
            tools.submitter.skip(pod)
        elif outcome.placed:
            assert self._session is not None
            counted = tools.let_go(self._session)
            pods[pod.key] = tools.submitter.bind(
                self._framework, self.entity, outcome.state, outcome.node, counted=counted
            )
        else:
            pods[pod.key] = self._refused(outcome)
        tools.queue.forget_popped()
        self._log("submitted", bound=int(outcome is not None and outcome.placed))
        return CycleReport(
            cycle=self.number,
            time=self.time,
            entity=self.entity.key,
            attempt=self.entity.attempts,
            pods=pods,
            decisions=tools.outbox.take(),
            trace=tools.trace.take(),
        )

    def _refused(self, outcome: PodOutcome) -> PodVerdict:
        tools, status, fit_error = self.tools, outcome.status, outcome.fit_error
        assert status is not None
        nominate = NOMINATION_CLEARED if outcome.clear_nomination else None
        if fit_error is None or not self._framework.has_post_filter:
            tools.world.release()
            return tools.submitter.fail(self.entity, status, nominate, fit_error)
        pod = self.entity.pod
        result, answer = self._framework.run_post_filter(outcome.state, pod, fit_error.node_statuses)
        tools.world.release()
        if answer is not None and answer.message:
            status = unschedulable(f"{status.message} {answer.message}")
        if result is not None:
            nominate = result.nominated_node
            tools.submitter.evict(
                result.victims, Preemptor(pod.entity_key, pod.uid, pod.scheduler_name), nominate or ""
            )
            tools.submitter.clear_nominations(result.cleared)
        return tools.submitter.fail(self.entity, status, nominate, fit_error)


@define(eq=False)
class GroupCycle:
    """The cycle of a standalone PodGroup or of a whole tree."""

    tools: Tools
    entity: PoppedPodGroupInfo
    number: int
    time: int
    _tree: PodGroupInfo | None = None
    _leaves: dict[EntityKey, list[QueuedPodInfo]] = field(factory=dict)
    _failure: Status | None = None
    _validated: bool = False
    _result: GroupResult | None = None
    _session: Session | None = None
    _framework: Framework = field(init=False)
    _state: PodGroupCycleState = field(factory=PodGroupCycleState)

    # --- decide -----------------------------------------------------------------------------------------------------

    def decide(self) -> bool:
        """Snapshot, reconcile, validate, skip, algorithm. False when the cycle ends before the algorithm."""
        tools = self.tools
        tools.snapshot.refresh()
        try:
            self._tree = reconcile(self.entity.tree, tools.world.forest)
            self._validated = True
            validate(self._tree, self.entity, tools.world.forest, tools.frameworks, tools.policy_gate)
        except TreeError as problem:
            self._failure = error(str(problem))
            tools.trace.add("early", self.entity.key, str(problem))
            self._log("refused", reason=str(problem))
            return False
        self._leaves = {leaf: self._to_try(infos) for leaf, infos in self.entity.leaves.items()}
        if not any(self._leaves.values()):
            return False
        first = next(info for infos in self._leaves.values() for info in infos)
        self._framework = tools.frameworks[first.pod.scheduler_name]
        tools.world.hold()
        self._log("reconciled", leaves=len(self._leaves))
        self._session, self._result = self._run()
        self._log("decided", root=self._result.status.code.value)
        if tools.trace.on:
            tools.trace.add("root", self.entity.key, _text(self._result.status))
        return True

    def _log(self, event: str, **values: object) -> None:
        self.tools.log.stage(event, self.number, self.entity.key, **values)

    def _to_try(self, infos: Sequence[QueuedPodInfo]) -> list[QueuedPodInfo]:
        """Without pods being deleted or already assumed (spec §4.4)."""
        kept = []
        for info in infos:
            if info.pod.deleting or self.tools.world.is_assumed(info.pod):
                self.tools.submitter.skip(info.pod)
            else:
                kept.append(info)
        return kept

    def _run(self, *, prepare: bool = False) -> tuple[Session, GroupResult]:
        assert self._tree is not None
        tools = self.tools
        session = Session(self._framework, tools.snapshot, tools.algorithm, tools.trace, prepare)
        self._state = PodGroupCycleState()
        return session, PodGroupAlgorithm(session, self._leaves).run_root(self._tree, self._state)

    def _rerun(self) -> RootAttempt:
        """The scheduling function of the post-filter: the same algorithm on the snapshot as it stands."""
        mark = self.tools.snapshot.mark()
        session, result = self._run(prepare=True)
        session.revert(mark)
        found = result.found()
        assignments = tuple(Assignment(p.info.pod, p.node) for p in found)
        return RootAttempt(result.status, assignments, tuple(p.state for p in found))

    # --- submit -----------------------------------------------------------------------------------------------------

    def submit(self) -> CycleReport:
        """Complete, post-filter, submit, requeue."""
        if self._result is None:
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
        finals = [FinalPod(info, None, failure, NOMINATION_CLEARED) for info in self.entity.members()]
        pods = self._submit_pods(finals)
        if self._tree is not None and self._validated:
            for group in self._tree.walk():
                self.tools.submitter.write_group(group.key, failure)
        self.tools.queue.add_attempted(self.entity, failure)
        return self._report(failure, {}, {}, pods, early=True)

    def _submit(self, result: GroupResult) -> CycleReport:
        tools, tree, session = self.tools, self._tree, self._session
        assert tree is not None
        assert session is not None
        root_status = result.status
        evaluated = result.by_key()
        before = complete_groups(tree, evaluated)
        if not result.ok:
            session.revert(START)
        groups, found = self._post_filter(root_status, before)
        counted = tools.let_go(session)
        finals = complete_pods(tree, evaluated, self._leaves, groups)
        self._log("completed", groups=len(groups.after), pods=len(finals))
        pods = self._submit_pods(finals, counted=counted)
        if found is not None:
            by = Preemptor(tree.key, tree.group.uid, self._framework.profile.scheduler_name)
            tools.submitter.evict(found.victims, by, "cluster")
        for info in tree.walk():
            tools.submitter.write_group(info.key, groups.after[info.key])
        self._log("submitted", pods=len(pods))
        tools.queue.add_attempted(self.entity, root_status)
        self._log("requeued", root=root_status.code.value)
        waiting = groups.nominations is not None
        verdicts = {key: GroupVerdict(status, waiting) for key, status in groups.after.items()}
        return self._report(root_status, {key: r.status.code for key, r in evaluated.items()}, verdicts, pods)

    def _post_filter(
        self, root: Status, before: dict[EntityKey, Status]
    ) -> tuple[Completed, PodGroupPostFilterResult | None]:
        """Only when the root is exactly Unschedulable (spec §4.9.2)."""
        if root.code is not Code.UNSCHEDULABLE:
            return Completed(before, before), None
        framework = self._framework
        result, status = framework.run_pod_group_post_filter(self._state, self.entity, self._rerun)
        message = status.message if status is not None else ""
        self.tools.trace.add("post-filter", self.entity.key, message)
        self._log("post_filtered", reason=message)
        if status is not None and status.code is Code.ERROR:
            return Completed(before, dict.fromkeys(before, status)), None
        nominations = result.nominations if result is not None and (status is None or status.ok) else None
        return Completed(before, append_reasons(before, message), nominations), result

    def _submit_pods(self, finals: Sequence[FinalPod], *, counted: bool = False) -> dict[str, PodVerdict]:
        pods: dict[str, PodVerdict] = {}
        submitter = self.tools.submitter
        for final in finals:
            key = final.info.pod.key
            if final.status is None:
                outcome = final.outcome
                assert outcome is not None
                pods[key] = submitter.bind(self._framework, final.info, outcome.state, outcome.node, counted=counted)
            else:
                pods[key] = submitter.fail(final.info, final.status, final.nominate, final.fit_error)
        return pods

    def _report(
        self,
        root: Status | None,
        raw: Mapping[EntityKey, Code],
        groups: Mapping[EntityKey, GroupVerdict],
        pods: Mapping[str, PodVerdict],
        *,
        early: bool = False,
    ) -> CycleReport:
        return CycleReport(
            cycle=self.number,
            time=self.time,
            entity=self.entity.key,
            attempt=self.entity.attempts,
            early=early,
            root=root,
            raw=raw,
            groups=groups,
            pods=pods,
            decisions=self.tools.outbox.take(),
            trace=self.tools.trace.take(),
        )


Cycle = PodCycle | GroupCycle


def _text(status: Status) -> str:
    return f"{status.code.value} {status.message}".strip()


__all__ = ["Cycle", "GroupCycle", "PodCycle", "Tools"]
