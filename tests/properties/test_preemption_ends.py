"""Preemption comes to an end: victims come back as new pods at once, and nobody evicts anybody for ever (spec §5)."""

from __future__ import annotations

from random import Random

import pytest
from attrs import evolve

from gangsched import Engine
from gangsched.config import default_config
from gangsched.engine.decisions import Bind, Evict
from gangsched.engine.report import CycleReport
from gangsched_framework.objects import ClusterObject, EntityKey, Pod, PodStatus
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group
from tests.properties.cores import draw_groups
from tests.properties.objects import draw_budget, one_in, some

WORLDS = 60
MOST = 2000
"""Cycles; the worlds here are quiet after some dozens."""

PRIORITIES = (0, 1, 5, 10)


def nodes(rng: Random) -> list[ClusterObject]:
    found: list[ClusterObject] = []
    for number in range(rng.randrange(2, 7)):
        node = make_node(f"n{number}").capacity(cpu=some(rng, (2, 4)), memory="16Gi", pods=some(rng, (2, 5, 20)))
        found.append(node.label("rack", f"r{number % 3}").obj())
    return found + [draw_budget(rng, "default") for _ in range(rng.randrange(3))]


def workload(rng: Random, number: int) -> list[ClusterObject]:
    """Plain pods, a gang or a tree, of one of four priorities and either disruption mode."""
    priority, kind = some(rng, PRIORITIES), rng.randrange(3)
    if kind == 0:
        return [_pod(rng, f"p{number}-{i}", "", priority) for i in range(rng.randrange(1, 4))]
    if kind == 1:
        return _gang(rng, f"g{number}", "", priority)
    root = make_composite_pod_group(f"t{number}").min_group_count(rng.randrange(1, 3)).priority(priority)
    root = root.disruption("all") if one_in(rng, 3) else root
    children = [_gang(rng, f"t{number}-{i}", f"t{number}", priority) for i in range(2)]
    return [root.topology("rack").obj() if one_in(rng, 4) else root.obj(), *children[0], *children[1]]


def _gang(rng: Random, name: str, parent: str, priority: int) -> list[ClusterObject]:
    size = rng.randrange(1, 5)
    group = make_pod_group(name).min_count(rng.randrange(1, size + 1)).priority(priority)
    group = group.topology("rack") if one_in(rng, 3) else group
    group = group.disruption("all") if one_in(rng, 3) else group
    obj = evolve(group.obj(), parent_name=parent)
    return [obj, *(_pod(rng, f"{name}-{i}", name, priority) for i in range(size))]


def _pod(rng: Random, name: str, group: str, priority: int) -> Pod:
    pod = make_pod(name).requests(cpu=some(rng, ("500m", "1", "2"))).priority(priority)
    pod = pod.label("app", some(rng, ("web", "db", "job")))
    return pod.in_group(group).obj() if group else pod.obj()


class Restarting:
    """An engine whose victims come back at once as new pods of their name."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.lives = 0
        engine.host.evict = self._restart

    def _restart(self, evict: Evict) -> None:
        pod = self.engine.core.pod(evict.pod)
        assert pod is not None
        self.engine.host.delete_victim(evict)
        self.lives += 1
        again = evolve(pod, uid=f"{pod.name}#{self.lives}", node_name="", status=PodStatus(), deletion_timestamp=None)
        self.engine.core.add(again)


def life(seed: int) -> tuple[Restarting, list[CycleReport]]:
    """Workloads come one after the other, more than fit; all cycles until nothing changes any more."""
    rng = Random(f"ends:{seed}")
    engine = Engine(evolve(default_config(), group_scheduling=draw_groups(rng)))
    restarting = Restarting(engine)
    engine.apply(*nodes(rng))
    reports: list[CycleReport] = []
    for number in range(rng.randrange(3, 10)):
        engine.apply(*workload(rng, number))
        more = engine.run(max_cycles=MOST)
        assert len(more) < MOST, f"still at work after {MOST} cycles"
        reports += more
    return restarting, reports


@pytest.mark.parametrize("seed", range(WORLDS))
def test_nobody_evicts_again_unless_it_was_bound_or_a_peer_took_its_room(seed: int) -> None:
    restarting, reports = life(seed)
    engine = restarting.engine
    waiting: dict[EntityKey, int] = {}  # entity -> the most important one that was bound since it evicted
    for report in reports:
        own = _priority(engine, report.entity)
        if any(isinstance(d, Bind) for d in report.decisions):
            waiting.pop(report.entity, None)
            waiting = {key: max(most, own) for key, most in waiting.items()}
        if any(isinstance(d, Evict) for d in report.decisions):
            assert waiting.get(report.entity, own) >= own, f"{report.entity} evicts again, and nothing came of it"
            waiting[report.entity] = -1


def _priority(engine: Engine, key: EntityKey) -> int:
    group = engine.core.world.forest.group(key)
    if group is not None:
        return group.effective_priority
    pod = engine.core.pod(key.full_name)
    assert pod is not None
    return pod.priority


def test_the_worlds_are_about_eviction() -> None:
    assert sum(life(seed)[0].lives for seed in range(20)) > 20
