"""Preemption for a plain pod: one node after another (spec node-plugins.md §8.3, podgroup-scheduling.md §5.5)."""

from __future__ import annotations

from collections.abc import Mapping

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Handle
from gangsched_framework.interface import PostFilterResult
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.status import Code, FitError, Status, error, unresolvable, unschedulable
from gangsched_plugins.default_preemption.candidates import Candidate
from gangsched_plugins.default_preemption.disruption import Budgets
from gangsched_plugins.default_preemption.trial import Seat, Trial
from gangsched_plugins.default_preemption.units import UnitFinder, pods_of, terminating_by_preemption

PREFIX = "preemption: "
_NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
_NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")


class PodPreemption:
    """One attempt for one pod. ``statuses``: why each node refused it; absent nodes were excluded."""

    def __init__(
        self, handle: Handle, framework: Framework, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> None:
        self._handle = handle
        self._snapshot = handle.snapshot
        self._state = state
        self._pod = pod
        self._statuses = statuses
        self._trial = Trial(framework, handle.snapshot)
        self._units = UnitFinder(handle.forest, handle.snapshot)
        self._budgets = Budgets(handle.disruption_budgets)

    def run(self, percentage: int, absolute: int) -> tuple[PostFilterResult | None, Status]:
        """Find the best node. The search ends when max(``percentage`` of the nodes, ``absolute``) candidates are found.

        Not eligible: the nomination stays. No candidate: it is cleared.
        """
        refused = self._not_eligible()
        if refused:
            return None, unschedulable(PREFIX + refused)
        nodes = self._snapshot.nodes
        helpful = [node for node in nodes if self._status_code(node) is Code.UNSCHEDULABLE]
        wanted = max(len(helpful) * percentage // 100, absolute)
        found: list[Candidate] = []
        failed: dict[str, Status] = {}
        for node in helpful:
            answer = self._try_node(node)
            if isinstance(answer, Status):
                failed[node.name] = answer
                continue
            found.append(answer)
            if len(found) >= wanted and any(not candidate.violations for candidate in found):
                break
        if found:
            return self._choose(found)
        broken = next((status for status in failed.values() if not status.rejected), None)
        if broken is not None:
            return None, error(PREFIX + broken.message)
        fit_error = FitError(len(nodes), failed, excluded=_NOT_HELPFUL, excluded_count=len(nodes) - len(helpful))
        return PostFilterResult(nominated_node=""), unschedulable(PREFIX + fit_error.message)

    def _status_code(self, node: NodeInfo) -> Code | None:
        status = self._statuses.get(node.name)
        return None if status is None else status.code

    def _not_eligible(self) -> str:
        pod = self._pod
        if pod.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        node = self._snapshot.node(pod.status.nominated_node_name)
        # A nominated node that is out of question by now need not be waited for (spec §5.8.2).
        if node is None or self._status_code(node) is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        for other in node.pods.values():
            if terminating_by_preemption(other) and self._units.priority(other) < pod.priority:
                return "not eligible due to a terminating pod on the nominated node."
        return ""

    def _try_node(self, node: NodeInfo) -> Candidate | Status:
        """Take every lesser unit off the node, then give back what may stay, the most important first."""
        units = self._units.on_node(node, self._pod.priority)
        if not units:
            return _NO_VICTIMS
        mark = self._snapshot.mark()
        seats = [Seat(self._pod, node, self._state.clone())]
        try:
            for unit in units:
                broken = self._trial.take(unit, seats)
                if broken is not None:
                    return broken
            refusal = self._trial.refusal(seats)
            if refusal is not None:
                return refusal
            violating, others = self._budgets.split(units)
            protected = self._trial.reprieve(violating, seats)
            if isinstance(protected, Status):
                return protected
            victims = self._trial.reprieve(others, seats)
            if isinstance(victims, Status):
                return victims
        finally:
            self._snapshot.rollback(mark)
        if not protected and not victims:
            return error(f'expected at least one victim pod on node "{node.name}"')
        ranked = sorted((*protected, *victims), key=lambda unit: unit.rank)
        return Candidate(node, tuple(ranked), len(pods_of(protected)))

    def _choose(self, found: list[Candidate]) -> tuple[PostFilterResult, Status]:
        best = min(found, key=lambda candidate: candidate.rank)
        name, victims = best.node.name, pods_of(best.victims)
        nominated = self._handle.nominations.nominated_pods(name)
        cleared = tuple(other for other in nominated if other.priority < self._pod.priority)
        text = f"found a potential placement for pod on node {name}, preempting {len(victims)} victims"
        return PostFilterResult(name, victims, cleared), Status(Code.SUCCESS, (PREFIX + text,))
