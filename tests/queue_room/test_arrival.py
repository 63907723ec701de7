"""Spec podgroup-scheduling.md §8.1: arrival order, readiness, gating. One test a row, as far as the queue shows it."""

from __future__ import annotations

from itertools import permutations

import pytest
from attrs import evolve

from gangsched_framework.status import SUCCESS, unschedulable
from gangsched_queue.settings import SECOND
from tests.queue_room.cluster import Cluster, group, key, pod, rejected
from tests.queue_room.fakes import GANG, GATES


def told(*objects: object, composite: bool = True) -> Cluster:
    """A cluster to which groups and pods were added in this order."""
    cluster = Cluster(composite=composite)
    for one in objects:
        cluster.add_pod(one) if hasattr(one, "scheduling_gates") else cluster.add_group(one)  # type: ignore[arg-type]
    return cluster


def members(cluster: Cluster, name: str) -> dict[str, tuple[str, ...]]:
    """Members of the entity that holds a pod, by the short names of the leaves."""
    return {leaf.name: names for leaf, names in cluster.entity(name).members.items()}


def test_row_1_a_member_of_an_unknown_group_is_incomplete_and_nothing_can_be_popped() -> None:
    cluster = told(pod("p", "g"))
    assert cluster.where == {"p": "incomplete"}
    assert cluster.state.incomplete == {key("g"): ("p",)}
    assert cluster.pop() is None


def test_row_2_its_basic_group_appears_and_is_popped_with_it() -> None:
    cluster = told(pod("p", "g"), group("g"))
    assert cluster.where == {"p": "active"}
    popped = cluster.pop()
    assert popped is not None
    assert popped.key == key("g")
    assert [info.pod.name for info in popped.members()] == ["p"]


def test_row_3_a_gang_of_three_with_two_pods_is_gated() -> None:
    cluster = told(group("g", 3), pod("p", "g"), pod("q", "g"))
    entity = cluster.entity("p")
    assert cluster.where == {"p": "gated", "q": "gated"}
    assert (entity.gated_by, entity.reason) == (GANG, "no quorum of 3")
    assert entity.rejected_by == {"default/p": (GANG,), "default/q": (GANG,)}


def test_row_4_the_third_pod_joins_the_parked_gang_and_its_event_wakes_all() -> None:
    cluster = told(group("g", 3), pod("p", "g"), pod("q", "g"))
    cluster.forest.add_pod(pod("r", "g"))
    cluster.queue.update(pod("r", "g"), pod("r", "g"))  # added, but without the event
    assert cluster.where == dict.fromkeys("pqr", "gated")
    assert cluster.entity("r").rejected_by.keys() == {"default/p", "default/q"}  # PreEnqueue did not run for it

    cluster = told(group("g", 3), pod("p", "g"), pod("q", "g"), pod("r", "g"))
    assert cluster.where == dict.fromkeys("pqr", "active")
    popped = cluster.pop()
    assert popped is not None
    assert [info.pod.name for info in popped.members()] == ["p", "q", "r"]


def test_row_5_a_running_pod_counts_for_the_quorum_but_does_not_wait() -> None:
    cluster = told(group("g", 3), pod("run", "g", node="n"), pod("p", "g"), pod("q", "g"))
    assert cluster.where == {"p": "active", "q": "active"}


def test_row_6_an_assigned_pod_that_is_observed_completes_the_quorum() -> None:
    cluster = told(group("g", 3), pod("p", "g"), pod("q", "g"), pod("run", "g", node="n"))
    assert cluster.where == {"p": "active", "q": "active"}


def test_row_7_lowering_min_count_wakes_the_gang() -> None:
    cluster = told(group("g", 3), pod("p", "g"), pod("q", "g"))
    cluster.update_group(group("g", 2))
    assert cluster.where == {"p": "active", "q": "active"}


def test_row_8_raising_min_count_leaves_an_active_gang_where_it_is() -> None:
    cluster = told(group("g", 2), pod("p", "g"), pod("q", "g"))
    cluster.update_group(group("g", 3))
    assert cluster.where == {"p": "active", "q": "active"}


