"""Events through the whole engine: row 78 of spec §8.2, and steps of §2.12 that no row names."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from attrs import evolve

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.errors import PluginError
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status, unschedulable
from gangsched_framework.testing import make_pod
from tests.cycles.harness import Cluster, FilterByPod, asked, binds, inner, leaf, messages, node, pod, pods, tried


class BrokenHint(FilterByPod):
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return unschedulable("no")

    def events_to_register(self) -> Iterable[ClusterEventWithHint]:
        yield ClusterEventWithHint(ClusterEvent(Resource.NODE, Action.ADD), _broken)


def _broken(pod: Pod, old: object, new: object) -> Hint:
    raise ValueError("a bug in a hint")


def test_row_78_a_hint_cannot_return_an_error_and_an_exception_is_a_bug_that_shows() -> None:
    # upstream takes an error for Queue; here a hint answers with a Hint, and what it raises is not swallowed
    cluster = Cluster(node("n"), pod("p"), plugins=[("filter", BrokenHint, {})])
    cluster.cycle()
    assert cluster.where == {"p": "parked"}
    with pytest.raises(PluginError, match="plugin BrokenHint: hint raised ValueError: a bug in a hint"):
        cluster.add(node("m"))


# --- bindings ---------------------------------------------------------------------------------------------------------


def test_a_failed_binding_returns_the_room_and_wakes_others_but_not_the_pod_itself_before_it_is_requeued() -> None:
    cluster = Cluster(node("n", cpu=1), pod("parked", priority=-1), pod("p"))
    cluster.cycle(fail_bind=["p"])
    assert cluster.used_cpu() == {"n": 0}
    assert cluster.where["p"] == "backoff"
    assert cluster.entity("p").heap == "error"
    assert binds(cluster.cycle()) == {"parked": "n"}


def test_a_parked_pod_whose_hint_says_queue_is_woken_by_a_failed_binding() -> None:
    cluster = Cluster(node("n", cpu=1), pod("first", priority=1), pod("second"))
    cycle = cluster.core.pop()
    assert cycle is not None
    cycle.decide()
    decisions = cycle.submit().decisions
    assert messages(cluster.cycle())["second"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert cluster.where == {"second": "parked"}
    cluster.host.bind_call = lambda bind: "refused"
    cluster.host.carry_out(decisions)
    assert cluster.where == {"second": "backoff", "first": "backoff"}


def test_a_member_whose_binding_fails_after_its_cycle_begins_anew_without_backoff() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 2), pods("g", 2))
    cluster.cycle(fail_bind=["g-1"])
    assert cluster.bound == {"g-0": "n"}
    entity = cluster.entity("g")
    assert (cluster.where, entity.attempts, entity.errors) == ({"g-1": "active"}, 0, 0)
    assert binds(cluster.cycle()) == {"g-1": "n"}


def test_members_whose_binding_failed_do_not_count_for_their_gang() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 2), pods("g", 2))
    cluster.cycle(fail_bind=["g-0", "g-1"])
    cluster.add(node("n", cpu=1))
    report = cluster.cycle()
    assert asked(report, "g") == [(2, 0, "Wait"), (1, 1, "Wait"), (0, 1, "Unschedulable")]
    assert not binds(report)


def test_room_promised_to_a_tree_is_its_own_only_while_its_members_are_tried() -> None:
    cluster = Cluster(node("a", cpu=1), node("b", cpu=1), inner("root", 1), leaf("x", 1, "root"), leaf("y", 1, "root"))
    broken = make_pod("y-0").in_group("y").requests(cpu=1).node_selector("no", "where").obj()
    cluster.add(pods("x", 1), evolve(broken, status=evolve(broken.status, nominated_node_name="b")))
    assert binds(cluster.cycle()) == {"x-0": "a"}
    assert not binds(cluster.cycle())
    cluster.add(pod("p"))
    assert not binds(cluster.cycle())
    cluster.delete("y-0")
    cluster.advance(3)
    assert binds(cluster.cycle()) == {"p": "b"}


@pytest.mark.parametrize(("priority", "bound"), [(1, {"p": "n"}), (0, {})])
def test_a_deleted_pod_that_was_passed_over_keeps_a_place_before_pods_of_priority_0_and_no_room(
    priority: int, bound: dict[str, str]
) -> None:
    leaving = pod("leaving", cpu=4, priority=5)
    leaving = evolve(leaving, status=evolve(leaving.status, nominated_node_name="n"), deletion_timestamp=0)
    cluster = Cluster(node("n", cpu=4, pods=1), leaving)
    cluster.cycle()
    cluster.add(pod("p", cpu=4, priority=priority))
    assert binds(cluster.cycle()) == bound


# --- deletions --------------------------------------------------------------------------------------------------------


def test_an_active_gang_that_loses_its_quorum_stays_active_until_it_is_popped() -> None:
    # the queue hears of the deletion before the cache, so PreEnqueue still counts the deleted pod (spec §2.11)
    cluster = Cluster(node("n"), leaf("g", 2), pods("g", 2))
    cluster.delete("g-1")
    assert cluster.where == {"g-0": "active"}
    report = cluster.cycle()
    assert not tried(report)
    assert cluster.where == {"g-0": "gated"}


# --- groups that change their parent ----------------------------------------------------------------------------------


def test_a_group_seen_with_another_parent_takes_its_pods_to_the_other_tree() -> None:
    cluster = Cluster(node("n"), inner("R", 1), inner("S", 1), leaf("g", 1, "R"), pods("g", 2))
    assert cluster.entity("g-0").key.name == "R"
    cluster.change("g", parent_name="S")
    assert cluster.entity("g-0").key.name == "S"
    assert set(binds(cluster.cycle())) == {"g-0", "g-1"}


def test_a_root_that_gets_a_parent_is_no_entity_any_more() -> None:
    cluster = Cluster(node("n"), inner("R", 1), leaf("g", 1, "R"), pods("g", 1))
    cluster.change("R", parent_name="later")
    assert cluster.where == {"g-0": "incomplete"}
    cluster.add(inner("later", 1))
    assert cluster.entity("g-0").key.name == "later"


# --- nodes that change while a cycle holds the snapshot ---------------------------------------------------------------


def test_a_node_that_comes_and_changes_and_goes_within_one_cycle_is_gone_afterwards() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 1), pods("g", 1))

    def happen() -> None:
        cluster.add(node("m", cpu=2))
        cluster.add(node("m", cpu=3))
        cluster.delete("m")

    assert binds(cluster.cycle(after_algorithm=happen)) == {"g-0": "n"}
    assert cluster.core.node("m") is None
    cluster.core.snapshot.refresh()
    assert cluster.core.world.table.names == ["n"]


def test_a_node_that_comes_within_a_cycle_is_used_by_the_next_one() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), pods("g", 2))
    report = cluster.cycle(after_algorithm=lambda: cluster.add(node("m", cpu=1)))
    assert not binds(report)
    cluster.advance(2)
    assert set(binds(cluster.cycle()).values()) == {"m", "n"}


# --- time -------------------------------------------------------------------------------------------------------------


def test_pods_that_waited_incomplete_for_long_do_not_stop_the_clock_when_they_are_gated() -> None:
    cluster = Cluster(pods("g", 1), node("n"))
    cluster.advance(1000)
    cluster.add(leaf("g", 2))
    assert cluster.where == {"g-0": "gated"}
    assert cluster.core.next_due() == 1020 * 10**9
    cluster.advance(1000)
    assert cluster.core.now == 2000 * 10**9
    assert cluster.where == {"g-0": "gated"}


# --- retries under pods that changed ----------------------------------------------------------------------------------


def test_a_pod_that_shrinks_while_its_group_is_refused_is_not_refused_from_memory() -> None:
    cluster = Cluster(node("n", cpu=2), leaf("g", 2), [pod("g-0", "g", cpu=1), pod("g-1", "g", cpu=9)])
    cluster.core.tracer.on = False  # what is traced is always evaluated
    spec = pod("g-1", "g", cpu=1).spec
    assert not binds(cluster.cycle(after_pop=lambda: cluster.change("g-1", spec=spec)))
    cluster.advance(2)
    assert set(binds(cluster.cycle())) == {"g-0", "g-1"}


def test_a_gang_whose_minimum_falls_while_it_is_refused_is_tried_with_the_new_one() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), pods("g", 2))
    cluster.core.tracer.on = False
    assert not binds(cluster.cycle(after_algorithm=lambda: cluster.change("g", minimum=1)))
    cluster.advance(2)
    assert set(binds(cluster.cycle())) == {"g-0"}


def test_a_gang_with_a_running_pod_is_not_refused_like_one_without() -> None:
    groups = [leaf("g", 2), leaf("h", 2)]
    cluster = Cluster(node("n", cpu=1), node("far", cpu=1), groups, pod("h-9", "h", on="far"))
    cluster.core.tracer.on = False
    for of in ("g", "h"):
        cluster.add(pod(f"{of}-0", of, cpu=1), pod(f"{of}-1", of, cpu=1))
    assert not binds(cluster.cycle())
    assert binds(cluster.cycle()) == {"h-0": "n"}


def test_a_refused_gang_is_refused_again_with_the_same_words() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 2), pods("g", 2))
    cluster.core.tracer.on = False
    first = messages(cluster.cycle())
    for _ in range(3):
        cluster.advance(12)
        assert messages(cluster.cycle()) == first
    cluster.core.add(evolve(node("n", cpu=2)))
    cluster.advance(30)
    assert set(binds(cluster.cycle())) == {"g-0", "g-1"}


# --- nominations and nodes that are lost ------------------------------------------------------------------------------


def test_a_lost_nomination_wakes_pods_of_at_most_its_priority() -> None:
    high = evolve(pod("high", priority=5), scheduling_gates=("later",))
    high = evolve(high, status=evolve(high.status, nominated_node_name="n"))
    cluster = Cluster(node("n", cpu=1), high, pod("low"), pod("higher", cpu=2, priority=10))
    cluster.cycle()
    cluster.cycle()
    assert cluster.where == {"high": "gated", "low": "parked", "higher": "parked"}
    cluster.change("high", status=evolve(high.status, nominated_node_name=""))
    assert cluster.where == {"high": "gated", "low": "backoff", "higher": "parked"}
    cluster.advance(2)
    assert binds(cluster.cycle()) == {"low": "n"}


def test_a_pod_that_loses_its_node_waits_again() -> None:
    cluster = Cluster(node("n", cpu=1), leaf("g", 1), pods("g", 1))
    cluster.cycle()
    cluster.change("g-0", node_name="")
    assert cluster.used_cpu() == {"n": 0}
    assert cluster.core.world.forest.scheduled_count(leaf("g").key) == 0
    assert cluster.where == {"g-0": "active"}
    assert binds(cluster.cycle()) == {"g-0": "n"}
