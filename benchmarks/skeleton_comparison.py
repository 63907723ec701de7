"""Our engine beside the prototype's skeleton, in one process, on the same work: CPU time per pod of both, the ratio.

    .venv/bin/python benchmarks/skeleton_comparison.py [CASE…] [--rounds N]

The skeleton (``../shared/prototype/cycle.py``, generic plugins) is the yardstick of the speed targets: 3 filters and 2
scores, no conditions, no log, no events. It is read where it lies; without it there is nothing to compare.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from types import ModuleType

from attrs import frozen

from gangsched.bench.case import Case
from gangsched.bench.cases import find
from gangsched.bench.nodes import GPU
from gangsched.bench.outcome import Outcome, Trial
from gangsched.bench.workload import Workload
from gangsched.collector import calm_collector
from gangsched_framework.objects import CompositePodGroup, Group, Node, PodGroup
from gangsched_framework.pod_spec import PodSpec

PROTOTYPE = Path(__file__).parents[2] / "shared" / "prototype"
CASES = (
    "SchedulingBasic/5000Nodes_10000Pods",
    "GangScheduling/5000Nodes_3000x3",
    "GangScheduling/5000Nodes_9x1000",
    "CPGGang/5000Nodes_1500x2x3",
    "CPGGang/5000Nodes_3x2x1500",
    "CPGRollback/5000Nodes_3x2x5000",
    "MixedShapes/5000Nodes_10000Pods",
    "DistinctShapes/5000Nodes_5000Pods",
)
"""Cases the skeleton's plugins can do: resources, one node selector, NoSchedule taints, groups and trees."""


@frozen
class Pair:
    """CPU seconds per pod of both, and whether all pods went to the same nodes."""

    case: str
    ours: float
    skeleton: float
    same: bool

    @property
    def ratio(self) -> float:
        return self.ours / self.skeleton


class Skeleton:
    """A workload in the skeleton's own objects, run as its own benchmark does: enqueue everything, then cycle."""

    def __init__(self, cycle: ModuleType, workload: Workload) -> None:
        self._cycle = cycle
        self._names = [node.name for node in workload.nodes]
        self._engine = cycle.Engine([self._node(node) for node in workload.nodes], True)
        self._groups: dict[str, object] = {}
        for time_, group in enumerate(workload.groups):
            self._groups[group.key] = self._group(group, time_)
        self._shapes: dict[PodSpec, object] = {}
        self._pods = [
            cycle.P_(pod.name, pod.key, self._shape(pod.spec), self._groups.get(pod.group_key or ""), number)
            for step in workload.steps
            for number, pod in enumerate(step.add)
        ]

    def _node(self, node: Node) -> object:
        amounts = node.allocatable
        taints = tuple((taint.key, taint.effect) for taint in node.taints)
        size = (amounts.milli_cpu, amounts.memory, amounts.get(GPU), amounts.pods)
        return self._cycle.Node(node.name, *size, node.labels, taints)

    def _group(self, group: Group, time_: int) -> object:
        parent = self._groups[group.parent_key] if group.parent_key is not None else None
        assert isinstance(group, PodGroup | CompositePodGroup)
        return self._cycle.Group(group.name, group.required, parent, time_)

    def _shape(self, spec: PodSpec) -> object:
        shape = self._shapes.get(spec)
        if shape is None:
            wants, selector = spec.requests.requested, spec.node_selector
            (label,) = selector.items() if selector else (None,)
            tolerated = frozenset(toleration.key for toleration in spec.tolerations)
            size = (wants.milli_cpu, wants.memory, wants.get(GPU))
            shape = self._shapes[spec] = self._cycle.Shape(len(self._shapes), *size, label, tolerated)
        return shape

    def run(self, limit: float | None = None) -> Outcome:
        count = len(self._pods)
        wall, cpu = time.perf_counter(), time.process_time()
        for pod in self._pods:
            self._engine.add_pod(pod)
        self._engine.run()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        bindings = {key: self._names[row] for key, row in self._engine.bound.items()}
        return Outcome(count, wall / count, cpu / count, bindings=bindings)


def compare(case: Case, rounds: int) -> Pair:
    """Medians of rounds that alternate, so that a busy machine slows both."""
    cycle = import_module("cycle")
    ours: list[Outcome] = []
    skeleton: list[Outcome] = []
    for _ in range(rounds):
        ours.append(_run(case.trial()))
        skeleton.append(_run(Skeleton(cycle, case.build(case.sizes))))
    same = all(one.bindings == other.bindings for one, other in zip(ours, skeleton, strict=True))
    return Pair(case.name, median(o.cpu_seconds for o in ours), median(o.cpu_seconds for o in skeleton), same)


def _run(trial: Trial) -> Outcome:
    with calm_collector():  # as the product does it
        return trial.run()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", default=CASES)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    if not PROTOTYPE.is_dir():
        sys.exit(f"the prototype is not at {PROTOTYPE}")
    sys.path.insert(0, str(PROTOTYPE))
    print(f"{'case':<40} {'ours us':>9} {'skeleton us':>12} {'ratio':>7}  placements")
    for case in find(options.cases):
        assert isinstance(case, Case)
        pair = compare(case, options.rounds)
        same = "equal" if pair.same else "DIFFERENT"
        print(
            f"{pair.case:<40} {pair.ours * 1e6:>9.2f} {pair.skeleton * 1e6:>12.2f} {pair.ratio:>7.2f}  {same}",
            flush=True,
        )


if __name__ == "__main__":
    main()
