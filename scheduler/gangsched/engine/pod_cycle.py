"""The cycle of a plain pod: the same straight line as a tree's, with a post-filter of its own."""

from __future__ import annotations

from attrs import define

from gangsched.engine.complete import NOMINATION_CLEARED, Failure
from gangsched.engine.report import CycleReport, PodVerdict, Refused, report_of_pod
from gangsched.engine.results import PodOutcome
from gangsched.engine.session import START, Session
from gangsched.engine.submit import Preemptor
from gangsched.engine.tools import Tools
from gangsched_framework.framework import Framework
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.interface import PostFilterResult
from gangsched_framework.status import FitError, unschedulable


@define(eq=False)
class PodCycle:
    """The cycle of a plain pod."""

    tools: Tools
    entity: QueuedPodInfo
    number: int
    time: int
    _outcome: PodOutcome | None = None
    _session: Session | None = None

    @property
    def holds(self) -> bool:
        """Whether it was evaluated, so that until its submit the node table must stay as it saw it."""
        return self._outcome is not None

    def decide(self) -> bool:
        """Find a node. False when the pod is skipped."""
        tools, pod = self.tools, self.entity.pod
        if pod.deletion_timestamp is not None or tools.world.is_placed(pod):
            return False
        tools.snapshot.refresh()
        self._session = session = tools.sessions[pod.scheduler_name]
        outcome = self._outcome = session.try_pod(self.entity)
        if tools.log.on:
            self._log("decided", node=outcome.node)
        return True

    def rehearse(self) -> None:
        """Take every step of an attempt up to the submit, for whoever traces it; nothing of it stays."""
        if not self.decide() or self._session is None or self._outcome is None:
            return
        self._session.revert(START)
        if self._outcome.fit_error is not None:
            self._post_filter(self._outcome, self._outcome.fit_error)

    def _log(self, event: str, **values: object) -> None:
        self.tools.log.stage(event, self.number, self.entity.key, **values)

    @property
    def _framework(self) -> Framework:
        return self.tools.frameworks[self.entity.pod.scheduler_name]

    def submit(self) -> CycleReport:
        """Post-filter, then bind or return the pod to the queue."""
        tools, entity, outcome = self.tools, self.entity, self._outcome
        pods: dict[str, PodVerdict] = {}
        if outcome is None:
            tools.submitter.skip(entity.pod)
        elif outcome.status is None:
            session = self._session
            assert session is not None
            pods[entity.pod.key] = tools.submitter.bind(session.framework, outcome, tools.let_go(session))
        else:
            pods[entity.pod.key] = self._refused(outcome)
        if tools.log.on:
            self._log("submitted", bound=int(outcome is not None and outcome.placed))
        trace = tools.trace.take() if tools.trace.on else ()
        return report_of_pod(self.number, self.time, entity, pods, tools.outbox.take(), trace)

    def _refused(self, outcome: PodOutcome) -> Refused:
        tools, status, fit_error = self.tools, outcome.status, outcome.fit_error
        assert status is not None
        nominate = NOMINATION_CLEARED if outcome.clear_nomination else None
        if fit_error is None:
            tools.world.release()
            return tools.submitter.fail(self.entity, Failure(status, nominate))
        if not self._framework.has_post_filter:  # nobody could keep the promise (v1.37.2)
            nominate = NOMINATION_CLEARED
        pod = self.entity.pod
        result, message = self._post_filter(outcome, fit_error)
        tools.world.release()
        if message:
            status = unschedulable(f"{status.message} {message}")
        if result is not None:
            nominate = result.nominated_node
            tools.submitter.evict(
                result.victims, Preemptor(pod.entity_key, pod.uid, pod.scheduler_name), nominate or ""
            )
            tools.submitter.clear_nominations(result.cleared)
        return tools.submitter.fail(self.entity, Failure(status, nominate, fit_error))

    def _post_filter(self, outcome: PodOutcome, fit_error: FitError) -> tuple[PostFilterResult | None, str]:
        if not self._framework.has_post_filter:
            return None, ""
        result, answer = self._framework.run_post_filter(outcome.state, self.entity.pod, fit_error.node_statuses)
        message = answer.message if answer is not None else ""
        if message:
            self.tools.trace.add("post-filter", self.entity.key, message)
        return result, message
