"""A refusal outlives the world it was found in for as long as no node fares otherwise with the tree's pods."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from gangsched.config import default_config
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.host import Host
from gangsched_framework.objects import Group, Namespace, Queue
from gangsched_plugins.default_registry import default_registry
from tests.cycles.harness import leaf, node, pod


class Cluster:
    """Nodes of 4 CPUs and 3 pods: ``half`` with a pod of 2 CPUs, ``full`` with two. A gang asks for 3."""

    def __init__(self) -> None:
        config = default_config()
        self.core = Scheduler(
            config.profiles, default_registry(), settings=Settings(idle=True), feature_gates=config.gates
        )
        self.host = Host(self.core)
        for name, running in (("half", 1), ("full", 2)):
            self.core.add(node(name, pods=3))
            for i in range(running):
                self.core.add(pod(f"{name}-{i}", cpu=2, on=name))

    @property
    def hits(self) -> int:
        memo = self.core._tools.memo
        assert memo is not None
        return memo.hits

    def attempt(self, name: str) -> tuple[bool, str]:
        """The first attempt of a new gang of the kind: was its outcome known, and what does its pod's condition say."""
        before = self.hits
        self.core.add(leaf(name, 1))
        self.core.add(pod(f"{name}-0", name, cpu=3))
        while (report := self.core.step()) is not None:
            self.host.carry_out(report.decisions)
        waiting = self.core.pod(f"default/{name}-0")
        assert waiting is not None
        condition = waiting.condition("PodScheduled")
        assert condition is not None
        return self.hits > before, condition.message


def _remove(name: str) -> Callable[[Scheduler], None]:
    def change(core: Scheduler) -> None:
        gone = core.pod(f"default/{name}")
        assert gone is not None
        core.delete(gone)

    return change


def _cordon(core: Scheduler) -> None:
    known = core.node("full")
    assert known is not None
    core.update(evolve(known, unschedulable=True))


def _run(name: str, on: str, cpu: float = 1, priority: int = 0) -> Callable[[Scheduler], None]:
    return lambda core: core.add(pod(name, cpu=cpu, priority=priority, on=on))


LASTS: dict[str, Callable[[Scheduler], None]] = {
    "nothing happens": lambda core: None,
    "a node with too little room gets less": _run("more", on="half"),
    "a full node gets room for less than is asked": _remove("full-0"),
}

ENDS: dict[str, Callable[[Scheduler], None]] = {
    "room appears": _remove("half-0"),
    "a node comes to lack pods, too": _run("third", on="full", cpu=0),
    "somebody less important runs": _run("less", on="half", priority=-1),
    "a node is cordoned": _cordon,
    "a node appears": lambda core: core.add(node("tiny", cpu=1)),
    "a namespace appears": lambda core: core.add(Namespace("other")),
    "a queue appears": lambda core: core.add(Queue("q")),
}


@pytest.mark.parametrize("change", LASTS.values(), ids=LASTS)
def test_it_lasts_although(change: Callable[[Scheduler], None]) -> None:
    cluster = Cluster()
    cluster.attempt("first")
    change(cluster.core)

    assert cluster.attempt("second") == (True, "0/2 nodes are available: 2 Insufficient cpu.")


@pytest.mark.parametrize("change", ENDS.values(), ids=ENDS)
def test_it_ends_when(change: Callable[[Scheduler], None]) -> None:
    cluster = Cluster()
    cluster.attempt("first")
    change(cluster.core)

    known, _ = cluster.attempt("second")

    assert not known


def test_it_ends_when_a_group_of_running_pods_comes_to_go_as_a_whole() -> None:
    """What may be evicted is another unit then."""
    cluster = Cluster()
    group = leaf("others", 1, priority=-1)
    cluster.core.add(group)
    cluster.core.add(pod("here", "others", cpu=2, on="half"))
    version = cluster.core.world.version
    cluster.core.update(evolve(group, disruption_mode="all"))
    assert cluster.core.world.version > version


GROUP_OF_OTHERS: dict[str, Callable[[Scheduler, Group], None]] = {
    "becomes less important": lambda core, group: core.update(evolve(group, priority=-1)),
    "goes": lambda core, group: core.delete(group),
}


@pytest.mark.parametrize("change", GROUP_OF_OTHERS.values(), ids=GROUP_OF_OTHERS)
def test_it_ends_when_a_group_of_running_pods(change: Callable[[Scheduler, Group], None]) -> None:
    """The world of nodes and pods is the same, but now there is somebody to evict."""
    cluster = Cluster()
    group = leaf("important", 1, priority=10)
    cluster.core.add(group)
    cluster.core.add(evolve(pod("worth-more", "important", cpu=2, on="half"), priority=-1))
    cluster.attempt("first")
    assert cluster.attempt("second")[0]
    change(cluster.core, group)

    known, _ = cluster.attempt("third")

    assert not known
