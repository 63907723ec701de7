"""Refusals that are known under tiers: a core that remembers them and one that does not decide and say the same."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import SECOND, Settings
from gangsched.host import Host
from gangsched_framework.objects import QUEUE_NAME, ClusterObject, Queue
from gangsched_framework.testing import make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry
from tests.properties.fair_story import fair_configuration

TENANTS = ("a", "b", "c")


class Cluster:
    """A core of small nodes, full of gangs of three tenants that come, run and end."""

    def __init__(self, tiers: str, *, memo: bool) -> None:
        config = fair_configuration(tiers)
        settings = Settings(memo=memo, idle=True)
        self.core = Scheduler(config.profiles, default_registry(), settings=settings, feature_gates=config.gates)
        self.host = Host(self.core)

    @property
    def hits(self) -> int:
        memo = self.core._tools.memo
        return 0 if memo is None else memo.hits

    def told(self, step: int, seed: int) -> list[str]:
        """One step, the same in every cluster; all the cycles that follow."""
        rng, core = Random(f"{seed}:{step}"), self.core
        draw = rng.randrange(10)
        if draw < 5:
            for obj in _gang(rng, step):
                core.add(obj)
        elif draw < 7:
            bound = sorted(self.host.bindings)
            for key in rng.sample(bound, min(2, len(bound))):
                gone = core.pod(key)
                assert gone is not None
                core.delete(gone)
                del self.host.bindings[key]
        elif draw < 8:
            self._set(Queue(rng.choice(TENANTS), weight=rng.choice((1, 2, 5)), deserved={"cpu": 4 * 10**9}))
        elif draw < 9 and step % 3 == 0:
            core.add(make_node(f"n{step}").capacity(cpu=4, memory="8Gi", pods=9).obj())
        core.advance(rng.choice((0, 1, 7, 20)) * SECOND)
        return list(self._cycles())

    def _set(self, queue: Queue) -> None:
        known = self.core.world.queues.get(queue.name)
        (self.core.add if known is None else self.core.update)(queue)

    def _cycles(self) -> Iterator[str]:
        while (report := self.core.step()) is not None:
            self.host.carry_out(report.decisions)
            yield repr(report)


def _gang(rng: Random, number: int) -> Iterator[ClusterObject]:
    tenant, size, cpu = rng.choice(TENANTS), rng.choice((1, 1, 2, 3)), rng.choice((2, 3))
    yield make_pod_group(f"g{number}").min_count(size).annotation(QUEUE_NAME, tenant).created(number).obj()
    for i in range(size):
        yield make_pod(f"g{number}-{i}").requests(cpu=cpu, memory="1Gi").in_group(f"g{number}").created(number).obj()


@pytest.mark.parametrize("tiers", ["proportion", "capacity", "drf"])
def test_what_is_remembered_is_what_would_be_found(tiers: str) -> None:
    hits = 0
    for seed in range(3):
        remembers, forgets = Cluster(tiers, memo=True), Cluster(tiers, memo=False)
        for name in ("n", "m"):
            for cluster in (remembers, forgets):
                cluster.core.add(make_node(name).capacity(cpu=4, memory="8Gi", pods=9).obj())
        for step in range(120):
            assert remembers.told(step, seed) == forgets.told(step, seed), f"seed {seed}, step {step}"
        hits += remembers.hits
    assert hits > 100
