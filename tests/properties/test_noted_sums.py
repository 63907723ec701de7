"""Sums of a node table hold nonsense here while pods are only noted there: whoever reads them must count first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Self

import numpy as np
import pytest

from gangsched.config import default_config
from gangsched.engine import run_ahead
from gangsched.engine.explain import explain
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.host import Host
from gangsched_framework import node_sums
from gangsched_framework.node_sums import NodeSums
from gangsched_framework.objects import ClusterObject
from gangsched_framework.testing import make_node, make_pod_group, make_pods
from gangsched_plugins.default_registry import default_registry
from tests.properties.objects import one_in, some
from tests.properties.same import step_alike

SEEDS = 40
NONSENSE = 2**50 + 1
SHAPES: tuple[dict[str, int | str], ...] = ({"cpu": "500m", "memory": "1Gi"}, {"cpu": 1}, {"memory": "512Mi"}, {})


class Noted(list[int]):
    """What is noted in ``sums``, whose columns are spoilt by the first entry."""

    def __init__(self, sums: NodeSums) -> None:
        super().__init__()
        self._sums = sums

    def append(self, entry: int) -> None:
        self += (entry,)

    def __iadd__(self, entries: Iterable[int]) -> Self:  # type: ignore[misc, override]
        if not self:
            self.spoil()
        self.extend(entries)
        return self

    def spoil(self) -> None:
        """Spoil the columns, or make them good again."""
        sums = self._sums
        for column in (*sums.used.values(), sums.nonzero_cpu, sums.nonzero_memory):
            amounts = np.frombuffer(column, np.int64)
            amounts ^= NONSENSE


@pytest.fixture
def spoilt(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sums are nonsense while anything is noted; returns how many entries were counted at once, each time."""
    counted: list[int] = []
    catch_up = NodeSums.catch_up

    def spoilt_catch_up(self: NodeSums) -> None:
        noted = self.noted
        assert isinstance(noted, Noted)
        counted.append(len(noted))
        noted.spoil()
        catch_up(self)
        self.noted = Noted(self)

    monkeypatch.setattr(NodeSums, "catch_up", spoilt_catch_up)
    monkeypatch.setattr(run_ahead, "START", 2)
    return counted


class Story:
    """Two cores, one without columns, that are told the same and must report the same."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = Random(f"noted:{seed}")
        config = default_config()
        self.cores = [
            Scheduler(config.profiles, default_registry(), settings=Settings(oracle=oracle)) for oracle in (False, True)
        ]
        for core in self.cores:
            core.world.table.sums.noted = Noted(core.world.table.sums)
        self.hosts = [Host(core) for core in self.cores]
        self.numbers = 0
        for number in range(rng.randrange(3, 12)):
            self.a_node_appears(number)

    def tell(self, objects: Iterable[ClusterObject]) -> None:
        for obj in objects:
            for core in self.cores:
                core.add(obj)

    def a_node_appears(self, number: int) -> None:
        size = some(self.rng, (4, 8, 16))
        node = make_node(f"n{number:02}").capacity(cpu=size, memory=f"{2 * size}Gi", pods=some(self.rng, (6, 110)))
        self.tell([node.obj()])

    def pods_come(self) -> None:
        self.numbers += 1
        name, count = f"g{self.numbers}", some(self.rng, (1, 3, 9, 25))
        pods = make_pods(count, name).requests(**some(self.rng, SHAPES))
        if one_in(self.rng, 2):
            self.tell([make_pod_group(name).min_count(self.rng.randrange(1, count + 1)).obj()])
            pods = pods.in_group(name)
        self.tell(pods.priority(some(self.rng, (0, 0, 1))).obj())

    def pods_go(self) -> None:
        bound = sorted(self.hosts[0].bindings)
        for key in self.rng.sample(bound, min(len(bound), some(self.rng, (1, 5, 60)))):
            for core, host in zip(self.cores, self.hosts, strict=True):
                if (pod := core.pod(key)) is not None:
                    core.delete(pod)
                    host.bindings.pop(key, None)

    def cycles(self) -> None:
        for _ in range(some(self.rng, (1, 3, 20))):
            if not step_alike(self.cores, self.hosts):
                return

    def a_pod_is_explained(self) -> None:
        if pods := sorted(self.cores[0].world.pods):
            key = some(self.rng, tuple(pods))
            one, other = (explain(core, core.world.pods[key]) for core in self.cores)
            assert one.nodes == other.nodes

    def live(self) -> None:
        steps: list[Callable[[], None]] = [*(self.pods_come,) * 4, *(self.cycles,) * 8, self.pods_go]
        steps += (lambda: self.a_node_appears(13), self.a_pod_is_explained)
        for _ in range(40):
            some(self.rng, tuple(steps))()
        for core in self.cores:
            core._check()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_whoever_reads_sums_has_them_counted_first(
    seed: int, spoilt: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_sums, "MANY", (2, 5, 50)[seed % 3])
    Story(seed).live()


def test_pods_are_noted_here(spoilt: list[int]) -> None:
    for seed in range(5):
        Story(seed).live()
    assert len(spoilt) > 20
    assert max(spoilt) > 5