def test_row_9_raising_min_count_is_no_event_for_a_gang_gated_otherwise() -> None:
    cluster = told(group("g", 2), pod("p", "g"), pod("q", "g", gates=1))
    cluster.update_group(group("g", 3))
    assert cluster.entity("p").gated_by == GATES
    assert cluster.entity("p").rejected_by == {"default/p": (GANG,), "default/q": (GATES,)}  # p from before q came


def test_row_10_pods_below_an_unknown_parent_are_incomplete() -> None:
    cluster = told(group("g", 2, "P"), pod("p", "g"), pod("q", "g"))
    assert cluster.where == {"p": "incomplete", "q": "incomplete"}


def test_row_11_the_parent_appears_as_a_root_and_one_entity_holds_all_pods() -> None:
    cluster = told(group("g", 2, "P"), pod("p", "g"), pod("q", "g"), group("P", 1))
    assert [entity.key for entity in cluster.state.active] == [key("P")]
    assert members(cluster, "p") == {"g": ("p", "q")}


def test_row_12_a_missing_link_in_the_middle_releases_everything_when_it_comes() -> None:
    cluster = told(group("R"), group("g", 1, "M"), pod("p", "g"))
    assert cluster.where == {"p": "incomplete"}
    cluster.add_group(group("M", 1, "R"))
    assert [entity.key for entity in cluster.state.active] == [key("R")]


TREE = (pod("p", "g"), pod("q", "g"), group("g", 2, "M"), group("M", 1, "R"), group("R", 1))


@pytest.mark.parametrize("order", list(permutations(range(len(TREE)))), ids=lambda order: "".join(map(str, order)))
def test_rows_13_and_14_every_order_of_arrival_ends_in_the_same_state(order: tuple[int, ...]) -> None:
    cluster = told(*(TREE[i] for i in order))
    (entity,) = cluster.state.active
    assert entity.key == key("R")
    assert entity.members == {key("g"): ("p", "q")}
    assert not cluster.state.incomplete


def test_rows_15_and_16_a_basic_leaf_counts_for_its_parent_with_its_first_pod_only() -> None:
    cluster = told(group("R", 2), group("a", None, "R"), group("b", None, "R"), pod("p", "a"))
    assert cluster.where == {"p": "gated"}
    cluster.add_pod(pod("q", "a"))
    assert set(cluster.where.values()) == {"gated"}
    cluster.add_pod(pod("r", "b"))
    assert set(cluster.where.values()) == {"active"}


def test_row_17_a_leaf_that_falls_below_its_minimum_counts_no_longer() -> None:
    cluster = told(group("R", 1), group("g", 2, "R"), pod("p", "g"), pod("q", "g"))
    cluster.delete_pod("q")
    assert cluster.where == {"p": "active"}  # the queue saw the deletion before the quorum did
    assert not cluster.forest.ready(key("R"))
    cluster.add_pod(pod("q", "g"))
    assert cluster.forest.ready(key("R"))


def test_rows_18_and_19_a_replaced_pod_counts_once() -> None:
    cluster = told(group("g", 2), pod("p", "g"))
    cluster.replace_pod(pod("p", "g", uid="second"))
    assert cluster.where == {"p": "gated"}


def test_row_20_a_pod_recreated_in_another_group_leaves_the_first() -> None:
    cluster = told(group("a", 2), group("b", 2), pod("p", "a"), pod("q", "a"), pod("r", "b"))
    cluster.replace_pod(pod("p", "b", uid="second"))
    assert not cluster.forest.ready(key("a"))
    assert cluster.forest.ready(key("b"))
    assert cluster.entity("p").key == key("b")


def test_row_21_the_pods_of_a_deleted_group_become_incomplete() -> None:
    cluster = told(group("g", 2), pod("p", "g"), pod("q", "g"))
    cluster.delete_group(key("g"))
    assert cluster.where == {"p": "incomplete", "q": "incomplete"}


