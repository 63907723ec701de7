"""Session: a profile's work on the snapshot, with reservations that can be taken back (spec §4.7.5-6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

from attrs import define, field

from gangsched.engine.column_search import ColumnSearch
from gangsched.engine.pod_algorithm import PodAlgorithm
from gangsched.engine.results import GroupResult, PodOutcome
from gangsched.engine.trace import Tracer
from gangsched_framework.cycle_state import CycleState, PlacementCycleState
from gangsched_framework.framework import Framework
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Pod
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.status import FitError, Status, unschedulable

START = 0
"""The mark before the first step of a cycle."""


@define(eq=False)
class Session:
    """What the cycles of one profile work with; between cycles nothing is reserved.

    ``prepare``: the states are needed afterwards (post-filter).
    """

    framework: Framework
    snapshot: Snapshot
    algorithm: PodAlgorithm
    trace: Tracer
    prepare: bool = False
    _reserved: list[tuple[int, CycleState, QueuedPodInfo, str]] = field(factory=list)
    _runs: ColumnSearch | None = field(init=False)

    def __attrs_post_init__(self) -> None:
        foreseen = self.framework.all_nodes and not (self.framework.reserves or self.prepare)
        self._runs = self.algorithm.columns if foreseen else None

    def preparing(self) -> Session:
        """Another of the same profile, for whoever goes on with the states."""
        return Session(self.framework, self.snapshot, self.algorithm, self.trace, prepare=True)

    def revert(self, mark: int) -> None:
        """Take back every reservation since ``mark``, last first."""
        self._unreserve(mark)
        self.snapshot.rollback(mark)

    def commit(self) -> None:
        """Leave the assumed pods on their nodes for good; plugins reserve again when each pod is submitted."""
        if self._reserved:
            self._unreserve(START)
        self.snapshot.commit()

    def _unreserve(self, mark: int) -> None:
        while self._reserved and self._reserved[-1][0] > mark:
            _, state, info, node = self._reserved.pop()
            self.framework.run_unreserve(state, info.pod, node)

    def try_pod(self, info: QueuedPodInfo, placement: PlacementCycleState | None = None) -> PodOutcome:
        """Find a node and reserve it in the snapshot (spec §4.7)."""
        if self._runs is not None and not self.trace.on:
            row = self._runs.planned(self.framework, info.pod)
            if row >= 0:
                node = self.snapshot.table.names[row]
                self.snapshot.assume(info.pod, node)
                return PodOutcome(info, None, node)
        state, pod = CycleState(placement), info.pod
        answer = self.algorithm.schedule(self.framework, state, pod, prepare=self.prepare)
        if isinstance(answer, str):
            self.snapshot.assume(pod, answer)
            status = self._reserve(info, state, answer) if self.framework.reserves else None
            if status is None:
                if self.trace.on:
                    self.trace.add("pod", pod.key, f"-> {answer}")
                return PodOutcome(info, state, answer)
            return PodOutcome(info, state, status=status, clear_nomination=True)
        if isinstance(answer, FitError):
            outcome = PodOutcome(info, state, status=unschedulable(answer.message), fit_error=answer)
        else:
            outcome = PodOutcome(info, state, status=answer, clear_nomination=True)
        if self.trace.on:
            self.trace.add("pod", pod.key, outcome.status.message if outcome.status else "")
        return outcome

    def try_run(
        self, infos: Sequence[QueuedPodInfo], start: int, placement: PlacementCycleState | None = None
    ) -> list[PodOutcome]:
        """Try the pod at ``start``, with those after it whose nodes are known ahead: each has found its node then."""
        if self._runs is not None and not self.trace.on:
            pods, rows = self._runs.ahead(self.framework, infos, start)
            if pods:
                nodes = self.snapshot.assume_alike(pods, rows)
                return list(map(PodOutcome, infos[start : start + len(pods)], repeat(None), nodes))
        return [self.try_pod(infos[start], placement)]

    def _reserve(self, info: QueuedPodInfo, state: CycleState, node: str) -> Status | None:
        """Ask the Reserve plugins about the pod that was just assumed; one that is refused leaves its node again."""
        snapshot = self.snapshot
        status = self.framework.run_reserve(state, info.pod, node)
        if status is None:
            self._reserved.append((snapshot.mark(), state, info, node))
        else:
            snapshot.rollback(snapshot.mark() - 1)
        return status

    def reapply(self, result: GroupResult, steps: Sequence[tuple[Pod, str]]) -> Status | None:
        """Reserve again what an evaluation had reserved, after it was taken back (spec §6.6)."""
        states = {p.info.pod.key: p for p in result.found()}
        for pod, node in steps:
            outcome = states[pod.key]
            self.snapshot.assume(pod, node)
            if self.framework.reserves:
                status = self.framework.run_reserve(outcome.state, pod, node)
                if status is not None:
                    return status
                self._reserved.append((self.snapshot.mark(), outcome.state, outcome.info, node))
        return None
