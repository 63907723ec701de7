"""Gangs of one kind that follow each other into racks: planned ahead, they go where the per-node form sends them."""

from __future__ import annotations

from random import Random

import pytest
from attrs import evolve

from gangsched.config import default_config
from gangsched.engine import planned_run
from gangsched.engine.planned_run import PlannedRun
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.host import Host
from gangsched_framework.objects import ClusterObject, Pod
from gangsched_framework.testing import make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry
from tests.properties.objects import one_in, some
from tests.properties.same import assert_same_report, assert_same_state

SEEDS = 40


class Queue:
    """Two cores, one without columns, that are told the same."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(f"runs:{seed}")
        config = default_config()
        self.cores = [
            Scheduler(config.profiles, default_registry(), settings=Settings(oracle=oracle)) for oracle in (False, True)
        ]
        self.hosts = [Host(core) for core in self.cores]
        self.numbers = 0
        self.refused = ""
        for host in self.hosts:
            host.bind_call = lambda bind: "refused" if bind.pod == self.refused else None
        for number in range(self.rng.randrange(4, 13)):
            size = some(self.rng, (4, 8))
            node = make_node(f"n{number:02}").capacity(cpu=size, memory=f"{2 * size}Gi", pods=some(self.rng, (5, 20)))
            self.tell(node.label("rack", f"r{number % 3}").obj())

    def tell(self, *objects: ClusterObject) -> None:
        for obj in objects:
            for core in self.cores:
                core.add(obj)

    def a_gang_comes(self, size: int, cpu: str) -> None:
        self.numbers += 1
        name = f"g{self.numbers:03}"
        self.tell(make_pod_group(name).min_count(size).topology("rack").obj())
        pods = [make_pod(f"{name}-{i}").requests(cpu=cpu, memory="1Gi").in_group(name) for i in range(size)]
        if one_in(self.rng, 8):  # being resized: they count on their nodes something else than they ask for
            pods = [pod.allocated(cpu="1500m") for pod in pods]
        self.tell(*(pod.obj() for pod in pods))

    def something_comes_between(self) -> None:
        """A pod that others assigned to the row that was taken last; one that ends; one that is relabelled."""
        rng, core = self.rng, self.cores[0]
        running = [pod for pod in core.world.pods.values() if pod.node_name]
        last = running[-1] if running else None
        what = rng.randrange(5)
        self.numbers += 1
        if what == 0 and last is not None:
            self.tell(make_pod(f"x{self.numbers}").requests(cpu=1).node(last.node_name).obj())
        elif what == 1 and last is not None:
            for each in self.cores:
                each.delete(last)
        elif what == 2 and last is not None:
            self.tell(evolve(last, labels={"app": "web"}))
        elif what == 3:
            self.tell(make_pod(f"y{self.numbers}").requests(cpu="500m").obj())
        elif running:
            pod = running[rng.randrange(len(running))]
            for each in self.cores:
                each.delete(pod)

    def work_off(self) -> None:
        while True:
            one, other = (core.step() for core in self.cores)
            if one is None or other is None:
                assert one is other
                return
            assert_same_report(one, other)
            self.refused = self._refused()
            for host, report in zip(self.hosts, (one, other), strict=True):
                host.carry_out(report.decisions)
            assert_same_state(*self.cores)

    def _refused(self) -> str:
        """A pod whose binding fails, now and then."""
        waiting = [key for key, pod in self.cores[0].world.pods.items() if not pod.node_name]
        return some(self.rng, tuple(waiting)) if waiting and one_in(self.rng, 12) else ""


@pytest.fixture
def early_plans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Plans are made from the second gang on; returns the lengths of the runs that went on."""
    for name, value in (("START", 2), ("LONGEST", 7), ("MIN_RUN", 4)):
        monkeypatch.setattr(planned_run, name, value)
    lengths: list[int] = []
    original = PlannedRun.goes_on

    def goes_on(self: PlannedRun, *given: object) -> None:
        original(self, *given)  # type: ignore[arg-type]
        lengths.append(self.length)

    monkeypatch.setattr(PlannedRun, "goes_on", goes_on)
    return lengths


def live(seed: int) -> None:
    queue = Queue(seed)
    rng = queue.rng
    size, cpu = rng.randrange(1, 5), some(rng, ("250m", "500m", "1"))
    for _ in range(25):
        if one_in(rng, 5):
            queue.something_comes_between()
        for _ in range(some(rng, (1, 1, 3))):
            queue.a_gang_comes(size if not one_in(rng, 9) else size + 1, cpu)
        queue.work_off()
    for core in queue.cores:
        core._check()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_planned_gangs_go_where_the_oracle_sends_them(seed: int, early_plans: list[int]) -> None:
    live(seed)


def test_runs_go_on_and_break_off_here(early_plans: list[int]) -> None:
    for seed in range(10):
        live(seed)
    assert max(early_plans) > 3
    assert early_plans.count(0) > 10


def test_a_pod_that_takes_the_row_of_a_run_ends_it() -> None:
    """As often touched as by the gang, but by others."""
    from gangsched_framework.node_table import NodeTable

    table = NodeTable()
    for name in ("a", "b"):
        table.add_node(make_node(name).capacity(cpu=4, memory="8Gi", pods=10).obj())
    table.settle()
    run = PlannedRun(length=3)
    run.take([("default/g-0", 0), ("default/g-1", 1)])
    pods: list[Pod] = [make_pod("g-0").obj(), make_pod("other").obj()]
    for pod, node in zip(pods, ("a", "b"), strict=True):
        table.add_pod(pod, node)
    run.goes_on([0, 1], table)
    assert run.length == 0