def test_row_22_the_recreated_group_is_ready_at_once_with_fresh_counters_and_the_pods_own_times() -> None:
    cluster = told(group("g", 2), pod("p", "g"), pod("q", "g"))
    cluster.pop()
    cluster.finish(rejected(), unschedulable("no"))
    assert cluster.entity("p").unschedulable == 1
    cluster.advance(5 * SECOND)
    cluster.delete_group(key("g"))
    cluster.add_group(group("g", 2))
    entity = cluster.entity("p")
    assert cluster.where == {"p": "active", "q": "active"}
    assert (entity.unschedulable, entity.errors, entity.attempts, entity.ts) == (0, 0, 0, 0)


def test_row_23_an_empty_group_leaves_nothing_behind() -> None:
    cluster = told(group("g", 2))
    cluster.delete_group(key("g"))
    assert not list(cluster.forest.groups())
    assert not cluster.where


def test_row_24_a_group_seen_with_another_parent_moves_with_its_pods() -> None:
    cluster = told(group("P", 1), group("Q", 1), group("g", 1, "P"), pod("p", "g"))
    cluster.update_group(group("g", 1, "Q"))
    assert not cluster.forest.ready(key("P"))
    assert cluster.entity("p").key == key("Q")


def test_row_25_pods_below_a_cycle_of_parents_stay_incomplete() -> None:
    cluster = told(group("A", 1, "B"), group("B", 1, "C"), group("C", 1, "A"), group("g", 1, "A"), pod("p", "g"))
    assert cluster.where == {"p": "incomplete"}


def test_row_26_they_become_an_entity_when_the_cycle_is_broken() -> None:
    cluster = told(group("A", 1, "B"), group("B", 1, "C"), group("C", 1, "A"), group("g", 1, "A"), pod("p", "g"))
    cluster.delete_group(key("B"))
    cluster.add_group(group("B", 1))
    assert cluster.where == {"p": "active"}
    assert cluster.entity("p").key == key("B")


def test_row_27_a_group_that_is_its_own_parent_is_a_cycle() -> None:
    cluster = told(group("A", 1, "A"), group("g", 1, "A"), pod("p", "g"))
    assert cluster.where == {"p": "incomplete"}


def test_pods_that_become_complete_together_join_oldest_first_and_the_first_gives_the_timestamp() -> None:
    cluster = told(group("a", 1, "R"), group("b", 1, "R"), pod("old", "b"))
    cluster.advance(SECOND)
    cluster.add_pod(pod("young", "a"))
    cluster.add_group(group("R"))
    assert members(cluster, "old") == {"a": ("young",), "b": ("old",)}
    assert cluster.entity("old").ts == 0


def chain(links: int) -> list[object]:
    """A leaf ``g`` under ``links`` composite groups, and a pod."""
    names = "ABCDEFG"[:links]
    inner = [group(name, 1, names[i - 1] if i else "") for i, name in enumerate(names)]
    return [*inner, group("g", 1, names[-1]), pod("p", "g")]


def test_row_28_four_parent_links_are_accepted() -> None:
    assert told(*chain(4)).where == {"p": "active"}


def test_row_29_five_parent_links_are_gated_until_the_chain_is_shortened() -> None:
    cluster = told(*chain(5))
    assert cluster.where == {"p": "gated"}
    assert cluster.entity("p").gated_by == GANG
    cluster.delete_group(key("B"))
    cluster.add_group(group("B", 1))
    assert cluster.where == {"p": "active"}


def evolution() -> list[object]:
    """The tree of rows 30 and 31, its pg3 still short of one pod."""
    groups = [group("R", 1), group("S", 1, "R"), group("T", 2, "R")]
    leaves = [group("pg1", 2, "S"), group("pg2", 2, "T"), group("pg3", 2, "T")]
    pods = [pod(f"{name}-{i}", name) for name, count in (("pg1", 2), ("pg2", 2), ("pg3", 1)) for i in range(count)]
    return [*groups, *leaves, *pods]


