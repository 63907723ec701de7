"""Preemption for a plain pod: one node after another (spec node-plugins.md §8.3, podgroup-scheduling.md §5.5)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Handle
from gangsched_framework.interface import PostFilterResult
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.refusals import GroupedRefusals
from gangsched_framework.status import Code, FitError, Status, error, unresolvable, unschedulable
from gangsched_plugins.default_preemption.candidates import Candidate
from gangsched_plugins.default_preemption.disruption import Budgets
from gangsched_plugins.default_preemption.dry_runs import DryRun, still
from gangsched_plugins.default_preemption.row_memo import RowMemo
from gangsched_plugins.default_preemption.trial import SUBJECT, Seat, Trial, is_local
from gangsched_plugins.default_preemption.units import Unit, UnitFinder, pods_of, terminating_by_preemption

PREFIX = "preemption: "
_NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
_NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")


class PodPreemption:
    """One attempt for one pod. ``statuses``: why each node refused it; absent nodes were excluded.

    ``state`` is that of the ``popped`` pod. ``dry_runs``: those of earlier preemptors, None = nothing is remembered.
    """

    def __init__(
        self,
        handle: Handle,
        framework: Framework,
        state: CycleState,
        popped: Pod,
        pod: Pod,
        statuses: Mapping[str, Status],
        dry_runs: RowMemo[DryRun] | None = None,
    ) -> None:
        self._handle = handle
        self._snapshot = handle.snapshot
        self._framework = framework
        self._state = state
        self._popped = popped
        self._pod = pod
        self._statuses = statuses
        self._units = UnitFinder(handle.forest, handle.snapshot)
        self._budgets = Budgets(handle.disruption_budgets)
        self._dry_runs = dry_runs
        self._kept: dict[int, DryRun] = {}
        self._keeps = False

    def run(self, percentage: int, absolute: int) -> tuple[PostFilterResult | None, Status]:
        """Find the best node. The search ends when max(``percentage`` of the nodes, ``absolute``) candidates are found.

        Not eligible: the nomination stays. No candidate: it is cleared.
        """
        refused = self._not_eligible()
        if refused:
            return None, unschedulable(PREFIX + refused)
        helpful = self._helpful()
        if helpful:
            self._framework.prepare(self._state, self._popped, self._snapshot.all_nodes)
            self._remember()
        wanted = max(len(helpful) * percentage // 100, absolute)
        found: list[Candidate] = []
        statuses: list[Status] = []
        harmless = False
        for row in helpful:
            known = self._kept.get(row)
            answer = known.answer if known is not None and not known.climbs else self._try_node(row)
            if self._handle.tracing:
                self._tell(self._snapshot.table.names[row], answer)
            if isinstance(answer, Status):
                statuses.append(answer)
                continue
            found.append(answer)
            harmless = harmless or not answer.violations
            if harmless and len(found) >= wanted:
                break
        return self._choose(found) if found else self._none_found(helpful, statuses)

    @cached_property
    def _local(self) -> bool:
        """Whether a dry run reads the node alone."""
        return is_local(self._framework, self._state)

    def _remember(self) -> None:
        """Take up what earlier dry runs came to; these are kept for later ones."""
        handle, pod, dry_runs = self._handle, self._pod, self._dry_runs
        if dry_runs is None or handle.tracing or not self._local:  # a trace tells of each dry run
            return
        self._kept, self._keeps = dry_runs.of((pod.scheduler_name, pod.spec, pod.priority)), True
        own = self._snapshot.node(handle.nominations.nominated_node(pod))
        if own is not None:  # its own nomination does not count for it there
            self._kept = {row: run for row, run in self._kept.items() if row != own.row}
            self._keeps = False

    def _none_found(self, helpful: list[int], statuses: list[Status]) -> tuple[PostFilterResult | None, Status]:
        broken = dict.fromkeys(status.message for status in statuses if not status.rejected)
        if broken:
            texts = ", ".join(broken)
            return None, error(f"{PREFIX}[{texts}]" if len(broken) > 1 else PREFIX + texts)
        failed: dict[Status, list[int]] = {}
        for row, status in zip(helpful, statuses, strict=True):
            failed.setdefault(status, []).append(row)
        count = len(self._snapshot.nodes)
        groups = [(status, np.array(rows, np.intp)) for status, rows in failed.items()]
        refusals = GroupedRefusals(self._snapshot.table.names, groups)
        fit_error = FitError(count, refusals, excluded=_NOT_HELPFUL, excluded_count=count - len(helpful))
        return PostFilterResult(nominated_node=""), unschedulable(PREFIX + fit_error.message)

    def _helpful(self) -> list[int]:
        """Rows of the nodes that evicting pods may open, in the order of nodes."""
        if isinstance(self._statuses, GroupedRefusals):
            rows: list[int] = self._statuses.rows_where(lambda status: status.code is Code.UNSCHEDULABLE).tolist()
            return rows
        return [node.row for node in self._snapshot.nodes if self._status_code(node) is Code.UNSCHEDULABLE]

    def _status_code(self, node: NodeInfo) -> Code | None:
        statuses = self._statuses
        status = statuses.at(node.row) if isinstance(statuses, GroupedRefusals) else statuses.get(node.name)
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

    def _try_node(self, row: int) -> Candidate | Status:
        """A dry run on the node, or what an earlier one for such a pod came to."""
        known = self._kept.get(row)
        if known is not None and still(known.climbs, self._units):
            return known.answer
        node = self._snapshot.table.infos[row]
        lost = self._units.lost((node,))
        if lost is not None:
            return lost
        units = self._units.on_node(node, self._pod.priority)
        answer = self._dry_run(node, units)
        run = DryRun.of(answer, node.pods.values(), units, self._units) if self._keeps else None
        if run is not None:
            self._kept[row] = run
        return answer

    def _dry_run(self, node: NodeInfo, units: list[Unit]) -> Candidate | Status:
        """Take every lesser unit off the node, then give back what may stay, the most important first."""
        if not units:
            return _NO_VICTIMS
        seats = [Seat(self._pod, node, self._state.clone())]
        trial = Trial(self._framework, self._handle)
        begun = self._snapshot.begin_trial()
        try:
            return self._empty(trial, node, units, seats)
        finally:
            self._snapshot.end_trial(begun, unseen=self._local)

    def _empty(self, trial: Trial, node: NodeInfo, units: list[Unit], seats: list[Seat]) -> Candidate | Status:
        for unit in units:
            broken = trial.take(unit, seats)
            if broken is not None:
                return broken
        refusal = trial.refusal(seats)
        if refusal is not None:
            return refusal.status
        violating, others = self._budgets.split(units)
        if violating and self._handle.tracing:
            names = ", ".join(unit.text for unit in violating)
            self._handle.trace(SUBJECT, f"given back first, as a budget would be broken: {names}")
        protected = trial.reprieve(list(violating), seats)
        if isinstance(protected, Status):
            return protected
        victims = trial.reprieve(others, seats)
        if isinstance(victims, Status):
            return victims
        if not protected and not victims:
            return error(f'expected at least one victim pod on node "{node.name}"')
        ranked = sorted((*protected, *victims), key=lambda unit: unit.rank)
        return Candidate(node, tuple(ranked), sum(violating[unit] for unit in protected))

    def _tell(self, node: str, answer: Candidate | Status) -> None:
        if isinstance(answer, Status):
            self._handle.trace(SUBJECT, f"{node} is no candidate: {answer.message}")
        else:
            names = ", ".join(str(unit.key) for unit in answer.victims)
            self._handle.trace(SUBJECT, f"{node} is a candidate: {names} would go; {answer.text}")

    def _choose(self, found: list[Candidate]) -> tuple[PostFilterResult, Status]:
        best = min(found, key=lambda candidate: candidate.rank)
        name, victims = best.node.name, pods_of(best.victims)
        nominated = self._handle.nominations.nominated_pods(name)
        lesser = (other for other in nominated if other.priority < self._pod.priority)
        cleared = tuple(other for other in lesser if other.status.nominated_node_name)
        text = f"found a potential placement for pod on node {name}, preempting {len(victims)} victims"
        return PostFilterResult(name, victims, cleared), Status(Code.SUCCESS, (PREFIX + text,))
