"""The recursion over a tree: leaf and composite algorithm with PlacementFeasible around each step (spec §4.5, §4.6).

Everything is tentative: failed groups take back what they reserved, and the caller decides about the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field

from gangsched.engine.placement_algorithm import GROUP_UNSCHEDULABLE, best_placement, infeasible
from gangsched.engine.results import GroupResult, PodOutcome
from gangsched.engine.session import START, Session
from gangsched.engine.settings import GroupScheduling
from gangsched_framework.cycle_state import PlacementCycleState, PodGroupCycleState
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.placement import Progress
from gangsched_framework.status import SUCCESS, Code, Status, error, unschedulable

_SUCCESS, _ERROR, _WAIT = Code.SUCCESS, Code.ERROR, Code.WAIT  # as in status.py
_GO_ON = (_SUCCESS, _WAIT)
_FINAL = (_SUCCESS, _ERROR)
_KNOWN = (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, _ERROR)


@define(eq=False)
class PodGroupAlgorithm:
    """Evaluates trees of one profile, one after the other. ``_leaves`` maps the leaf keys of the one in hand to their
    queued pods in the order to be tried."""

    session: Session
    choices: GroupScheduling
    _leaves: Mapping[EntityKey, Sequence[QueuedPodInfo]] = {}
    _minimal: bool = False
    """The first of two passes: each group stops as soon as it has its minimum."""
    _steady: bool = field(init=False)
    """Whether who is asked goes on, or does not, as before when a child has found its place
    (``declarations.KeepsToPlacement``), so that he need not be asked; the oracle asks."""
    _sure: bool = False
    """The same, in the pass that is going on."""

    def __attrs_post_init__(self) -> None:
        session = self.session
        keeps = session.framework.goes_on_when_placed and session.algorithm.columns is not None
        self._steady = keeps and self.choices.pre_check

    def run_root(
        self, tree: PodGroupInfo, leaves: Mapping[EntityKey, Sequence[QueuedPodInfo]], state: PodGroupCycleState
    ) -> GroupResult:
        """Evaluate the whole tree (spec §4.9.1). What a success reserved stays: the caller keeps or reverts it."""
        self._leaves = leaves
        self._begin_pass(self.choices.evaluation == "doubleRun")
        mark = self.session.snapshot.mark() if self._minimal else START
        result = self._evaluate(tree, state)
        if self._minimal and result.ok:
            self._begin_pass(False)
            self.session.trace.add("pass", tree.key, "second: what is left, beside the minimum")
            self._fill(result, state)
            if not result.ok:
                self.session.revert(mark)
        if result.status.ok and not result.any_scheduled:
            result.status = unschedulable(GROUP_UNSCHEDULABLE)
        return result

    def _begin_pass(self, minimal: bool) -> None:
        self._minimal = minimal
        self._sure = self._steady and not (minimal or self.session.trace.on)  # who traces wants to hear it

    def _evaluate(self, group: PodGroupInfo, state: PodGroupCycleState) -> GroupResult:
        """The group in the best of its placements; the parent's is the only one of a group that wants no other (§6)."""
        session = self.session
        framework, snapshot = session.framework, session.snapshot
        if not framework.evaluates_placements:
            return self._in_placement(group, PlacementCycleState(state))
        parent = snapshot.placement
        placements, status = framework.run_generate_placements(state, group, parent)
        if status is not None:
            return GroupResult(group, status)
        if len(placements) != 1:
            evaluate, remembers = self._in_placement, not self._minimal
            # a remembered result does not say where it stands, which the second pass must know
            return best_placement(session, group, state, placements, self._leaves, evaluate, remembers)
        placement = placements[0]
        if session.trace.on:
            session.trace.add("placement", group.key, placement.name)
        if placement is not parent:
            snapshot.enter(placement)
        result = self._in_placement(group, PlacementCycleState(state))
        result.placement = placement
        if placement is not parent:
            snapshot.enter(parent)
        return result if result.status.code in _FINAL else infeasible(result, 1)

    def _in_placement(self, group: PodGroupInfo, state: PlacementCycleState) -> GroupResult:
        snapshot, trace = self.session.snapshot, self.session.trace
        mark = snapshot.mark()
        trace.depth += 1
        result = self._leaf(group, state) if group.is_leaf else self._composite(group, state)
        if not result.status.ok:
            if snapshot.mark() != mark:
                trace.add("revert", group.key, result.status.message)
                self.session.revert(mark)
            result.any_scheduled = False
        trace.depth -= 1
        return result

    def _leaf(self, group: PodGroupInfo, state: PlacementCycleState) -> GroupResult:
        pods = self._leaves.get(group.key, ())
        remaining, scheduled = len(pods), self.session.snapshot.scheduled(group.key)
        result = GroupResult(group, SUCCESS)
        if self._sure and remaining and self._all_ahead(result, pods, state, scheduled):
            return result
        verdict = self._before(group, state, remaining, scheduled)
        if _stops(verdict):
            result.status = _pre_check(verdict)
            return result
        while remaining and not (self._minimal and verdict.code is _SUCCESS):
            tried = self._try_pods(result, pods, state, together=self._sure)
            remaining -= len(tried)
            if tried[-1].status is None:
                scheduled += len(tried)
                if self._sure and remaining:
                    continue
            elif result.status.code is _ERROR:
                return result
            verdict = self._feasible(group, state, remaining, scheduled)
            if _stops(verdict):
                break
        result.status = _final(verdict)
        return result

    def _all_ahead(
        self, result: GroupResult, pods: Sequence[QueuedPodInfo], state: PlacementCycleState, scheduled: int
    ) -> bool:
        """Place all pods of a leaf at once, if their nodes are known ahead: whoever goes on then has gone on before.

        False, and nothing is done, when they are not known, or somebody stops: he is to be asked from the beginning.
        """
        session = self.session
        placed = session.try_ahead(pods, 0, len(pods))
        if not placed:
            return False
        verdict = self._feasible(result.info, state, 0, scheduled + len(placed))
        if _stops(verdict):
            session.revert(session.snapshot.mark() - len(placed))
            return False
        result.pods, result.any_scheduled, result.status = placed, True, _final(verdict)
        return True

    def _try_pods(
        self, result: GroupResult, pods: Sequence[QueuedPodInfo], state: PlacementCycleState, *, together: bool = False
    ) -> list[PodOutcome]:
        """Place the next pod of a leaf; its Error is the leaf's (spec §4.5.2). ``together``: or some, which all find a
        node."""
        at, session = len(result.pods), self.session
        tried = session.try_ahead(pods, at) if together else []
        if not tried:
            tried = [session.try_pod(pods[at], state)]
        result.pods += tried
        status = tried[-1].status
        if status is None:
            result.any_scheduled = True
        elif status.code is _ERROR:
            result.status = error(f"failed to schedule other pod from a pod group: {status.message}")
        return tried

    def _composite(self, group: PodGroupInfo, state: PlacementCycleState) -> GroupResult:
        remaining, scheduled = len(group.children), 0
        result = GroupResult(group, SUCCESS)
        verdict = self._before(group, state, remaining, scheduled)
        for child in group.children:
            if _stops(verdict) or (self._minimal and verdict.code is _SUCCESS):
                break
            answer = self._evaluate(child, PodGroupCycleState(state))
            if answer.status.code is _ERROR:
                return _broken_by(answer, group)
            result.children.append(answer)
            remaining -= 1
            if answer.status.ok:
                scheduled += 1
                result.any_scheduled = result.any_scheduled or answer.any_scheduled
                if self._sure and remaining:
                    continue
            verdict = self._feasible(group, state, remaining, scheduled)
        result.status = _final(verdict)
        return result

    # --- the second pass (evaluation: doubleRun) ----------------------------------------------------------------------

    def _fill(self, result: GroupResult, state: PodGroupCycleState) -> None:
        """Place what the first pass left of a group that has its minimum, inside the placement it was given.

        PlacementFeasible is not asked about the group again, for its minimum stands. An Error becomes its status.
        """
        snapshot, trace = self.session.snapshot, self.session.trace
        previous = snapshot.enter(result.placement or snapshot.placement)
        inside = PlacementCycleState(state)
        trace.depth += 1
        if result.info.is_leaf:
            self._fill_leaf(result, inside)
        else:
            self._fill_composite(result, inside)
        trace.depth -= 1
        snapshot.enter(previous)

    def _fill_leaf(self, result: GroupResult, state: PlacementCycleState) -> None:
        pods = self._leaves.get(result.info.key, ())
        while len(result.pods) < len(pods) and result.ok:
            self._try_pods(result, pods, state)

    def _fill_composite(self, result: GroupResult, state: PlacementCycleState) -> None:
        """Children that have their minimum get more; those the first pass did not come to get their turn."""
        tried = len(result.children)
        for at, child in enumerate(result.info.children):
            if at >= tried:
                result.children.append(self._evaluate(child, PodGroupCycleState(state)))
            elif result.children[at].ok:
                self._fill(result.children[at], PodGroupCycleState(state))
            answer = result.children[at]
            if answer.status.code is _ERROR:
                broken = _broken_by(answer, result.info)
                result.status, result.children = broken.status, broken.children
                return
            result.any_scheduled = result.any_scheduled or (answer.ok and answer.any_scheduled)

    # --- PlacementFeasible --------------------------------------------------------------------------------------------

    def _before(self, group: PodGroupInfo, state: PlacementCycleState, count: int, scheduled: int) -> Status:
        """The check before the first child; without it Success, unless there is no child to be asked about later.

        The first of two passes asks in any case: a group that has its minimum already is to get nothing yet.
        """
        if self.choices.pre_check or self._minimal or not count:
            return self._feasible(group, state, count, scheduled)
        return SUCCESS

    def _feasible(self, group: PodGroupInfo, state: PlacementCycleState, remaining: int, scheduled: int) -> Status:
        status = self.session.framework.run_placement_feasible(state, group, Progress(remaining, scheduled)) or SUCCESS
        trace = self.session.trace
        if trace.on:
            trace.add("feasible", group.key, status.code.value, (remaining, scheduled, group.group.required))
        return status


def _broken_by(child: GroupResult, group: PodGroupInfo) -> GroupResult:
    """The Error of a child is its parent's, and the results below the parent are dropped (spec §4.6.3)."""
    return GroupResult(
        group, error(f"composite pod group evaluation failed due to child error: {child.status.message}")
    )


def _stops(verdict: Status) -> bool:
    return verdict.code not in _GO_ON


def _final(verdict: Status) -> Status:
    """The group's status from its last PlacementFeasible answer (spec §4.5.4-5; DIV-5: UU aborts)."""
    if verdict.ok:
        return SUCCESS
    if verdict.code is _WAIT:
        return unschedulable(*verdict.reasons, plugin=verdict.plugin)
    if verdict.code is _ERROR:
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