def test_row_30_all_pods_of_a_ready_root_enter_together_unready_subtrees_included() -> None:
    cluster = told(*evolution())
    assert set(cluster.where.values()) == {"active"}
    assert len(cluster.where) == 5


def test_row_31_the_cycle_gets_the_unready_subtree_too() -> None:
    popped = told(*evolution()).pop()
    assert popped is not None
    assert [info.pod.name for info in popped.members()] == ["pg1-0", "pg1-1", "pg2-0", "pg2-1", "pg3-0"]


def two_children() -> Cluster:
    return told(group("R", 2), group("a", 2, "R"), group("b", 2, "R"), pod("a0", "a"), pod("a1", "a"), pod("b0", "b"))


def test_row_32_an_unready_child_gates_the_whole_tree() -> None:
    assert set(two_children().where.values()) == {"gated"}


def test_row_33_a_pod_of_a_cousin_wakes_the_whole_tree() -> None:
    cluster = two_children()
    cluster.add_pod(pod("b1", "b"))
    assert set(cluster.where.values()) == {"active"}


def test_row_34_a_grandchild_that_is_ready_last_completes_the_root() -> None:
    tree = [group("R", 3), *(group(name, 1, "R") for name in "ABC"), *(group(n, 1, n.upper()) for n in "abc")]
    cluster = told(*tree, pod("p", "a"), pod("q", "b"))
    assert set(cluster.where.values()) == {"gated"}
    cluster.add_pod(pod("r", "c"))
    assert set(cluster.where.values()) == {"active"}


def test_row_35_lowering_min_group_count_of_the_root_wakes_the_tree() -> None:
    cluster = two_children()
    cluster.update_group(group("R", 1))
    assert set(cluster.where.values()) == {"active"}


def test_row_36_lowering_min_group_count_in_the_middle_wakes_the_tree() -> None:
    cluster = told(group("R", 1), group("M", 2, "R"), group("a", 1, "M"), group("b", 1, "M"), pod("p", "a"))
    assert cluster.where == {"p": "gated"}
    cluster.update_group(group("M", 1, "R"))
    assert cluster.where == {"p": "active"}


def test_row_37_raising_min_group_count_wakes_nobody() -> None:
    cluster = two_children()
    asked = cluster.framework.asked[GANG]
    cluster.update_group(group("R", 3))
    assert set(cluster.where.values()) == {"gated"}
    assert cluster.framework.asked[GANG] == asked


def test_row_38_a_tree_without_pods_is_no_entity() -> None:
    assert told(group("R", 1), group("g", 1, "R")).pop() is None


def test_row_39_a_tree_whose_pods_all_run_is_no_entity() -> None:
    cluster = told(group("g", 1), pod("p", "g", node="n"))
    assert not cluster.where
    assert cluster.pop() is None


def one_gated_member() -> Cluster:
    return told(group("g", 2), pod("p", "g"), pod("q", "g", gates=1))


def test_row_40_a_pod_with_a_scheduling_gate_counts_but_gates_the_entity() -> None:
    cluster = one_gated_member()
    assert cluster.forest.ready(key("g"))
    assert cluster.where == {"p": "gated", "q": "gated"}
    assert cluster.entity("p").gated_by == GATES


def test_row_41_removing_the_gate_makes_it_active() -> None:
    cluster = one_gated_member()
    cluster.update_pod(pod("q", "g"))
    assert cluster.where == {"p": "active", "q": "active"}


def test_row_42_of_two_gated_pods_both_must_be_freed() -> None:
    cluster = told(group("g", 2), pod("p", "g", gates=1), pod("q", "g", gates=1))
    cluster.update_pod(pod("q", "g"))
    assert cluster.where == {"p": "gated", "q": "gated"}
    cluster.update_pod(pod("p", "g"))
    assert cluster.where == {"p": "active", "q": "active"}


