"""Spec podgroup-scheduling.md §8.2: queue mechanics. One test a row; 91 and 92 need pre-hints, whose gate is off."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from attrs import evolve

from gangsched_framework.errors import InvariantError
from gangsched_framework.events import WILDCARD_EVENT
from gangsched_framework.infos import PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import Pod, PodStatus
from gangsched_framework.status import SUCCESS, Status, error, unschedulable
from gangsched_queue.requeue import Occurrence, Strategy, strategy_of_pod
from gangsched_queue.settings import SECOND, QueueSettings
from tests.queue_room.cluster import BIND, BINDING, ERROR, Cluster, group, key, pod, rejected
from tests.queue_room.fakes import (
    ASSIGNED_DELETE,
    CLAIM,
    FIT,
    GANG,
    GATES,
    LOUD,
    NODE_ADD,
    NODE_CONDITION,
    NODE_LABEL,
    NODE_TAINT,
    PREEMPTION,
)

NO: Status = unschedulable("no")
BROKEN: Status = error("broken")


def gang(count: int, minimum: int | None = None, labels: Mapping[str, str] | None = None) -> Cluster:
    """A gang ``g`` of pods ``g0``, ``g1`` … in the active queue."""
    cluster = Cluster()
    cluster.add_group(group("g", minimum or count))
    for i in range(count):
        cluster.add_pod(pod(f"g{i}", "g", labels=labels))
    return cluster


def plain(*names: str, labels: Mapping[str, str] | None = None) -> Cluster:
    cluster = Cluster()
    for name in names:
        cluster.add_pod(pod(name, labels=labels))
    return cluster


def popped_key(cluster: Cluster) -> str:
    popped = cluster.pop()
    return popped.key.name if popped is not None else ""


def popped_names(cluster: Cluster) -> list[str]:
    popped = cluster.pop()
    return [info.pod.name for info in popped.members()] if popped is not None else []


def failed(cluster: Cluster, outcome: object = None, root: Status = NO) -> Cluster:
    """Pop the next entity and let all its pods fail."""
    assert cluster.pop() is not None
    cluster.finish(outcome or rejected(FIT), root)  # type: ignore[arg-type]
    return cluster


def test_row_53_pop_finds_nothing_in_an_empty_queue() -> None:
    cluster = Cluster()
    assert cluster.pop() is None
    assert cluster.queue.peek() is None


def test_row_54_higher_priority_goes_first_whatever_its_age() -> None:
    cluster = Cluster()
    cluster.clock.time = SECOND
    cluster.add_pod(pod("b", priority=5))
    cluster.clock.time = 5 * SECOND
    cluster.add_pod(pod("a", priority=10))
    assert [popped_key(cluster), popped_key(cluster)] == ["a", "b"]


def test_a_waiting_pod_whose_priority_changes_takes_its_new_place() -> None:
    cluster = plain("a", "b")
    cluster.update_pod(pod("b", priority=5))
    assert [entity.key.name for entity in cluster.state.active] == ["b", "a"]
    assert popped_key(cluster) == "b"


def test_row_55_who_was_tried_recently_goes_last() -> None:
    cluster = plain("a")
    cluster.clock.time = 1
    cluster.add_pod(pod("b"))
    cluster.clock.time = 2
    failed(cluster, rejected(LOUD))
    cluster.node_event(NODE_LABEL)
    cluster.advance(3 * SECOND)
    assert cluster.where == {"a": "active", "b": "active"}
    assert popped_key(cluster) == "b"


def test_row_56_a_high_priority_in_error_backoff_does_not_block() -> None:
    cluster = Cluster()
    cluster.add_pod(pod("high", priority=9))
    cluster.add_pod(pod("mid", priority=5))
    failed(cluster, ERROR)
    assert popped_key(cluster) == "mid"


def test_row_57_a_rejected_pod_in_backoff_is_popped_early_when_nothing_is_active() -> None:
    cluster = failed(plain("p"), rejected(LOUD))
    cluster.node_event(NODE_LABEL)
    assert cluster.where == {"p": "backoff"}
    assert cluster.entity("p").heap == "entity"
    assert not cluster.queue.has_ready()
    assert cluster.queue.peek() == "pod/default/p"
    assert popped_key(cluster) == "p"
    assert cluster.queue.peek() is None


def test_row_58_a_pod_with_an_internal_error_is_not_popped_early() -> None:
    cluster = failed(plain("p"), ERROR)
    assert cluster.entity("p").heap == "error"
    assert cluster.queue.peek() is None
    assert cluster.pop() is None


def in_flight_twice(cluster: Cluster, *names: str) -> Cluster:
    """The attempts of these pods go on although they are queued again."""
    for name in names:
        cluster.queue.in_flight.mark(cluster.known[f"default/{name}"])
    return cluster


def test_row_59_a_plain_pod_in_flight_already_is_discarded_and_the_next_is_popped() -> None:
    cluster = in_flight_twice(plain("a", "b"), "a")
    assert popped_key(cluster) == "b"
    assert not cluster.where


def test_row_60_a_member_in_flight_already_is_left_out() -> None:
    assert popped_names(in_flight_twice(gang(3), "g1")) == ["g0", "g2"]


def test_row_61_a_group_whose_members_are_all_in_flight_is_discarded() -> None:
    cluster = in_flight_twice(gang(2), "g0", "g1")
    cluster.add_pod(pod("z"))
    assert popped_key(cluster) == "z"


def test_row_62_the_priority_of_a_group_is_its_own_not_that_of_its_pods() -> None:
    cluster = Cluster()
    cluster.add_pod(pod("p", priority=50))
    cluster.add_group(group("g", 1, priority=100))
    cluster.add_pod(pod("member", "g", priority=1))
    assert popped_key(cluster) == "g"


def test_a_changed_priority_of_a_group_counts_when_it_next_becomes_active() -> None:
    cluster = gang(1, 2)
    cluster.add_pod(pod("p"))
    cluster.update_group(group("g", 2, priority=7))
    cluster.add_pod(pod("g1", "g"))
    assert popped_key(cluster) == "g"


# rows 63-65: test_backoff.py


@pytest.mark.parametrize("began", [10_300_000_000, 10_000_000_000], ids=["row 66: at 10.3 s", "row 67: at 10.0 s"])
def test_rows_66_and_67_a_penalty_lasts_through_the_second_of_its_end(began: int) -> None:
    cluster = plain("p")
    cluster.clock.time = began
    failed(cluster, ERROR)
    assert cluster.entity("p").expires == 11 * SECOND
    assert cluster.queue.next_due() == 12 * SECOND
    cluster.clock.time = 12 * SECOND - 1
    cluster.queue.flush_backoff()
    assert cluster.where == {"p": "backoff"}
    cluster.clock.time = 12 * SECOND
    cluster.queue.flush_backoff()
    assert cluster.where == {"p": "active"}


def test_row_68_without_early_pops_a_pod_is_still_backing_off_at_its_expiration() -> None:
    cluster = Cluster(QueueSettings(pop_from_backoff=False))
    cluster.clock.time = SECOND // 2
    cluster.add_pod(pod("p"))
    failed(cluster, ERROR)
    assert cluster.entity("p").expires == 3 * SECOND // 2
    cluster.clock.time = 3 * SECOND // 2
    cluster.queue.flush_backoff()
    assert cluster.where == {"p": "backoff"}
    cluster.clock.time += 1
    cluster.queue.flush_backoff()
    assert cluster.where == {"p": "active"}


def test_row_69_in_one_window_the_higher_priority_goes_first() -> None:
    cluster = Cluster()
    for name, priority in (("low", 1), ("high", 9)):
        cluster.add_pod(pod(name, priority=priority))
    failed(cluster, rejected(LOUD))
    cluster.clock.time = SECOND // 3
    failed(cluster, rejected(LOUD))
    cluster.node_event(NODE_LABEL)
    assert {entity.expires for entity in cluster.state.backoff} == {SECOND}
    assert popped_key(cluster) == "high"


def test_row_70_the_expiration_is_not_computed_anew_when_members_join() -> None:
    cluster = gang(1)
    for _ in range(5):
        failed(cluster, rejected())
        cluster.advance(40 * SECOND)
    failed(cluster, rejected())
    expires = cluster.entity("g0").expires
    assert expires == cluster.clock.time + 10 * SECOND  # one member: the maximum
    for name in ("g1", "g2", "g3"):
        cluster.add_pod(pod(name, "g"))
    assert cluster.entity("g3").expires == expires
    assert set(cluster.where.values()) == {"backoff"}


def test_row_71_a_rejection_after_two_errors_begins_at_one_second() -> None:
    cluster = plain("p")
    for _ in range(2):
        failed(cluster, ERROR)
        cluster.advance(10 * SECOND)
    failed(cluster, rejected(LOUD))
    entity = cluster.entity("p")
    assert (entity.errors, entity.unschedulable) == (0, 1)
    cluster.node_event(NODE_LABEL)
    assert cluster.entity("p").expires == cluster.clock.time + SECOND


def test_row_72_without_a_maximum_a_failed_entity_is_active_at_once() -> None:
    cluster = Cluster(QueueSettings(max_backoff=0))
    cluster.add_pod(pod("p"))
    failed(cluster, ERROR)
    assert cluster.where == {"p": "active"}


def test_row_73_a_leftover_is_flushed_after_more_than_five_minutes() -> None:
    cluster = failed(plain("p"))
    assert cluster.queue.next_due() == 330 * SECOND
    cluster.clock.time = 300 * SECOND
    cluster.queue.flush_leftovers()
    assert cluster.where == {"p": "parked"}
    cluster.clock.time += 1
    cluster.queue.flush_leftovers()
    assert cluster.where == {"p": "active"}


def test_row_74_a_flushed_entity_that_is_still_gated_waits_five_minutes_more() -> None:
    cluster = plain()
    cluster.add_pod(pod("p", gates=1))
    cluster.advance(331 * SECOND)
    assert cluster.where == {"p": "gated"}
    entity = next(iter(cluster.queue.waiting.parked))
    assert (entity.was_flushed, entity.flush_timestamp) == (False, 330 * SECOND)
    assert cluster.entity("p").ts == 0
    assert cluster.queue.next_due() == 660 * SECOND


def test_row_75_an_event_that_every_hint_skips_wakes_nobody() -> None:
    cluster = failed(plain("p", labels={"fits": "other"}))
    cluster.node_event(NODE_ADD)
    assert cluster.where == {"p": "parked"}


def test_row_76_a_hint_that_queues_leads_to_backoff_while_the_window_is_open_else_to_active() -> None:
    cluster = failed(plain("p", labels={"fits": "n"}))
    cluster.node_event(NODE_ADD)
    assert cluster.where == {"p": "backoff"}
    cluster = failed(plain("p", labels={"fits": "n"}))
    cluster.advance(2 * SECOND)
    cluster.node_event(NODE_ADD)
    assert cluster.where == {"p": "active"}


def test_row_77_a_pending_plugin_that_queues_skips_the_backoff() -> None:
    cluster = failed(plain("p"), rejected(pending=CLAIM))
    cluster.node_event(NODE_TAINT)
    assert cluster.where == {"p": "active"}


def test_row_77_it_does_so_beside_plugins_that_reject_for_good() -> None:
    cluster = failed(plain("p"), rejected(FIT, pending=CLAIM))
    cluster.node_event(NODE_LABEL)
    assert cluster.where == {"p": "parked"}
    cluster.node_event(NODE_TAINT)
    assert cluster.where == {"p": "active"}


# row 78: a hint cannot return an error here; an exception is a bug and ends the run (interface.py)


def test_row_79_a_registration_without_hint_always_queues() -> None:
    cluster = failed(plain("p"), rejected(LOUD))
    cluster.node_event(NODE_LABEL)
    assert cluster.where == {"p": "backoff"}


def test_row_80_a_pod_without_rejectors_is_worth_queueing_for_any_event() -> None:
    info = QueuedPodInfo(pod("p"), 0)
    registrations = Cluster().queue.registrations
    assert strategy_of_pod(info, Occurrence(NODE_ADD), registrations) is Strategy.AFTER_BACKOFF


def test_row_81_one_willing_member_is_enough() -> None:
    cluster = gang(3)
    cluster.framework.preemption.held.add(key("g"))
    failed(cluster, {"g0": rejected(FIT), "g1": rejected(FIT), "g2": rejected(FIT)})
    assert set(cluster.where.values()) == {"gated"}  # held back while evictions run
    cluster.framework.preemption.held.clear()
    cluster.add_pod(pod("run", node="n"))
    cluster.delete_pod("run")
    assert set(cluster.where.values()) == {"gated"}  # no hint queues
    for name in ("g0", "g1"):
        cluster.update_pod(evolve(cluster.known[f"default/{name}"], labels={"room": "no"}))
    cluster.update_pod(evolve(cluster.known["default/g2"], labels={"room": "yes"}))
    cluster.add_pod(pod("run", node="n"))
    cluster.delete_pod("run")
    assert set(cluster.where.values()) == {"backoff"}


@pytest.mark.parametrize("passing", [0, 1, 2], ids=["for none", "for one of three", "for two of three"])
def test_row_82_the_pre_check_must_pass_for_some_member(passing: int) -> None:
    cluster = gang(3, labels={"room": "yes"})
    cluster.framework.preemption.held.add(key("g"))
    failed(cluster)
    cluster.framework.preemption.held.clear()
    willing = {f"g{i}" for i in range(passing)}
    cluster.queue.move_all(ASSIGNED_DELETE, pod("run", node="n"), None, lambda other: other.name in willing)
    assert set(cluster.where.values()) == {"backoff" if passing else "gated"}


def test_row_83_an_event_of_another_than_the_gating_plugin_does_not_touch_a_gated_group() -> None:
    cluster = gang(2, 3)
    asked = cluster.framework.asked[GANG]
    cluster.node_event(NODE_ADD)
    assert set(cluster.where.values()) == {"gated"}
    assert cluster.framework.asked[GANG] == asked


@pytest.mark.parametrize(
    ("carried", "worth"),
    [("p", Strategy.AFTER_BACKOFF), ("q", Strategy.SKIP), ("", Strategy.AFTER_BACKOFF)],
    ids=["its own pod", "another pod", "no pod"],
)
def test_row_84_a_wildcard_event_concerns_the_pod_it_carries(carried: str, worth: Strategy) -> None:
    info = QueuedPodInfo(pod("p"), 0)
    info.unschedulable_plugins = frozenset({FIT})
    registrations = Cluster().queue.registrations
    happened = Occurrence(WILDCARD_EVENT, None, pod(carried) if carried else None)
    assert strategy_of_pod(info, happened, registrations) is worth


def test_row_85_an_event_during_the_attempt_of_a_plain_pod_is_replayed() -> None:
    cluster = plain("p", labels={"fits": "n"})
    cluster.pop()
    cluster.node_event(NODE_ADD)
    cluster.finish(rejected(FIT))
    assert cluster.where == {"p": "backoff"}
    assert cluster.entity("p").heap == "entity"


def test_row_86_for_members_events_are_not_replayed_but_the_group_goes_to_backoff_anyway() -> None:
    cluster = gang(2, labels={"fits": "n"})
    cluster.pop()
    asked = cluster.framework.asked.get(f"{FIT} hint", 0)
    cluster.node_event(NODE_ADD)
    cluster.finish(rejected(FIT), NO)
    assert cluster.framework.asked.get(f"{FIT} hint", 0) == asked
    assert set(cluster.where.values()) == {"backoff"}


def test_row_87_an_event_is_kept_until_the_last_pod_that_missed_it_is_done() -> None:
    cluster = plain("a", "b")
    for _ in range(2):
        cluster.pop()
    cluster.node_event(NODE_ADD)
    in_flight = cluster.queue.in_flight
    cluster.queue.done(cluster.known["default/a"].uid)
    assert len(in_flight.missed(cluster.known["default/b"].uid)) == 1
    cluster.queue.done(cluster.known["default/b"].uid)
    assert not in_flight._events


def test_row_88_activating_one_member_calls_the_whole_group() -> None:
    cluster = failed(gang(3))
    cluster.activate("g1")
    assert set(cluster.where.values()) == {"active"}


def test_row_89_activating_a_gated_an_incomplete_or_an_unknown_pod_changes_nothing() -> None:
    cluster = gang(2, 3)
    cluster.add_pod(pod("lost", "nowhere"))
    before = cluster.state
    cluster.activate("g0", "lost", "unknown")
    assert cluster.state == before


def test_row_90_a_pod_activated_during_its_attempt_is_not_parked() -> None:
    cluster = plain("p", "q")
    cluster.pop()
    cluster.activate("p")
    cluster.finish(rejected(FIT))
    failed(cluster)
    assert cluster.where == {"p": "backoff", "q": "parked"}


def test_row_93_a_member_that_comes_while_its_root_is_popped_is_pending_until_the_end() -> None:
    cluster = gang(2)
    cluster.pop()
    cluster.add_pod(pod("g2", "g"))
    assert cluster.where == {"g2": "pending"}
    assert cluster.state.in_flight == ("default/g0", "default/g1")
    cluster.finish(rejected(), NO)
    assert cluster.where == dict.fromkeys(["g0", "g1", "g2"], "backoff")
    assert not cluster.state.in_flight


def test_row_94_a_pending_member_is_replaced_in_place_or_removed() -> None:
    cluster = gang(2)
    cluster.pop()
    for name in ("g2", "g3"):
        cluster.add_pod(pod(name, "g"))
    cluster.update_pod(pod("g2", "g", labels={"color": "new"}))
    cluster.delete_pod("g3")
    assert cluster.where == {"g2": "pending"}
    cluster.finish(BIND)
    popped = cluster.pop()
    assert popped is not None
    assert [info.pod.labels for info in popped.members()] == [{"color": "new"}]


def test_row_94_the_last_pending_member_may_go_too() -> None:
    cluster = gang(1)
    cluster.pop()
    cluster.add_pod(pod("g1", "g"))
    cluster.delete_pod("g1")
    assert not cluster.where
    cluster.finish(BIND)
    assert not cluster.where


def test_an_incomplete_member_that_changes_keeps_its_time() -> None:
    cluster = Cluster()
    cluster.add_pod(pod("p", "g"))
    cluster.advance(5 * SECOND)
    cluster.update_pod(pod("p", "g", labels={"color": "new"}))
    cluster.add_group(group("g"))
    assert cluster.entity("p").ts == 0


def tree_of_two() -> Cluster:
    cluster = Cluster()
    for one in (group("R", 1), group("a", 1, "R"), group("b", 1, "R")):
        cluster.add_group(one)
    for name in ("a0", "b0"):
        cluster.add_pod(pod(name, name[0]))
    return cluster


def test_row_95_deleting_a_leaf_while_its_root_is_popped_makes_its_pending_pods_incomplete() -> None:
    cluster = tree_of_two()
    cluster.pop()
    cluster.add_pod(pod("a1", "a"))
    cluster.add_pod(pod("b1", "b"))
    cluster.delete_group(key("b"))
    assert cluster.where == {"a1": "pending", "b1": "incomplete"}
    cluster.finish(rejected(), SUCCESS)
    assert cluster.where == {"a0": "active", "a1": "active", "b0": "incomplete", "b1": "incomplete"}


def test_row_96_a_leaf_and_pods_that_come_during_the_cycle_are_in_the_rebuilt_tree() -> None:
    cluster = tree_of_two()
    cluster.pop()
    cluster.add_group(group("c", 1, "R"))
    cluster.add_pod(pod("c0", "c"))
    cluster.finish(rejected(), NO)
    assert {leaf.name: names for leaf, names in cluster.entity("c0").members.items()} == {
        "a": ("a0",),
        "b": ("b0",),
        "c": ("c0",),
    }


def test_row_97_a_group_of_which_nothing_is_left_is_forgotten_with_its_counters() -> None:
    cluster = gang(1)
    cluster.pop()
    cluster.finish(BIND)
    assert not cluster.where
    cluster.add_pod(pod("g1", "g"))
    assert (cluster.entity("g1").attempts, cluster.entity("g1").unschedulable) == (0, 0)


def test_row_98_ending_a_cycle_twice_is_an_error_and_makes_no_duplicate() -> None:
    cluster = gang(2)
    popped = cluster.pop()
    assert isinstance(popped, PoppedPodGroupInfo)
    cluster.finish(rejected(), NO)
    before = cluster.state
    with pytest.raises(InvariantError):
        cluster.queue.add_attempted(popped, NO)
    assert cluster.state == before


def test_row_98_returning_a_pod_twice_is_an_error_and_ends_its_attempt_all_the_same() -> None:
    cluster = plain("p")
    popped = cluster.pop()
    assert isinstance(popped, QueuedPodInfo)
    cluster.queue.add(pod("p"))
    with pytest.raises(InvariantError):
        cluster.queue.add_unschedulable(popped)
    assert not cluster.state.in_flight


@pytest.mark.parametrize("place", ["active", "pending", "incomplete"])
def test_row_98_returning_a_member_that_is_queued_is_an_error(place: str) -> None:
    cluster = gang(1)
    popped = cluster.pop()
    assert popped is not None
    (info,) = popped.members()
    if place == "active":
        cluster.finish(BINDING)
    cluster.queue.add(pod("g0", "g"))
    if place == "incomplete":
        cluster.delete_group(key("g"))
    assert cluster.where == {"g0": place}
    with pytest.raises(InvariantError):
        cluster.queue.add_unschedulable(info)


def test_row_99_the_pods_of_a_root_deleted_meanwhile_are_incomplete() -> None:
    cluster = tree_of_two()
    cluster.pop()
    cluster.add_pod(pod("a1", "a"))
    cluster.delete_group(key("R"))
    cluster.finish(rejected(), NO)
    assert set(cluster.where.values()) == {"incomplete"}
    assert len(cluster.where) == 3


ENDS: list[tuple[str, Status, dict[str, object], tuple[str, int, int, int]]] = [
    # case, root status, outcome of g0; then place, timestamp in seconds, rejections, errors
    ("row 100: success, only a newcomer is left", SUCCESS, {"g0": BIND}, ("active", 60, 0, 0)),
    ("row 101: success, an attempted pod is left", SUCCESS, {"g0": rejected(FIT)}, ("active", 25, 0, 0)),
    ("row 102: rejected", NO, {"g0": rejected(FIT)}, ("backoff", 60, 3, 0)),
    ("row 102: rejected for good", unschedulable("no"), {"g0": BIND}, ("backoff", 60, 3, 0)),
    ("row 103: error", BROKEN, {"g0": ERROR}, ("backoff", 60, 2, 1)),
]


@pytest.mark.parametrize(("root", "outcome", "expected"), [case[1:] for case in ENDS], ids=[case[0] for case in ENDS])
def test_rows_100_to_103_the_root_alone_decides_the_penalty(
    root: Status, outcome: dict[str, object], expected: tuple[str, int, int, int]
) -> None:
    cluster = gang(1, 1)
    for _ in range(2):
        failed(cluster, rejected())
        cluster.advance(25 * SECOND)
    assert cluster.entity("g0").ts == 25 * SECOND
    assert cluster.pop() is not None
    cluster.clock.time = 55 * SECOND
    cluster.add_pod(pod("new", "g"))
    cluster.clock.time = 60 * SECOND
    cluster.finish(outcome, root)  # type: ignore[arg-type]
    entity = cluster.entity("new")
    place, timestamp, rejections, errors = expected
    assert cluster.where["new"] == place
    assert (entity.unschedulable, entity.errors) == (rejections, errors)
    assert entity.ts == timestamp * SECOND
    assert entity.attempts == 3
    assert (entity.heap == "error") == (place == "backoff")


def test_row_104_leftovers_of_a_successful_tree_that_miss_their_quorum_are_gated() -> None:
    cluster = tree_of_two()
    cluster.pop()
    cluster.add_pod(pod("a1", "a", gates=1))
    cluster.finish({"a0": BIND, "b0": rejected(FIT)}, SUCCESS)
    assert cluster.where == {"a1": "gated", "b0": "gated"}


def test_row_105_a_failed_binding_without_entity_begins_anew_without_backoff() -> None:
    cluster = gang(1)
    cluster.pop()
    cluster.finish(BINDING)
    assert not cluster.where
    cluster.advance(5 * SECOND)
    cluster.refuse("g0")
    entity = cluster.entity("g0")
    assert cluster.where == {"g0": "active"}
    assert (entity.attempts, entity.unschedulable, entity.errors, entity.ts) == (0, 0, 0, 5 * SECOND)


def test_row_106_a_failed_binding_joins_the_entity_where_it_is() -> None:
    cluster = gang(2, 1)
    cluster.pop()
    cluster.finish({"g0": BINDING, "g1": rejected(FIT)}, SUCCESS)
    failed(cluster, rejected(FIT))
    assert cluster.where == {"g1": "backoff"}
    cluster.refuse("g0")
    assert cluster.where == {"g0": "backoff", "g1": "backoff"}


def nominated(name: str, node: str, **changes: object) -> Pod:
    return evolve(pod(name), status=PodStatus(nominated_node_name=node), **changes)  # type: ignore[arg-type]


def test_row_107_a_nomination_known_in_memory_only_survives_an_update() -> None:
    cluster = plain("p")
    cluster.nominator.add(cluster.known["default/p"], "n1")
    cluster.update_pod(pod("p", labels={"color": "new"}))
    assert cluster.nominator.nominated_node(pod("p")) == "n1"
    assert [other.labels for other in cluster.nominator.nominated_pods("n1")] == [{"color": "new"}]


def test_a_nomination_in_the_status_counts_while_the_pod_is_tried() -> None:
    cluster = plain("p")
    cluster.pop()
    cluster.update_pod(nominated("p", "n1"))
    assert cluster.nominator.nominated_node(pod("p")) == "n1"


def test_row_108_the_nomination_of_a_gated_pod_counts() -> None:
    cluster = Cluster()
    cluster.add_pod(nominated("p", "n1", scheduling_gates=("gate",)))
    assert cluster.where == {"p": "gated"}
    assert [other.name for other in cluster.nominator.nominated_pods("n1")] == ["p"]


# row 109: test_nominator.py


def test_row_110_members_go_by_attempts_falling_then_time_then_name() -> None:
    cluster = Cluster()
    cluster.add_group(group("g", 1))
    cluster.add_pod(pod("b", "g"))
    failed(cluster, rejected(), NO)
    cluster.advance(SECOND)
    for name in ("c", "d", "a"):
        cluster.add_pod(pod(name, "g"))
    cluster.clock.time += 1
    cluster.add_pod(pod("aa", "g"))
    assert cluster.entity("b").members[key("g")] == ("b", "a", "c", "d", "aa")


def test_row_111_signatures_play_no_part_but_priority_does() -> None:
    cluster = Cluster()
    cluster.add_group(group("g", 1))
    cluster.add_pod(pod("a", "g"))
    cluster.add_pod(pod("z", "g", priority=9))
    assert cluster.entity("a").members[key("g")] == ("z", "a")


def test_row_112_an_entity_that_lost_its_last_member_is_dropped() -> None:
    cluster = gang(1)
    cluster.delete_pod("g0")
    assert cluster.state == Cluster().state


def test_the_next_flush_is_the_one_that_moves_the_first() -> None:
    cluster = plain("a", "b")
    assert cluster.queue.next_due() is None
    failed(cluster, rejected(LOUD))
    assert cluster.queue.next_due() == 330 * SECOND  # a is parked
    cluster.clock.time = SECOND
    failed(cluster, ERROR)
    assert cluster.where == {"a": "parked", "b": "backoff"}
    assert cluster.queue.next_due() == 3 * SECOND
    cluster.node_event(NODE_LABEL)
    assert {entity.heap: entity.expires for entity in cluster.state.backoff} == {"entity": SECOND, "error": 2 * SECOND}
    assert cluster.queue.next_due() == 2 * SECOND
    cluster.advance(SECOND)
    assert cluster.where == {"a": "active", "b": "backoff"}
    assert cluster.queue.next_due() == 3 * SECOND


# --- spec §2.11: where a newcomer's tree is, there it stays ---------------------------------------------------------

PLACES: dict[str, Callable[[Cluster], object]] = {
    "active": lambda cluster: None,
    "backoff": lambda cluster: failed(cluster, rejected(), NO),
    "pending": lambda cluster: cluster.pop(),
    "gated": lambda cluster: cluster.replace_pod(pod("g1", "g", gates=1, uid="second")),
}


def at(place: str) -> Cluster:
    cluster = gang(2)
    PLACES[place](cluster)
    return cluster


@pytest.mark.parametrize("place", PLACES)
def test_a_newcomer_goes_where_its_tree_is(place: str) -> None:
    cluster = at(place)
    cluster.add_pod(pod("new", "g"))
    assert cluster.where["new"] == place


def test_a_newcomer_with_a_gate_takes_an_active_tree_out() -> None:
    cluster = at("active")
    cluster.add_pod(pod("new", "g", gates=1))
    assert set(cluster.where.values()) == {"gated"}


def test_a_newcomer_with_a_gate_takes_a_tree_out_of_backoff() -> None:
    cluster = at("backoff")
    cluster.add_pod(pod("new", "g", gates=1))
    assert set(cluster.where.values()) == {"gated"}
    cluster.update_pod(pod("new", "g"))
    assert set(cluster.where.values()) == {"backoff"}  # the penalty is still owed (B-19)


def test_a_newcomer_of_a_tree_gated_by_a_pods_own_gate_stays_without_rejector() -> None:
    cluster = at("gated")
    cluster.add_pod(pod("new", "g"))
    assert "default/new" not in cluster.entity("new").rejected_by


def test_a_label_change_of_one_gated_member_runs_pre_enqueue_once_a_newcomer_is_there() -> None:
    cluster = gang(2, 4)
    cluster.delete_pod("g1")
    cluster.add_pod(pod("g1", "g", gates=1))
    cluster.add_pod(pod("new", "g"))  # gated by g1's gate: the newcomer's event passes by
    assert "default/new" not in cluster.entity("new").rejected_by
    cluster.update_pod(pod("g0", "g", labels={"color": "new"}))
    assert cluster.entity("new").rejected_by["default/new"] == (GANG,)


@pytest.mark.parametrize("place", ["active", "backoff", "gated"])
def test_a_deleted_member_leaves_the_rest_where_it_is(place: str) -> None:
    cluster = at(place)
    cluster.delete_pod("g0")
    assert cluster.where == {"g1": place}


@pytest.mark.parametrize("place", ["active", "backoff", "gated"])
def test_a_changed_member_is_replaced_in_place(place: str) -> None:
    cluster = at(place)
    cluster.update_pod(evolve(cluster.known["default/g0"], labels={"color": "new"}))
    assert cluster.where["g0"] == place


def test_an_updated_pod_that_is_nowhere_is_added() -> None:
    cluster = Cluster()
    cluster.queue.update(pod("p", "g"), pod("p", "g"))
    cluster.queue.update(pod("q"), pod("q"))
    assert cluster.where == {"p": "incomplete", "q": "active"}


def test_the_nomination_of_a_deleted_pod_ends() -> None:
    cluster = Cluster()
    cluster.add_pod(nominated("p", "n1"))
    cluster.delete_pod("p")
    assert cluster.nominator.nominated_node(pod("p")) == ""


def test_two_entities_of_equal_priority_and_time_go_by_their_keys() -> None:
    cluster = gang(1)
    cluster.add_group(group("R"))
    cluster.add_group(group("h", 1, "R"))
    for one in (pod("p"), pod("h0", "h")):
        cluster.add_pod(one)
    kinds = [entity.key.kind for entity in cluster.state.active]
    assert kinds == ["compositepodgroup", "pod", "podgroup"]


def test_a_gated_pod_owes_no_penalty_when_its_gate_opens() -> None:
    cluster = Cluster()
    cluster.add_pod(pod("p", gates=1))
    cluster.update_pod(pod("p"))
    assert cluster.where == {"p": "active"}
    assert cluster.entity("p").rejected_by == {"default/p": (GATES,)}  # kept until its next failure


def test_of_several_gated_members_the_last_in_tree_order_names_the_gate() -> None:
    cluster = Cluster()
    cluster.add_group(group("g", 4))
    cluster.add_pod(pod("b", "g"))
    cluster.add_pod(pod("a", "g", gates=1))
    assert cluster.entity("a").gated_by == GANG  # b comes after a
    cluster.clock.time = 1
    cluster.add_pod(pod("c", "g", gates=2))
    assert (cluster.entity("a").gated_by, cluster.entity("a").reason) == (GATES, "gates: gate-0 gate-1")


def test_a_changed_member_is_asked_first_by_the_plugin_that_gated_it_last() -> None:
    cluster = Cluster()
    cluster.add_group(group("g", 3))
    for name in "ab":
        cluster.add_pod(pod(name, "g"))
    cluster.framework.preemption.held.add(key("g"))
    cluster.add_pod(pod("c", "g"))
    assert cluster.entity("b").gated_by == PREEMPTION  # the quorum is there
    cluster.delete_pod("c")
    cluster.update_pod(pod("b", "g", labels={"color": "new"}))
    cluster.activate("b")
    assert cluster.entity("b").gated_by == PREEMPTION  # although the quorum is gone, too


def test_a_member_that_passed_and_was_tried_is_asked_in_profile_order_again() -> None:
    cluster = gang(2)
    assert cluster.entity("g0").rejected_by == {"default/g0": (GANG,)}  # it was alone once
    cluster.pop()
    cluster.framework.preemption.held.add(key("g"))
    cluster.delete_pod("g1")
    cluster.finish(rejected(), NO)
    assert cluster.entity("g0").gated_by == PREEMPTION  # although the quorum is gone, too


def test_events_nobody_registered_are_not_kept_for_pods_in_flight() -> None:
    cluster = plain("p")
    cluster.pop()
    cluster.node_event(NODE_CONDITION)
    assert not cluster.queue.in_flight._events


def test_an_own_update_during_the_attempt_is_replayed_to_its_pod_alone() -> None:
    cluster = plain("p", "q")
    cluster.pop()
    cluster.update_pod(pod("p", labels={"fits": "n"}))
    cluster.finish(rejected(FIT))
    assert cluster.where["p"] == "backoff"

    cluster = plain("p", "q")
    cluster.pop()
    first = cluster.popped
    cluster.pop()
    cluster.update_pod(pod("p", labels={"fits": "n"}))
    cluster.finish(rejected(FIT))  # q, whose hint would queue after this event
    assert cluster.where == {"q": "parked"}
    assert first is not None


def test_without_early_pops_pre_enqueue_runs_when_the_penalty_is_over() -> None:
    cluster = Cluster(QueueSettings(pop_from_backoff=False))
    cluster.add_pod(pod("p"))
    failed(cluster, ERROR)
    cluster.update_pod(pod("p", gates=1))
    assert cluster.where == {"p": "backoff"}
    assert cluster.pop() is None
    cluster.advance(3 * SECOND)
    assert cluster.where == {"p": "gated"}
