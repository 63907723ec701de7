"""What a host writes to a pod or a group it knows: the core comes to stand as after the update that says the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from gangsched.engine.cycle import Cycle
from gangsched.engine.decisions import Bind
from gangsched.engine.scheduler import Scheduler
from gangsched_framework.objects import COMPOSITE_POD_GROUP, POD_GROUP, Condition, EntityKey, Node, Pod, PodStatus
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry
from tests.properties.cores import PlainlyUpdated, configuration

Story = Callable[[Scheduler], None]
SEEN = PodStatus(conditions=(Condition("PodScheduled", "True"),), start_time=0)
REFUSED = PodStatus(conditions=(Condition("PodScheduled", "False", "Unschedulable", "no room"),))


def _node(name: str = "n1") -> Node:
    return make_node(name).capacity(cpu=4, memory="8Gi", pods=9).obj()


def _pod(name: str, cpu: int = 1, gang: str = "g") -> Pod:
    return make_pod(name).requests(cpu=cpu).label("app", "web").in_group(gang).obj()


def _known(core: Scheduler, name: str) -> Pod:
    pod = core.pod(f"default/{name}")
    assert pod is not None
    return pod


def _cycle(core: Scheduler) -> Cycle:
    cycle = core.pop()
    assert cycle is not None
    return cycle


def _bound(core: Scheduler, *pods: Pod) -> None:
    """Pods whose bindings the core knows of, but does not see yet."""
    for pod in pods:
        core.add(pod)
    cycle = _cycle(core)
    cycle.decide()
    for decision in cycle.submit().decisions:
        if isinstance(decision, Bind):
            core.bound(decision.pod, decision.uid)


def members_are_seen_bound(core: Scheduler) -> None:
    _bound(core, _pod("a"), _pod("b"))
    for name in "ba":
        core.update_status(_known(core, name), "n1", SEEN)


def a_plain_pod_with_affinity_is_seen_bound(core: Scheduler) -> None:
    _bound(core, make_pod("a").label("app", "web").anti_affinity("kubernetes.io/hostname", {"app": "db"}).obj())
    core.update_status(_known(core, "a"), "n1", SEEN)


def another_pod_wakes_by_the_binding_it_sees(core: Scheduler) -> None:
    core.add(make_pod("b").requests(cpu=1).affinity("kubernetes.io/hostname", {"app": "web"}).obj())
    core.step()
    _bound(core, make_pod("a").label("app", "web").obj())
    core.update_status(_known(core, "a"), "n1", SEEN)


def a_pod_changed_while_it_was_being_bound(core: Scheduler) -> None:
    _bound(core, make_pod("a").requests(cpu=1).obj())
    resized = make_pod("a").requests(cpu=3).priority(7).label("app", "db").obj()
    core.update(evolve(resized, uid=_known(core, "a").uid))
    core.update_status(_known(core, "a"), "n1", SEEN)


def the_node_went_before_the_binding_was_seen(core: Scheduler) -> None:
    _bound(core, _pod("a"), _pod("b"))
    core.delete(_node())
    core.update_status(_known(core, "a"), "n1", SEEN)
    core.snapshot.refresh()
    core.update_status(_known(core, "b"), "n1", SEEN)
    core.add(_node())
    core.snapshot.refresh()


def a_binding_is_seen_while_another_cycle_stands(core: Scheduler) -> None:
    _bound(core, _pod("a"), _pod("b"))
    core.add(make_pod("c").requests(cpu=1).obj())
    cycle = _cycle(core)
    cycle.decide()
    for name in "ab":
        core.update_status(_known(core, name), "n1", SEEN)
    cycle.submit()


def a_pod_is_seen_elsewhere_than_it_was_assumed(core: Scheduler) -> None:
    core.add(_node("n2"))
    _bound(core, _pod("a"), _pod("b"))
    for name in "ab":
        core.update_status(_known(core, name), "n2", SEEN)


def a_waiting_pod_is_bound_by_others(core: Scheduler) -> None:
    core.add(_pod("a"))
    core.update_status(_known(core, "a"), "n1", SEEN)


def waiting_pods_show_that_they_were_refused(core: Scheduler) -> None:
    for pod in (_pod("a", 9), _pod("b", 9), make_pod("c").requests(cpu=9).obj()):
        core.add(pod)
    while core.step() is not None:
        pass
    for name in "abc":
        core.update_status(_known(core, name), "", REFUSED)


def a_pod_in_flight_shows_that_it_was_refused(core: Scheduler) -> None:
    core.add(make_pod("a").requests(cpu=9).obj())
    cycle = _cycle(core)
    cycle.decide()
    core.update_status(_known(core, "a"), "", REFUSED)
    cycle.submit()


def a_pod_being_bound_shows_a_condition(core: Scheduler) -> None:
    _bound(core, _pod("a"), _pod("b"))
    core.update_status(_known(core, "a"), "", REFUSED)
    core.update_status(_known(core, "a"), "n1", SEEN)


def a_nomination_comes_and_goes(core: Scheduler) -> None:
    core.add(make_pod("a").requests(cpu=9).obj())
    core.step()
    for node in ("n1", ""):
        core.update_status(_known(core, "a"), "", evolve(REFUSED, nominated_node_name=node))


def a_pod_of_another_scheduler_shows_a_condition(core: Scheduler) -> None:
    core.add(make_pod("a").scheduler("nobody").in_group("g").obj())
    core.update_status(_known(core, "a"), "", REFUSED)


def _show(core: Scheduler, *groups: str) -> None:
    for name in groups:
        kind = COMPOSITE_POD_GROUP if name == "tree" else POD_GROUP
        shown = Condition("Scheduled", "False", "Unschedulable", name)
        core.update_group_status(EntityKey.of(kind, "default", name), shown)


def a_group_without_pods_and_an_unknown_one_show_a_condition(core: Scheduler) -> None:
    _show(core, "g", "unknown")


def a_waiting_tree_shows_conditions(core: Scheduler) -> None:
    core.add(make_composite_pod_group("tree").min_group_count(1).obj())
    core.add(make_pod_group("leaf").min_count(1).parent("tree").obj())
    core.add(_pod("a", 9, "leaf"))
    core.add(_pod("b", 9))
    _show(core, "leaf", "tree", "g")
    while core.step() is not None:
        pass
    _show(core, "leaf", "tree", "g")


def a_popped_gang_shows_a_condition(core: Scheduler) -> None:
    for name in "ab":
        core.add(_pod(name))
    cycle = _cycle(core)
    cycle.decide()
    _show(core, "g")
    cycle.submit()


def an_assigned_pod_shows_a_condition(core: Scheduler) -> None:
    core.add(evolve(_pod("a"), node_name="n1"))
    core.update_status(_known(core, "a"), "n1", SEEN)


def a_resized_pod_is_seen_bound(core: Scheduler) -> None:
    pod = make_pod("a").requests(cpu=1).allocated(cpu=2).obj()
    _bound(core, pod)
    core.update_status(_known(core, "a"), "n1", evolve(SEEN, allocated=pod.status.allocated))


STORIES = (
    members_are_seen_bound,
    a_plain_pod_with_affinity_is_seen_bound,
    another_pod_wakes_by_the_binding_it_sees,
    a_pod_changed_while_it_was_being_bound,
    the_node_went_before_the_binding_was_seen,
    a_binding_is_seen_while_another_cycle_stands,
    a_pod_is_seen_elsewhere_than_it_was_assumed,
    a_waiting_pod_is_bound_by_others,
    waiting_pods_show_that_they_were_refused,
    a_pod_in_flight_shows_that_it_was_refused,
    a_pod_being_bound_shows_a_condition,
    a_nomination_comes_and_goes,
    a_pod_of_another_scheduler_shows_a_condition,
    an_assigned_pod_shows_a_condition,
    a_group_without_pods_and_an_unknown_one_show_a_condition,
    a_waiting_tree_shows_conditions,
    a_popped_gang_shows_a_condition,
    a_resized_pod_is_seen_bound,
)


def _told(story: Story, kind: type[Scheduler]) -> dict[str, object]:
    config = configuration("default", 0)
    core = kind(config.profiles, default_registry(), feature_gates=config.gates)
    core.world.keep_accounts(core.snapshot)
    core.world.table.follow_moves()
    core.add(_node())
    core.add(make_pod_group("g").min_count(2).obj())
    story(core)
    core._check()
    table, world = core.world.table, core.world
    assert world.accounts is not None
    return {
        "queue": core.queue_state(),
        "nominations": {pod.key: core.nominator.nominated_node(pod) for pod in world.pods.values()},
        "pods": {key: (pod.node_name, pod.status, pod.labels) for key, pod in world.pods.items()},
        "table": [[(key, pod.status) for key, pod in pods.items()] for pods in table.pods],
        "used": {name: list(column) for name, column in table.used.items()},
        "touched": table.touched,
        "moves": [(pod.key, pod.status, row, sign) for pod, row, sign in table.moves or ()],
        "affinity": {row: list(pods) for row, pods in table.affinity_pods.items()},
        "members": [
            (uid, pod.node_name, pod.status)
            for leaf in {pod.group_key for pod in world.pods.values() if pod.group_key is not None}
            for uid, pod in world.forest.scheduled_pods(leaf).items()
        ],
        "groups": [(group.key, group.conditions) for group in world.forest.groups()],
        "placed": {key: world.accounts.is_placed(key) for key in world.pods},
        "version": world.version,
    }


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__.replace("_", " "))
def test_a_status_written_is_the_update_that_shows_it(story: Story) -> None:
    assert _told(story, Scheduler) == _told(story, PlainlyUpdated)


def a_copy_from_before_it_was_seen_on_another_node(core: Scheduler) -> None:
    core.add(_node("n2"))
    core.add(_pod("a"))
    stale = _known(core, "a")
    core.update(stale.bound_to("n2"))
    core.update_status(stale, "n1", SEEN)


def a_copy_of_a_pod_that_is_gone(core: Scheduler) -> None:
    core.add(_pod("a"))
    stale = _known(core, "a")
    core.delete(stale)
    core.update_status(stale, "n1", SEEN)


OLD_COPIES: list[Story] = [a_copy_from_before_it_was_seen_on_another_node, a_copy_of_a_pod_that_is_gone]


@pytest.mark.parametrize("story", OLD_COPIES, ids=lambda story: story.__name__.replace("_", " "))
def test_is_taken_as_any_other_update(story: Story) -> None:
    assert _told(story, Scheduler) == _told(story, PlainlyUpdated)
