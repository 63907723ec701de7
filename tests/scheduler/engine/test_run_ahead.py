"""Rows planned ahead for a run of like pods are those that searching would find, and a disturbed plan is given up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest
from attrs import evolve, fields
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched.bench import workloads
from gangsched.bench.scheduling import SchedulingTrial
from gangsched.bench.sizes import Sizes
from gangsched.config import FeatureGates, default_config
from gangsched.engine import run_ahead
from gangsched.engine.results import PodOutcome, all_placed
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.engine.signature_column import INFEASIBLE, SignatureColumn
from gangsched.host import Host
from gangsched_framework.alike_pods import add_alike
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Namespace, Pod
from gangsched_framework.testing import make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry


@pytest.fixture
def early() -> Iterator[None]:
    """Runs are planned from the second pod on, three pods at a time."""
    before = run_ahead.START, run_ahead.LONGEST
    run_ahead.START, run_ahead.LONGEST = 2, 3
    yield
    run_ahead.START, run_ahead.LONGEST = before


def planned(core: Scheduler) -> int:
    """How many rows plans have told, but for those dropped unused."""
    search = core.algorithm.columns
    assert search is not None
    return search.run.planned


class Cluster:
    """Six uneven nodes under the default profile, decisions carried out at once."""

    def __init__(self, *, oracle: bool = False) -> None:
        registry = default_registry()
        config = default_config(FeatureGates(), registry)
        self.core = Scheduler(config.profiles, registry, settings=Settings(oracle=oracle), feature_gates=config.gates)
        self.host = Host(self.core)
        for at in range(6):
            self.core.add(make_node(f"n{at}").capacity(cpu=8 + at % 3, memory="32Gi", pods=9).obj())

    def place(self, count: int, prefix: str, cpu: str = "500m", group: str = "") -> None:
        template = make_pod("t").requests(cpu=cpu, memory="1Gi")
        if group:
            self.core.add(make_pod_group(group).min_count(count).obj())
        for pod in workloads.pods_like(template, count, prefix, group):
            self.core.add(pod)
        self.settle()

    def settle(self) -> None:
        while (report := self.core.step()) is not None:
            self.host.carry_out(report.decisions)
        self.core._check()

    @property
    def planned(self) -> int:
        return planned(self.core)


def _another_kind(cluster: Cluster) -> None:
    cluster.place(1, "large", cpu="3")


def _a_deleted_pod(cluster: Cluster) -> None:
    pod = cluster.core.pod("default/first-000001")
    assert pod is not None
    cluster.core.delete(pod)


def _a_refused_gang(cluster: Cluster) -> None:
    cluster.place(90, "gang", group="too-many")


def _a_node(cluster: Cluster) -> None:
    cluster.core.add(make_node("n3a").capacity(cpu=9, memory="32Gi", pods=9).obj())


def _a_changed_node(cluster: Cluster) -> None:
    cluster.core.update(make_node("n1").capacity(cpu=12, memory="32Gi", pods=9).obj())


DISTURBANCES: dict[str, Callable[[Cluster], None]] = {
    "a pod of another kind": _another_kind,
    "a deleted pod": _a_deleted_pod,
    "a gang whose members were taken back": _a_refused_gang,
    "a new node": _a_node,
    "a changed node": _a_changed_node,
}


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("disturb", DISTURBANCES.values(), ids=DISTURBANCES)
def test_a_run_disturbed_by(disturb: Callable[[Cluster], None]) -> None:
    clusters = [Cluster(), Cluster(oracle=True)]
    for cluster in clusters:
        cluster.place(8, "first")
        disturb(cluster)
        cluster.place(9, "second")
        cluster.place(60, "third")  # more than there is room for
    assert clusters[0].host.bindings == clusters[1].host.bindings
    assert clusters[0].planned > 6


@pytest.mark.usefixtures("early")
def test_pods_that_ask_alike_and_count_otherwise_on_their_nodes_are_no_run() -> None:
    """Requests of the whole pod replace the default of the container that asks no CPU (node-plugins.md §3.5)."""
    plain = make_pod("t").container(cpu="500m", memory="1Gi").container(memory="1Gi")
    counts_less = plain.pod_level(cpu="500m").obj()
    clusters = [Cluster(), Cluster(oracle=True)]
    for cluster in clusters:
        for at, like in enumerate([counts_less] + [plain.obj()] * 40):
            cluster.core.add(evolve(like, name=f"p{at:02}", uid=f"p{at:02}"))
        cluster.settle()
    assert clusters[0].host.bindings == clusters[1].host.bindings
    assert clusters[0].planned > 30


@pytest.mark.usefixtures("early")
def test_ports_of_pods_that_come_together_are_in_use() -> None:
    """Each node takes one pod of the kind, whether a gang is put there at once or not."""
    port = make_pod("t").requests(cpu="500m").host_port(80)
    clusters = [Cluster(), Cluster(oracle=True)]
    for cluster in clusters:
        for group in ("a", "b", "c", "d"):
            cluster.core.add(make_pod_group(group).min_count(2).obj())
            for pod in workloads.pods_like(port, 2, group, group):
                cluster.core.add(pod)
        cluster.settle()
    assert clusters[0].host.bindings == clusters[1].host.bindings
    assert len(set(clusters[0].host.bindings.values())) == len(clusters[0].host.bindings) == 6


class OnOneNode:
    """A run of two pods on the one node of a core."""

    def __init__(self) -> None:
        self.core = Scheduler(default_config().profiles, default_registry())
        self.core.add(make_node("n").capacity(cpu=8, pods=9).obj())
        self.table = self.core.world.table
        self.table.settle()
        self.run = run_ahead.RunAhead(self.core.world)
        self.like = make_pod("like").requests(cpu="100m").label("app", "web").obj()
        for name in ("p0", "p1"):
            assert self.goes_on(evolve(self.like, name=name)) is (name == "p1")

    def goes_on(self, pod: Pod) -> bool:
        """Whether the run knew the column of the pod, which is then put where it is to go."""
        assert self.core.columns is not None
        known = self.run.column(pod)
        column = self.core.columns.of(self.core.frameworks["default-scheduler"], pod)
        assert column is not None
        assert known in (None, column)
        assert self.run.next(column, pod) == 0
        self.table.add_pod(pod, "n")
        return known is not None


def _another_comes(run: OnOneNode) -> None:
    run.table.add_pod(make_pod("q").obj(), "n")


def _another_takes_the_place(run: OnOneNode) -> None:
    run.table.remove_pod(evolve(run.like, name="p1"), "n")
    del run.table.touched[-2:]
    _another_comes(run)


BETWEEN: dict[str, tuple[Callable[[OnOneNode], object], bool]] = {
    "nothing": (lambda run: None, True),
    "another pod comes": (_another_comes, False),
    "another pod comes in place of the last": (_another_takes_the_place, False),
    "the last pod goes": (lambda run: run.table.remove_pod(evolve(run.like, name="p1"), "n"), False),
    "a node is touched": (lambda run: run.table.touch("n"), False),
    "a namespace appears": (lambda run: run.core.add(Namespace("new")), False),
}


@pytest.mark.parametrize(("between", "goes_on"), BETWEEN.values(), ids=BETWEEN)
def test_a_run_goes_on_unless_something_happens_between(between: Callable[[OnOneNode], object], goes_on: bool) -> None:
    run = OnOneNode()
    between(run)
    assert run.goes_on(evolve(run.like, name="p2")) is goes_on


OTHERS: dict[str, Pod] = {
    "other labels": make_pod("p2").label("app", "db").obj(),
    "another namespace": make_pod("p2", "other").label("app", "web").obj(),
    "an owner": make_pod("p2").label("app", "web").owner("Job", "j").obj(),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_the_column_is_looked_for_when_the_pod_has(other: Pod) -> None:
    run = OnOneNode()
    assert not run.goes_on(evolve(other, spec=run.like.spec))
    assert run.goes_on(evolve(run.like, name="p3"))  # it is the same


TOGETHER: dict[str, tuple[Pod, int]] = {
    "is like the others": (make_pod("x").label("app", "web").obj(), 3),
    "has other labels": (make_pod("x").label("app", "db").obj(), 1),
    "has an owner": (make_pod("x").label("app", "web").owner("Job", "j").obj(), 1),
    "asks for something else": (make_pod("x").requests(cpu="200m").label("app", "web").obj(), 1),
    "is being resized": (make_pod("x").requests(cpu=1).label("app", "web").allocated(cpu=2).obj(), 1),
    "is nominated": (make_pod("x").label("app", "web").nominated("n").obj(), 1),
}


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize(("second", "taken"), TOGETHER.values(), ids=TOGETHER)
def test_three_pods_go_on_the_run_together_if_the_second(second: Pod, taken: int) -> None:
    run = OnOneNode()
    assert run.goes_on(evolve(run.like, name="p2"))  # now there is a plan
    run.run.rows += [0, 0, 0]
    if second.spec.requests.requested.milli_cpu != 200:
        second = evolve(second, spec=run.like.spec)
    pods = [evolve(run.like, name="z"), evolve(run.like, name="a"), second, evolve(run.like, name="b")]
    infos = [QueuedPodInfo(pod, 0) for pod in pods]
    assert run.run.take_alike(infos, 1, taken + 1) == ((), ())  # nothing is taken then
    assert run.run.take_alike(infos, 1, 1) == (pods[1 : taken + 1], [0] * taken)
    assert run.run.take_alike(infos, 0, 1) == ((), ())  # they have not come yet
    add_alike(run.table, pods[1 : taken + 1], [0] * taken, [])
    assert run.goes_on(evolve(run.like, name="p3"))
    run.run.rows += [0, 0]
    assert run.run.take_alike(infos[:2], 0, 2) == (pods[:2], [0, 0])
    assert not run.goes_on(evolve(run.like, name="p5"))  # z was not put there


def test_outcomes_made_field_by_field_are_those_of_a_call() -> None:
    infos = [QueuedPodInfo(pod=make_pod(name).obj(), timestamp=0) for name in "abc"]
    made, called = all_placed(infos, ["m", "n"]), [PodOutcome(infos[0], "m"), PodOutcome(infos[1], "n")]
    for one, other in zip(made, called, strict=True):
        assert [getattr(one, each.name) for each in fields(PodOutcome)] == [
            getattr(other, each.name) for each in fields(PodOutcome)
        ]


@pytest.mark.usefixtures("early")
def test_one_pod_takes_the_next_row_of_the_plan_if_it_goes_on_the_run() -> None:
    run = OnOneNode()
    assert run.goes_on(evolve(run.like, name="p2"))
    run.run.rows += [0, 0]
    for other in OTHERS.values():
        assert run.run.take(evolve(other, spec=run.like.spec)) == INFEASIBLE
    pod = evolve(run.like, name="p3")
    assert run.run.take(pod) == 0
    assert run.run.take(evolve(run.like, name="p4")) == INFEASIBLE  # p3 has not come yet
    run.table.add_pod(pod, "n")
    assert run.run.take(evolve(run.like, name="p4")) == 0


def test_pods_with_affinity_terms_make_no_run() -> None:
    run = OnOneNode()
    away = make_pod("away").anti_affinity("zone", {"app": "db"}).obj()
    assert not any(run.goes_on(evolve(away, name=f"a{at}")) for at in range(3))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 5))
def test_planned_or_searched_the_bindings_are_the_same(seed: int, start: int, longest: int) -> None:
    before = run_ahead.START, run_ahead.LONGEST
    run_ahead.START, run_ahead.LONGEST = start, longest
    clusters = [Cluster(), Cluster(oracle=True)]
    try:
        for cluster in clusters:
            rng = Random(seed)
            for at in range(6):
                kind = rng.choice(("250m", "500m"))
                cluster.place(rng.randint(1, 9), f"p{at}", kind, group=rng.choice(("", "", f"g{at}")))
                if rng.random() < 0.3 and cluster.host.bindings:
                    pod = cluster.core.pod(rng.choice(sorted(cluster.host.bindings)))
                    assert pod is not None
                    cluster.core.delete(pod)
                    del cluster.host.bindings[pod.key]
    finally:
        run_ahead.START, run_ahead.LONGEST = before
    assert clusters[0].host.bindings == clusters[1].host.bindings


def test_a_long_run_is_neither_searched_nor_repaired_pod_by_pod() -> None:
    pods = 400
    trial = SchedulingTrial(workloads.basic(Sizes(nodes=20, entities=pods)), patient=False, oracle=False)
    assert len(trial.run().bindings) == pods
    assert trial.core.columns is not None
    (column,) = (c for c in trial.core.columns._columns.values() if isinstance(c, SignatureColumn))
    assert trial.core.algorithm.columns is not None
    assert trial.core.algorithm.columns.run.planned >= pods - run_ahead.START - 2
    assert column.repaired + column.rebuilt < run_ahead.START + 5 * 20
