"""The recursion over a tree: leaf and composite algorithm with PlacementFeasible around each step (spec §4.5, §4.6).

Everything is tentative: failed groups take back what they reserved, and the caller decides about the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define

from gangsched.engine.placement_algorithm import GROUP_UNSCHEDULABLE, best_placement
from gangsched.engine.results import GroupResult
from gangsched.engine.session import Session
from gangsched_framework.cycle_state import PlacementCycleState, PodGroupCycleState
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.placement import Progress
from gangsched_framework.status import SUCCESS, Code, Status, error, unschedulable


@define(eq=False)
class PodGroupAlgorithm:
    """Evaluates one tree. ``leaves`` maps leaf keys to their queued pods in the order to be tried."""

    session: Session
    leaves: Mapping[EntityKey, Sequence[QueuedPodInfo]]

    def run_root(self, tree: PodGroupInfo, state: PodGroupCycleState) -> GroupResult:
        """Evaluate the whole tree (spec §4.9.1). What a success reserved stays: the caller keeps or reverts it."""
        result = self._evaluate(tree, state)
        if result.ok and not result.any_scheduled:
            result.status = unschedulable(GROUP_UNSCHEDULABLE)
        return result

    def _evaluate(self, group: PodGroupInfo, state: PodGroupCycleState) -> GroupResult:
        if self.session.framework.generates_placements:
            return best_placement(self.session, group, state, self.leaves, self._in_placement)
        return self._in_placement(group, PlacementCycleState(state))

    def _in_placement(self, group: PodGroupInfo, state: PlacementCycleState) -> GroupResult:
        mark = self.session.mark()
        trace = self.session.trace
        trace.depth += 1
        result = self._leaf(group, state) if group.is_leaf else self._composite(group, state)
        if not result.ok:
            if self.session.mark() != mark:
                trace.add("revert", group.key, result.status.message)
                self.session.revert(mark)
            result.any_scheduled = False
        trace.depth -= 1
        return result

    def _leaf(self, group: PodGroupInfo, state: PlacementCycleState) -> GroupResult:
        pods = self.leaves.get(group.key, ())
        remaining, scheduled = len(pods), self.session.snapshot.scheduled(group.key)
        result = GroupResult(group, SUCCESS)
        verdict = self._feasible(group, state, remaining, scheduled)
        if _stops(verdict):
            result.status = _pre_check(verdict)
            return result
        for info in pods:
            outcome = self.session.try_pod(info, state)
            result.pods.append(outcome)
            if outcome.status is not None and outcome.status.code is Code.ERROR:
                text = f"failed to schedule other pod from a pod group: {outcome.status.message}"
                result.status = error(text)
                return result
            remaining -= 1
            if outcome.placed:
                scheduled += 1
                result.any_scheduled = True
            verdict = self._feasible(group, state, remaining, scheduled)
            if _stops(verdict):
                break
        result.status = _final(verdict)
        return result

    def _composite(self, group: PodGroupInfo, state: PlacementCycleState) -> GroupResult:
        remaining, scheduled = len(group.children), 0
        result = GroupResult(group, SUCCESS)
        verdict = self._feasible(group, state, remaining, scheduled)
        for child in group.children:
            if _stops(verdict):
                break
            answer = self._evaluate(child, PodGroupCycleState(state))
            if answer.status.code is Code.ERROR:
                text = f"composite pod group evaluation failed due to child error: {answer.status.message}"
                return GroupResult(group, error(text))  # the results below are dropped (spec §4.6.3)
            result.children.append(answer)
            remaining -= 1
            if answer.ok:
                scheduled += 1
                result.any_scheduled = result.any_scheduled or answer.any_scheduled
            verdict = self._feasible(group, state, remaining, scheduled)
        result.status = _final(verdict)
        return result

    def _feasible(self, group: PodGroupInfo, state: PlacementCycleState, remaining: int, scheduled: int) -> Status:
        status = self.session.framework.run_placement_feasible(state, group, Progress(remaining, scheduled)) or SUCCESS
        trace = self.session.trace
        if trace.on:
            trace.add("feasible", group.key, status.code.value, (remaining, scheduled, group.group.required))
        return status


_GO_ON = (Code.SUCCESS, Code.WAIT)
_KNOWN = (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.ERROR)


def _stops(verdict: Status) -> bool:
    return verdict.code not in _GO_ON


def _final(verdict: Status) -> Status:
    """The group's status from its last PlacementFeasible answer (spec §4.5.4-5; DIV-5: UU aborts)."""
    if verdict.code is Code.SUCCESS:
        return SUCCESS
    if verdict.code is Code.WAIT:
        return unschedulable(*verdict.reasons, plugin=verdict.plugin)
    if verdict.code is Code.ERROR:
        return error(f"failed to evaluate placement feasibility: {verdict.message}")
    if verdict.code in _KNOWN:
        return Status(verdict.code, verdict.reasons, verdict.plugin)  # never shared by accident (spec §4.9.2)
    return error(f"unexpected status from PlacementFeasible plugin: {verdict.code.value}")


def _pre_check(verdict: Status) -> Status:
    """A leaf refused before its first pod gets two reasons, any other abort one (spec §4.5.1)."""
    final = _final(verdict)
    if not final.rejected:
        return final
    return Status(final.code, (GROUP_UNSCHEDULABLE, *final.reasons), final.plugin)
