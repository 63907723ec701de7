"""Rows are planned ahead for gangs of tenants whose limits may refuse members: the bindings are those of the oracle."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched.bench.workloads import pods_like
from gangsched.engine import run_ahead
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.host import Host
from gangsched_framework.objects import QUEUE_NAME, Queue
from gangsched_framework.testing import make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry
from tests.properties.fair_story import fair_configuration
from tests.scheduler.engine.test_run_ahead import planned

TENANTS = ("a", "b")


class Cluster:
    """Four nodes with room for 32 pods, of which ``a`` may have at most ten cpus; each tells what its cycles said."""

    def __init__(self, tiers: str, *, oracle: bool) -> None:
        config = fair_configuration(tiers)
        self.core = Scheduler(
            config.profiles, default_registry(), settings=Settings(oracle=oracle), feature_gates=config.gates
        )
        self.host = Host(self.core)
        self.said: list[str] = []
        self.core.add(Queue("a", capability={"cpu": 10 * 10**9}))
        self.core.add(Queue("b", weight=2))
        for at in range(4):
            self.core.add(make_node(f"n{at}").capacity(cpu=8, memory="64Gi", pods=20).obj())

    def gang(self, name: str, tenant: str, size: int, minimum: int, cpu: int = 1) -> None:
        self.core.add(make_pod_group(name).min_count(minimum).annotation(QUEUE_NAME, tenant).obj())
        for pod in pods_like(make_pod("t").requests(cpu=cpu, memory="1Gi"), size, name, name):
            self.core.add(pod)
        while (report := self.core.step()) is not None:
            self.host.carry_out(report.decisions)
            self.said.append(repr(report))
        self.core._check()

    @property
    def planned(self) -> int:
        return planned(self.core)


@pytest.mark.parametrize("tiers", ["proportion first", "capacity"])
def test_a_gang_that_may_have_all_it_asks_for_is_planned_and_one_beyond_the_limit_is_cut(
    tiers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_ahead, "START", 2)
    clusters = [Cluster(tiers, oracle=False), Cluster(tiers, oracle=True)]
    for cluster in clusters:
        cluster.gang("whole", "a", 8, 8)
        cluster.gang("cut", "a", 5, 2)
        cluster.gang("free", "b", 9, 9)
    assert clusters[0].host.bindings == clusters[1].host.bindings
    assert clusters[0].said == clusters[1].said
    assert len(clusters[0].host.bindings) == 8 + 2 + 9
    assert clusters[0].planned > 9


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from(("proportion", "proportion first", "capacity")), st.integers(1, 4))
def test_planned_or_asked_one_by_one_the_cycles_say_the_same(seed: int, tiers: str, start: int) -> None:
    clusters = [Cluster(tiers, oracle=False), Cluster(tiers, oracle=True)]
    before, run_ahead.START = run_ahead.START, start
    try:
        for cluster in clusters:
            rng = Random(seed)
            for at in range(7):
                size = rng.randint(1, 6)
                cluster.gang(f"g{at}", rng.choice(TENANTS), size, rng.randint(1, size), rng.choice((1, 1, 2)))
    finally:
        run_ahead.START = before
    assert clusters[0].said == clusters[1].said
