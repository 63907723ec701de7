"""Pods of kinds that differ in one thing only: whatever is shared between like pods is not shared between them.

A few kinds come from one template by one change each. Runs of pods and gangs alternate between them, on a few nodes,
with the Filter plugins in any order. With columns, plans and memo they fare as by the per-node form. In half of the
runs the pods of a kind share one specification object, as those of a Deployment do.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from attrs import evolve

from gangsched.config import default_config
from gangsched.engine import planned_run, run_ahead
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import SECOND, Settings
from gangsched.host import Host
from gangsched_framework.objects import ClusterObject
from gangsched_framework.profile import Profile
from gangsched_framework.testing import PodBuilder, make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry
from tests.properties.objects import GPU, one_in, some
from tests.properties.same import assert_same_state, step_alike

SEEDS = 120

CHANGES: dict[str, Callable[[PodBuilder], PodBuilder]] = {
    "a container more": lambda pod: pod.container(cpu="100m"),
    "an init container": lambda pod: pod.init_container(cpu="500m"),
    "a sidecar": lambda pod: pod.init_container(sidecar=True, cpu="200m"),
    "requests of the whole pod": lambda pod: pod.pod_level(cpu="1"),
    "requests of the whole pod, of nothing": lambda pod: pod.pod_level(cpu="0"),
    "requests of the whole pod, of memory alone": lambda pod: pod.pod_level(memory="200Mi"),
    "overhead": lambda pod: pod.overhead(cpu="100m"),
    "another resource": lambda pod: pod.container(**{GPU: "1"}),
    "a label": lambda pod: pod.label("app", "a"),
    "another label": lambda pod: pod.label("app", "b"),
    "a host port": lambda pod: pod.host_port(80),
    "a node selector": lambda pod: pod.node_selector("disk", "ssd"),
    "a preferred node": lambda pod: pod.node_affinity("disk", "ssd", weight=5),
    "a toleration": lambda pod: pod.tolerates("old", operator="Exists"),
    "anti-affinity": lambda pod: pod.anti_affinity("zone", {"app": "a"}),
    "a preference for company": lambda pod: pod.affinity("rack", {"app": "a"}, weight=3),
    "spread": lambda pod: pod.spread("zone", {"app": "b"}),
    "a policy of preemption": lambda pod: pod.preemption_policy("Never"),
    "a nomination": lambda pod: pod.nominated("n0"),
    "a nomination above the others": lambda pod: pod.nominated("n1").priority(7).gate("held"),
}


class TwoCores:
    """One with columns, one without, told the same; what they say of each cycle is compared."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        config = default_config()
        (profile,) = config.profiles
        profiles = [_shuffled(profile, rng)]
        self.cores = [
            Scheduler(profiles, default_registry(), settings=Settings(oracle=oracle), feature_gates=config.gates)
            for oracle in (False, True)
        ]
        self.hosts = [Host(core) for core in self.cores]

    def tell(self, *objects: ClusterObject) -> None:
        for obj in objects:
            for core in self.cores:
                core.add(obj)

    def work_off(self) -> None:
        for _ in range(200):
            if not step_alike(self.cores, self.hosts):
                break
        assert_same_state(*self.cores)
        self.cores[0]._check()

    def a_pod_ends(self) -> None:
        bound = sorted(self.hosts[0].bindings)
        if bound:
            key = some(self.rng, tuple(bound))
            for core, host in zip(self.cores, self.hosts, strict=True):
                del host.bindings[key]
                pod = core.pod(key)
                if pod is not None:
                    core.delete(pod)

    def time_passes(self) -> None:
        seconds = some(self.rng, (1, 5, 30))
        for core in self.cores:
            core.advance(seconds * SECOND)


def _shuffled(profile: Profile, rng: Random) -> Profile:
    filters = list(profile.points["filter"])
    rng.shuffle(filters)
    return evolve(profile, points={**profile.points, "filter": tuple(filters)})


def _node(rng: Random, number: int) -> ClusterObject:
    node = make_node(f"n{number}").label("zone", some(rng, ("a", "b"))).label("rack", some(rng, ("x", "y", "z")))
    gpus = {GPU: 3} if one_in(rng, 2) else {}
    memory, pods = some(rng, ("14Gi", "29Gi")), some(rng, (5, 40))
    node = node.capacity(cpu=some(rng, (4, 9, 15)), memory=memory, pods=pods, **gpus)
    node = node.label("disk", "ssd") if one_in(rng, 3) else node
    return (node.taint("old") if one_in(rng, 5) else node).obj()


def _kinds(rng: Random) -> list[PodBuilder]:
    kinds = [make_pod("template").container(cpu=some(rng, ("100m", "500m", "0")), memory=some(rng, ("1Gi", "0")))]
    for name in rng.sample(sorted(CHANGES), rng.randrange(1, 4)):
        kinds.append(CHANGES[name](some(rng, tuple(kinds))))
    return kinds


def _a_run_comes(cores: TwoCores, kind: PodBuilder, number: int) -> None:
    rng, template = cores.rng, kind.obj()
    priority = max(template.priority, some(rng, (0, 0, 0, 5)))
    group = ""
    if one_in(rng, 2):
        group = f"g{number}"
        gang = make_pod_group(group).priority(priority)
        gang = gang.min_count(rng.randrange(1, 5)) if one_in(rng, 2) else gang
        cores.tell((gang.topology(some(rng, ("zone", "rack"))) if one_in(rng, 3) else gang).obj())
    shares = one_in(rng, 2)
    for i in range(some(rng, (3, 9, 25))):
        pod = kind.priority(priority)
        built = (pod.in_group(group) if group else pod).obj()
        name = f"p{number:02}-{i:02}"
        cores.tell(evolve(built, name=name, uid=name, spec=template.spec if shares else built.spec))


@pytest.fixture(autouse=True)
def short_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans end and begin anew within a run."""
    monkeypatch.setattr(run_ahead, "LONGEST", 30)
    monkeypatch.setattr(planned_run, "LONGEST", 40)


def live(seed: int) -> None:
    rng = Random(f"kinds:{seed}")
    cores = TwoCores(rng)
    cores.tell(*(_node(rng, number) for number in range(rng.randrange(2, 8))))
    kinds = tuple(_kinds(rng))
    for number in range(rng.randrange(3, 10)):
        _a_run_comes(cores, some(rng, kinds), number)
        if not one_in(rng, 5):
            cores.work_off()
        if one_in(rng, 3):
            cores.a_pod_ends()
        if one_in(rng, 5):
            cores.time_passes()
    cores.work_off()


@pytest.mark.parametrize("part", range(4))
def test_they_fare_as_by_the_per_node_form(part: int) -> None:
    for seed in range(part, SEEDS, 4):
        live(seed)
