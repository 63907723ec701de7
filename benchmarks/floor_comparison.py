"""What a pod costs at the least, beside what it costs: CPU time per pod of the engine and of a floor, in one process.

    .venv/bin/python benchmarks/floor_comparison.py [CASE…] [--rounds N]

The floor is a straight line of Python that is told beforehand where each pod goes. It makes the values this product
hands out for a pod (queued record, verdict, Bind, event, report, the pod as bound or as refused, the condition of its
group) and keeps the stores that any such engine keeps (pods by key, members by group, a heap of entities, pods in
flight, pods and six amounts of each node, bindings). It asks nothing, checks nothing and chooses nothing: no gates, no
events, no plugins, no columns, no mark to go back to, no order of decisions, nothing that could fail. No engine of this
shape can be faster in this interpreter; the skeleton of the prototype is faster only in that it hands nothing out.
"""

from __future__ import annotations

import argparse
import time
from array import array
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from statistics import median

from gangsched.bench.case import Case
from gangsched.bench.cases import find
from gangsched.bench.outcome import Outcome, Trial
from gangsched.bench.workload import Workload
from gangsched.collector import calm_collector
from gangsched.engine.decisions import Bind, Decision, RecordEvent, SetCondition, SetGroupCondition
from gangsched.engine.report import CycleReport, GroupVerdict, PodVerdict, Refused
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Condition, EntityKey, Group, Pod, PodStatus
from gangsched_framework.status import SUCCESS, Code, Status

CASES = (
    "SchedulingBasic/5000Nodes_10000Pods",
    "GangScheduling/5000Nodes_3000x3",
    "GangScheduling/5000Nodes_9x1000",
    "CPGGang/5000Nodes_1500x2x3",
    "CPGRollback/5000Nodes_3x2x5000",
    "TopologyAwareScheduling/5000Nodes_750x4",
)
SCHEDULED = Condition("PodScheduled", "True")
REFUSED = Status(Code.UNSCHEDULABLE, ("0/5000 nodes are available: 5000 Insufficient cpu.",))
FAILED = Condition("PodScheduled", "False", "Unschedulable", REFUSED.message)
BOUND_STATUS = PodStatus(start_time=0, conditions=(SCHEDULED,))
FAILED_STATUS = PodStatus(conditions=(FAILED,))