def test_row_43_a_gate_in_one_subtree_holds_the_other_back() -> None:
    cluster = told(group("R", 1), group("a", 1, "R"), group("b", 1, "R"), pod("p", "a", gates=1), pod("q", "b"))
    assert cluster.where == {"p": "gated", "q": "gated"}


def test_row_44_a_leaf_and_a_composite_group_of_one_name_are_independent() -> None:
    twin = evolve(group("A", 1), name="a")
    child = evolve(group("b", 1), parent_name="a")
    cluster = told(twin, group("a", 1), child, pod("p", "a"), pod("q", "b"))
    assert cluster.entity("p").key == key("a")
    assert cluster.entity("q").key == "compositepodgroup/default/a"


def test_row_45_parents_are_looked_for_in_the_own_namespace_only() -> None:
    foreign = evolve(group("P", 1), namespace="other")
    cluster = told(foreign, group("g", 1, "P"), pod("p", "g"))
    assert cluster.where == {"p": "incomplete"}


def test_row_46_without_composite_groups_a_leaf_is_its_own_root() -> None:
    cluster = told(group("g", 1, "P"), pod("p", "g"), composite=False)
    assert cluster.entity("p").key == key("g")
    assert cluster.where == {"p": "active"}


def test_row_47_deleting_the_root_of_a_parked_tree_makes_its_pods_incomplete() -> None:
    cluster = two_children()
    cluster.delete_group(key("R"))
    assert set(cluster.where.values()) == {"incomplete"}


def test_row_48_the_recreated_root_is_an_entity_with_fresh_counters() -> None:
    cluster = two_children()
    cluster.delete_group(key("R"))
    cluster.add_group(group("R", 1))
    assert set(cluster.where.values()) == {"active"}
    assert cluster.entity("a0").attempts == 0


def three_leaves(*, minimum: int) -> Cluster:
    return told(group("R", minimum), *(group(n, 1, "R") for n in "abc"), *(pod(f"{n}0", n) for n in "abc"))


def test_row_49_a_deleted_leaf_takes_its_pods_and_the_rest_is_gated_when_short() -> None:
    cluster = three_leaves(minimum=3)
    cluster.delete_group(key("c"))
    assert cluster.where == {"a0": "gated", "b0": "gated", "c0": "incomplete"}


def test_row_50_a_recreated_middle_group_brings_its_pods_back() -> None:
    cluster = told(group("R", 1), group("M", 1, "R"), group("g", 2, "M"), pod("p", "g"), pod("q", "g"))
    cluster.delete_group(key("M"))
    assert set(cluster.where.values()) == {"incomplete"}
    cluster.add_group(group("M", 1, "R"))
    assert set(cluster.where.values()) == {"active"}
    cluster.delete_pod("q")
    cluster.delete_group(key("M"))
    cluster.add_group(group("M", 1, "R"))
    assert cluster.where == {"p": "gated"}


def test_row_51_a_leaf_added_to_a_tree_in_backoff_moves_nothing() -> None:
    cluster = told(group("R", 1), group("a", 1, "R"), pod("p", "a"))
    cluster.pop()
    cluster.finish(rejected(), unschedulable("no"))
    before = cluster.entity("p")
    cluster.add_group(group("b", 1, "R"))
    assert cluster.entity("p") == before
    assert cluster.where == {"p": "backoff"}


def test_row_52_a_tree_stays_schedulable_through_a_sibling_when_a_leaf_loses_its_last_pod() -> None:
    cluster = told(group("R", 1), group("a", 1, "R"), group("b", 1, "R"), pod("p", "a", gates=1), pod("q", "b"))
    cluster.delete_pod("p")
    assert cluster.where == {"q": "gated"}  # a removal does not run PreEnqueue (spec §2.8.8)
    cluster.advance(331 * SECOND)
    assert cluster.where == {"q": "active"}
    cluster.pop()
    cluster.finish(rejected(), SUCCESS)
    assert cluster.where == {"q": "active"}
