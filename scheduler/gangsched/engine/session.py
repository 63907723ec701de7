"""Session: a profile's work on the snapshot, with reservations that can be taken back (spec §4.7.5-6)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from gangsched.engine.column_search import ColumnSearch
from gangsched.engine.pod_algorithm import PodAlgorithm
from gangsched.engine.results import GroupResult, PodOutcome, all_placed
from gangsched.engine.run_ahead import RunAhead
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
    _search: ColumnSearch | None = field(init=False)
    """Where a run may tell nodes ahead; None where each pod is to be tried by itself."""

    def __attrs_post_init__(self) -> None:
        foreseen = self.framework.all_nodes and not (self.framework.reserves or self.prepare)
        self._search = self.algorithm.columns if foreseen else None

    def preparing(self) -> Session:
        """Another of the same profile, for whoever goes on with the states."""
        return Session(self.framework, self.snapshot, self.algorithm, self.trace, prepare=True)

    def revert(self, mark: int) -> None:
        """Take back every reservation since ``mark``, last first."""
        self.unreserve(mark)
        self.snapshot.rollback(mark)

    def unreserve(self, mark: int = START) -> None:
        """Let the plugins take back what they reserved since ``mark``; they reserve again when a pod is submitted."""
        while self._reserved and self._reserved[-1][0] > mark:
            _, state, info, node = self._reserved.pop()
            self.framework.run_unreserve(state, info.pod, node)

    def try_pod(self, info: QueuedPodInfo, placement: PlacementCycleState | None = None) -> PodOutcome:
        """Find a node and reserve it in the snapshot (spec §4.7)."""
        pod = info.pod
        run = self._run_for(pod)
        if run is not None and (row := run.take(pod)) >= 0:
            node = self.snapshot.table.names[row]
            self.snapshot.assume(pod, node, row)
            return PodOutcome(info, node)
        state = CycleState(placement)
        answer = self.algorithm.schedule(self.framework, state, pod, self.prepare)
        if isinstance(answer, str):
            self.snapshot.assume(pod, answer)
            status = self._reserve(info, state, answer) if self.framework.reserves else None
            if status is None:
                if self.trace.on:
                    self.trace.add("pod", pod.key, f"-> {answer}")
                return PodOutcome(info, answer, None, None, False, state)
            return PodOutcome(info, status=status, clear_nomination=True, state=state)
        if isinstance(answer, FitError):
            outcome = PodOutcome(info, "", unschedulable(answer.message), answer, False, state)
        else:
            outcome = PodOutcome(info, status=answer, clear_nomination=True, state=state)
        if self.trace.on:
            self.trace.add("pod", pod.key, outcome.status.message if outcome.status else "")
        return outcome

    def try_ahead(self, infos: Sequence[QueuedPodInfo], start: int = 0, least: int = 1) -> list[PodOutcome]:
        """Try the pods of a leaf from ``start`` on whose nodes are known ahead: each has found its node then.

        None if they are fewer than ``least``.
        """
        run = self._run_for(infos[start].pod)
        if run is None:
            return []
        pods, rows = run.take_alike(infos, start, least)
        if not pods:
            return []
        nodes = self.snapshot.assume_alike(pods, rows)
        return all_placed(infos[start:] if start else infos, nodes)

    def _run_for(self, pod: Pod) -> RunAhead | None:
        """The run whose plan may tell where a pod goes, or those of its leaf: nobody has more to say about them.

        They are of one priority (spec §4.3), and the judges clear a whole tree.
        """
        search = self._search
        if search is None or self.trace.on:  # who traces wants to hear how each node fares
            return None
        run, status, framework = search.run, pod.status, self.framework
        if not run.rows or self.snapshot.placement.rows is not None or pod.priority <= search.nominations.highest:
            return None
        if status.nominated_node_name or status.allocated:  # a place of its own, or it counts otherwise than it asks
            return None
        return run if not framework.pod_judges or framework.judges_clear(pod) else None

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