class Floor:
    """One run over a workload whose bindings are known."""

    def __init__(self, workload: Workload, nodes: Mapping[str, str]) -> None:
        self._arriving = [pod for step in workload.steps for pod in step.add]
        self._nodes = nodes
        self._rows = {node.name: row for row, node in enumerate(workload.nodes)}
        count = len(workload.nodes)
        self._amounts = tuple(array("q", bytes(8 * count)) for _ in range(6))
        self._on_node: list[dict[str, Pod]] = [{} for _ in range(count)]
        self._groups: dict[EntityKey, Group] = {group.key: group for group in workload.groups}
        self._roots = {key: self._root(key) for key in self._groups}
        self._wanted: dict[EntityKey, int] = {}
        for pod in self._arriving:
            if pod.group_key is not None:
                root = self._roots[pod.group_key]
                self._wanted[root] = self._wanted.get(root, 0) + 1
        self._pods: dict[str, Pod] = {}
        self._members: dict[EntityKey, dict[str, QueuedPodInfo]] = {}
        self._ready: list[tuple[int, int, EntityKey, dict[str, QueuedPodInfo]]] = []
        self._in_flight: dict[str, QueuedPodInfo] = {}
        self._bindings: dict[str, str] = {}
        self._popped = 0

    def _root(self, key: EntityKey) -> EntityKey:
        parent = self._groups[key].parent_key
        return key if parent is None else self._root(parent)

    def run(self, limit: float | None = None) -> Outcome:
        wall, cpu = time.perf_counter(), time.process_time()
        for pod in self._arriving:
            self._arrive(pod)
        while self._ready:
            self._cycle()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        count = len(self._arriving)
        return Outcome(count, wall / count, cpu / count, bindings=self._bindings)

    def _arrive(self, pod: Pod) -> None:
        key, leaf = pod.key, pod.group_key
        self._pods[key] = pod
        info = QueuedPodInfo(pod, 0)
        if leaf is None:
            heappush(self._ready, (-pod.priority, 0, info.key, {key: info}))
            return
        root = self._roots[leaf]
        members = self._members.get(root)
        if members is None:
            members = self._members[root] = {}
        members[key] = info
        if len(members) == self._wanted[root]:
            heappush(self._ready, (0, 0, root, members))

    def _cycle(self) -> None:
        _, _, entity, members = heappop(self._ready)
        self._popped += 1
        decisions: list[Decision] = []
        verdicts: dict[str, PodVerdict] = {}
        pods, nodes = self._pods, self._nodes
        for key, info in members.items():
            info.attempts += 1
            self._in_flight[info.pod.uid] = info
            node = nodes.get(key)
            if node is None:
                verdicts[key] = Refused(REFUSED)
                decisions.append(RecordEvent("Warning", "FailedScheduling", key, REFUSED.message))
                decisions.append(SetCondition(key, FAILED))
                pods[key] = info.pod = info.pod.bound_to("", FAILED_STATUS)
            else:
                self._place(info.pod, self._rows[node])
                verdicts[key] = bind = Bind(key, info.pod.uid, node)
                decisions.append(bind)
                self._bindings[key] = node
                decisions.append(RecordEvent("Normal", "Scheduled", key, f"Successfully assigned {key} to {node}"))
                pods[key] = self._on_node[self._rows[node]][key] = info.pod.bound_to(node, BOUND_STATUS)
            del self._in_flight[info.pod.uid]
        groups = self._conditions(entity, decisions) if entity in self._roots else {}
        CycleReport(self._popped, 0, entity, 1, groups=groups, pods=verdicts, decisions=tuple(decisions))

    def _place(self, pod: Pod, row: int) -> None:
        requests = pod.spec.requests
        count, cpu, memory, storage, scored_cpu, scored_memory = self._amounts
        count[row] += 1
        cpu[row] += requests.requested.milli_cpu
        memory[row] += requests.requested.memory
        storage[row] += requests.requested.ephemeral_storage
        scored_cpu[row] += requests.score_milli_cpu
        scored_memory[row] += requests.score_memory
        self._on_node[row][pod.key] = pod

    def _conditions(self, root: EntityKey, decisions: list[Decision]) -> dict[EntityKey, GroupVerdict]:
        condition = Condition("PodGroupInitiallyScheduled", "True", "Scheduled")
        group = self._groups[root]
        decisions.append(SetGroupCondition(root, condition))
        self._groups[root] = group.with_condition(condition)
        return {root: GroupVerdict(SUCCESS)}


def compare(case: Case, rounds: int) -> tuple[float, float]:
    """CPU seconds per pod of engine and floor: medians of rounds that alternate, so that a busy machine slows both."""
    ours: list[Outcome] = []
    floor: list[Outcome] = []
    for _ in range(rounds):
        ours.append(_run(case.trial()))
        floor.append(_run(Floor(case.build(case.sizes), ours[-1].bindings)))
        assert ours[-1].bindings == floor[-1].bindings
    return median(o.cpu_seconds for o in ours), median(o.cpu_seconds for o in floor)


def _run(trial: Trial) -> Outcome:
    with calm_collector():  # as the product does it
        return trial.run()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", default=CASES)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    print(f"{'case':<40} {'ours us':>9} {'floor us':>9} {'ratio':>7}")
    for case in find(options.cases):
        assert isinstance(case, Case)
        ours, floor = compare(case, options.rounds)
        print(f"{case.name:<40} {ours * 1e6:>9.2f} {floor * 1e6:>9.2f} {ours / floor:>7.2f}", flush=True)


if __name__ == "__main__":
    main()
