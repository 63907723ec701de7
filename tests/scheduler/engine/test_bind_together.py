"""Large gangs are bound together: what comes of it is as if each pod had been bound by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from gangsched.engine.scheduler import Scheduler
from gangsched_framework.objects import Pod
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry
from tests.properties.cores import configuration

Event = Callable[[Scheduler], None]


def _pod(number: int, cpu: int = 1) -> Pod:
    return make_pod(f"p{number}").requests(cpu=cpu).in_group(f"leaf-{number % 2}").obj()


def _known(core: Scheduler, number: int) -> Pod:
    pod = core.pod(f"default/p{number}")
    assert pod is not None
    return pod


def nothing_happens(core: Scheduler) -> None:
    pass


def another_pod_arrives(core: Scheduler) -> None:
    core.add(make_pod("late").obj())


def a_member_changes_its_labels(core: Scheduler) -> None:
    core.update(evolve(_known(core, 4), labels={"app": "web"}))


def a_member_goes(core: Scheduler) -> None:
    core.delete(_known(core, 4))


def a_member_is_replaced(core: Scheduler) -> None:
    core.update(evolve(_known(core, 4), uid="another"))


def a_member_is_bound_by_others(core: Scheduler) -> None:
    core.update(_known(core, 4).bound_to("n1"))


def a_member_is_nominated(core: Scheduler) -> None:
    pod = _known(core, 4)
    core.update(pod.with_status(evolve(pod.status, nominated_node_name="n2")))


def a_member_too_large_joins_before(core: Scheduler) -> None:
    core.add(_pod(20, cpu=90))


BEFORE = {
    "all fit": nothing_happens,
    "one fails": a_member_too_large_joins_before,
    "one is nominated": a_member_is_nominated,
}
DURING = (
    nothing_happens,
    another_pod_arrives,
    a_member_changes_its_labels,
    a_member_goes,
    a_member_is_replaced,
    a_member_is_bound_by_others,
    a_member_is_nominated,
)


def _core(*, plainly: bool) -> Scheduler:
    config = configuration("default", 0)
    core = Scheduler(config.profiles, default_registry(), feature_gates=config.gates)
    core.world.keep_accounts(core.snapshot)
    for framework in core.frameworks.values():
        assert framework.binds_plainly
        framework.binds_plainly = plainly  # else whoever has nothing to say is asked, pod by pod
    for name in ("n1", "n2", "n3"):
        core.add(make_node(name).capacity(cpu=8, memory="8Gi", pods=110).obj())
    core.add(make_composite_pod_group("tree").min_group_count(2).obj())
    for leaf in ("leaf-0", "leaf-1"):
        core.add(make_pod_group(leaf).min_count(2).parent("tree").obj())
    return core


def _played(before: Event, during: Event, *, plainly: bool) -> tuple[Any, ...]:
    core = _core(plainly=plainly)
    for number in range(12):
        core.add(_pod(number))
    before(core)
    cycle = core.pop()
    assert cycle is not None
    cycle.decide()
    during(core)
    report = cycle.submit()
    core._check()
    said = {key: (pod.node, pod.status and pod.status.message, pod.plugins) for key, pod in report.pods.items()}
    assert core.world.accounts is not None
    placed = {key: core.world.accounts.is_placed(key) for key in core.world.pods}
    promised = dict(core.nominator.node_of)
    return report.decisions, said, core.queue_state(), core.binding, placed, promised, core.world.version


@pytest.mark.parametrize("during", DURING, ids=lambda event: event.__name__.replace("_", " "))
@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_a_tree_bound_together_fares_as_pod_by_pod(before: Event, during: Event) -> None:
    assert _played(before, during, plainly=True) == _played(before, during, plainly=False)


def test_a_tree_as_it_was_popped_is_bound_together(monkeypatch: pytest.MonkeyPatch) -> None:
    core = _core(plainly=True)
    for number in range(12):
        core.add(_pod(number))
    monkeypatch.setattr(type(core._submitter), "bind", None)
    report = core.step()
    assert report is not None
    assert len(report.pods) == len(core.binding) == 12
