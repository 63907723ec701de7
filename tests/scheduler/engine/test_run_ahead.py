"""Rows planned ahead for a run of like pods are those that searching would find, and a disturbed plan is given up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched.bench import workloads
from gangsched.bench.scheduling import SchedulingTrial
from gangsched.bench.sizes import Sizes
from gangsched.config import FeatureGates, default_config
from gangsched.engine import run_ahead
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.engine.signature_column import SignatureColumn
from gangsched.host import Host
from gangsched_framework.node_table import NodeTable
from gangsched_framework.testing import make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry


@pytest.fixture
def early() -> Iterator[None]:
    """Runs are planned from the second pod on, three pods at a time."""
    before = run_ahead.START, run_ahead.LONGEST
    run_ahead.START, run_ahead.LONGEST = 2, 3
    yield
    run_ahead.START, run_ahead.LONGEST = before


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
        columns = self.core.columns
        assert columns is not None
        kinds = [column for column in columns._columns.values() if isinstance(column, SignatureColumn)]
        return sum(column.run.planned for column in kinds if column.run is not None)


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
@pytest.mark.parametrize("put", ["another pod", "nobody", "the pod, and another", "the pod"])
def test_a_run_goes_on_only_when_the_pod_was_put_where_it_was_to_go(put: str) -> None:
    table = NodeTable()
    table.add_node(make_node("n").capacity(cpu=8, pods=9).obj())
    table.settle()
    run = run_ahead.RunAhead(table, lambda count: [0] * count)
    for at in range(2):
        assert run.next(f"default/p{at}") is None
        run.found(f"default/p{at}", 0)
        if at == 0:
            table.add_pod(make_pod(f"p{at}").obj(), "n")
    for name in {"another pod": ["q"], "nobody": [], "the pod, and another": ["p1", "q"], "the pod": ["p1"]}[put]:
        table.add_pod(make_pod(name).obj(), "n")
    assert (run.next("default/p2") == 0) is (put == "the pod")


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
    assert column.run is not None
    assert column.run.planned >= pods - run_ahead.START - 2
    assert column.repaired + column.rebuilt < run_ahead.START + 5 * 20
