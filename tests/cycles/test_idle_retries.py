"""Retries that pass without being carried out (``Settings.idle``): a tree that changed meanwhile is tried."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from gangsched.config import default_config
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import SECOND, Settings
from gangsched.host import Host
from gangsched_plugins.default_registry import default_registry
from tests.cycles.harness import leaf, node, pod

END = 60 * SECOND


def shrink(core: Scheduler) -> None:
    big = core.pod("default/g-1")
    assert big is not None
    core.update(evolve(big, spec=pod("g-1", cpu=1).spec))


def lower(core: Scheduler) -> None:
    group = core.world.forest.group(leaf("g").key)
    assert group is not None
    core.update(evolve(group, minimum=1))


def join(core: Scheduler) -> None:
    core.add(pod("g-2", "g", cpu=1))


CHANGES: dict[str, Callable[[Scheduler], None]] = {
    "a pod shrinks": shrink,
    "the minimum falls": lower,
    "a pod joins": join,
}


def play(change: Callable[[Scheduler], None], *, idle: bool) -> tuple[dict[str, tuple[int, str]], int]:
    """Where and when each pod is bound, and the retries that were skipped. The change falls into the first cycle."""
    config = default_config()
    settings = Settings(idle=idle, max_backoff=2 * SECOND)
    core = Scheduler(config.profiles, default_registry(), settings=settings, feature_gates=config.gates)
    host = Host(core)
    core.add(node("n", cpu=2))
    core.add(leaf("g", 2))
    for waiting in (pod("g-0", "g", cpu=1), pod("g-1", "g", cpu=9)):
        core.add(waiting)
    bound: dict[str, tuple[int, str]] = {}
    cycles = 0
    while core.now < END:
        while core.peek() is not None:
            cycle = core.pop()
            assert cycle is not None
            cycle.decide()
            cycles += 1
            if cycles == 1:
                change(core)
            host.carry_out(cycle.submit().decisions)
            for key, where in host.bindings.items():
                bound.setdefault(key, (core.now, where))
        due = core.next_due()
        core.jump(END if due is None else min(due, END))
        core.flush()
    return bound, core.idle_retries


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_tree_that_changed_while_it_was_refused_is_tried_again(change: Callable[[Scheduler], None]) -> None:
    carried_out, skipped = play(change, idle=False), play(change, idle=True)
    assert carried_out[0]
    assert skipped[0] == carried_out[0]


def test_an_unchanged_tree_sleeps() -> None:
    bound, retries = play(lambda core: None, idle=True)
    assert not bound
    assert retries > 10
