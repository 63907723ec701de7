"""Dormant trees: retries that are not carried out are made up when somebody looks."""

from __future__ import annotations

from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.testing import make_pod, make_pod_group
from gangsched_queue.dormant import DormantTrees
from gangsched_queue.entities import QueuedPodGroupInfo

SECOND = 1_000_000_000
PERIOD = 11 * SECOND


def _tree(forest: Forest, name: str, timestamp: int) -> QueuedPodGroupInfo:
    group = make_pod_group(name).min_count(1).obj()
    pod = make_pod(f"{name}-0").in_group(name).obj()
    forest.add_group(group)
    forest.add_pod(pod)
    entity = QueuedPodGroupInfo(group.key, group, timestamp)
    member = QueuedPodInfo(pod, timestamp)
    entity.attempts = entity.unschedulable_count = member.attempts = 5
    entity.insert(group.key, member)
    return entity


def test_a_tree_roused_before_its_first_return_is_as_it_was_laid_down() -> None:
    forest, dormant = Forest(), DormantTrees()
    tree = _tree(forest, "a", 20 * SECOND)
    dormant.add(tree, "kind", (PERIOD,), "refused", 1)

    roused = dormant.rouse(tree.key, forest)

    assert roused is tree
    assert (tree.attempts, tree.timestamp, dormant.take_roused()) == (5, 20 * SECOND, [])
    assert len(dormant) == 0


def test_rounds_that_passed_are_made_up_in_the_tree_and_its_members() -> None:
    forest, dormant = Forest(), DormantTrees()
    tree = _tree(forest, "a", 20 * SECOND)
    dormant.add(tree, "kind", (PERIOD,), "refused", 1)
    dormant.pass_time(54 * SECOND)  # returns at 31, 42, 53
    dormant._check()

    dormant.rouse(tree.key, forest)

    (member,) = tree.members()
    assert (tree.attempts, tree.unschedulable_count, tree.timestamp) == (8, 8, 53 * SECOND)
    assert (member.attempts, member.timestamp) == (8, 53 * SECOND)
    assert tree.backoff_expiration == 63 * SECOND
    assert [(r.key, r.retries, r.last) for r in dormant.take_roused()] == [(tree.key, 3, 53 * SECOND)]


def test_a_return_at_the_very_instant_has_not_passed_yet() -> None:
    forest, dormant = Forest(), DormantTrees()
    dormant.add(_tree(forest, "a", 20 * SECOND), "kind", (PERIOD,), "refused", 1)

    dormant.pass_time(31 * SECOND)

    assert dormant.retries == 0
    assert [bucket.due for bucket in dormant.due(31 * SECOND)] == [31 * SECOND]


def test_trees_of_one_kind_and_phase_share_a_bucket_and_count_their_own_rounds() -> None:
    forest, dormant = Forest(), DormantTrees()
    first, second = _tree(forest, "a", 20 * SECOND), _tree(forest, "b", 42 * SECOND)
    dormant.add(first, "kind", (PERIOD,), "refused", 1)
    dormant.pass_time(42 * SECOND)  # one return, at 31; that of 42 is still to come
    dormant.add(second, "kind", (PERIOD,), "refused", 1)
    (bucket,) = dormant.buckets()
    dormant.pass_on(bucket)  # at 42: the newcomer has just had its own attempt
    dormant.end_turn(bucket)
    dormant._check()
    dormant.pass_time(54 * SECOND)

    dormant.rouse(first.key, forest)
    dormant.rouse(second.key, forest)

    assert (first.attempts, second.attempts) == (8, 6)
    assert dormant.retries == 3 + 1


def test_only_buckets_refused_in_another_world_call_for_a_look() -> None:
    forest, dormant = Forest(), DormantTrees()
    dormant.add(_tree(forest, "a", 20 * SECOND), "kind", (PERIOD,), "refused", 7)

    assert dormant.next_due(7) is None
    assert dormant.next_due(8) == 31 * SECOND


def test_a_turn_may_be_had_in_parts() -> None:
    forest, dormant = Forest(), DormantTrees()
    trees = {name: _tree(forest, name, 20 * SECOND) for name in "abcd"}
    for tree in trees.values():
        dormant.add(tree, "kind", (PERIOD,), "refused", 1)
    (bucket,) = dormant.due(31 * SECOND)
    bucket.kind.outcome = "refused before"
    dormant.pass_on(bucket, until=trees["c"].key)
    dormant.rouse(trees["c"].key, forest)  # it is tried, and what it does refuses those behind it otherwise
    assert bucket.next == trees["d"].key
    dormant.rouse(trees["a"].key, forest)  # meanwhile somebody looks at one that has had its turn
    assert (trees["a"].attempts, trees["a"].timestamp, trees["a"].backoff_expiration) == (6, 31 * SECOND, 41 * SECOND)
    bucket.kind.outcome = "refused behind"
    dormant.pass_on(bucket)
    assert bucket.next is None
    dormant.end_turn(bucket)
    dormant._check()

    assert dormant.retries == 3
    for name in "bd":
        dormant.rouse(trees[name].key, forest)
    met = {roused.key.name: (roused.retries, roused.last, roused.outcome) for roused in dormant.take_roused()}
    assert met == {
        "a": (1, 31 * SECOND, "refused before"),
        "b": (1, 31 * SECOND, "refused before"),
        "d": (1, 31 * SECOND, "refused behind"),
    }
    assert (trees["c"].attempts, trees["c"].timestamp) == (5, 20 * SECOND)


def test_time_passes_over_a_turn_that_was_had_in_part() -> None:
    forest, dormant = Forest(), DormantTrees()
    first, second = _tree(forest, "a", 20 * SECOND), _tree(forest, "b", 20 * SECOND)
    for tree in (first, second):
        dormant.add(tree, "kind", (PERIOD,), "refused", 1)
    (bucket,) = dormant.due(31 * SECOND)
    dormant.pass_on(bucket, until=second.key)

    dormant.pass_time(43 * SECOND)  # the rest of the turn of 31, and that of 42

    assert dormant.retries == 4
    dormant.rouse(first.key, forest)
    dormant.rouse(second.key, forest)
    assert (first.attempts, second.attempts) == (7, 7)


def test_penalties_that_grow_lead_from_bucket_to_bucket() -> None:
    forest, dormant = Forest(), DormantTrees()
    first, second = _tree(forest, "a", 20 * SECOND), _tree(forest, "b", 20 * SECOND)
    periods = (3 * SECOND, 5 * SECOND, PERIOD)
    for tree in (first, second):
        dormant.add(tree, "kind", periods, "refused", 1)
    (bucket,) = dormant.due(23 * SECOND)
    dormant.pass_on(bucket)
    dormant.end_turn(bucket)
    dormant._check()

    assert [bucket.due for bucket in dormant.buckets()] == [28 * SECOND]
    dormant.rouse(first.key, forest)
    assert (first.attempts, first.timestamp, first.backoff_expiration) == (6, 23 * SECOND, 27 * SECOND)
    dormant.pass_time(51 * SECOND)  # returns at 28, 39 and 50
    dormant._check()
    dormant.rouse(second.key, forest)
    assert (second.attempts, second.timestamp, second.backoff_expiration) == (9, 50 * SECOND, 60 * SECOND)
    assert [(r.retries, r.last) for r in dormant.take_roused()] == [(1, 23 * SECOND), (4, 50 * SECOND)]
    assert dormant.retries == 5
