"""The forest: links, readiness counters, scheduled pods (spec podgroup-scheduling.md §3 and §8.1)."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gangsched_framework.hierarchy import Forest, HierarchyError
from gangsched_framework.objects import COMPOSITE_POD_GROUP, POD_GROUP, EntityKey, Group, Pod, PodGroup
from gangsched_framework.testing import make_composite_pod_group, make_pod, make_pod_group


def leaf(name: str, minimum: int | None = None, parent: str = "", namespace: str = "default") -> PodGroup:
    return evolve(make_pod_group(name, namespace).parent(parent).obj(), minimum=minimum)


def inner(name: str, minimum: int | None = None, parent: str = "", namespace: str = "default") -> Group:
    return evolve(make_composite_pod_group(name, namespace).parent(parent).obj(), minimum=minimum)


def pod(name: str, group: str, node: str = "", uid: str = "") -> Pod:
    built = make_pod(name).in_group(group).node(node)
    return built.uid(uid).obj() if uid else built.obj()


def key(name: str) -> EntityKey:
    """``g`` is a PodGroup, ``G`` a CompositePodGroup."""
    return EntityKey.of(COMPOSITE_POD_GROUP if name.isupper() else POD_GROUP, "default", name)


class World(Forest):
    """A forest that checks itself after each step of a test and reads back in short words."""

    def add(self, *objects: Group | Pod) -> World:
        for obj in objects:
            if isinstance(obj, Pod):
                self.add_pod(obj)
            else:
                self.add_group(obj)
            self._check()
        return self

    def replace(self, old: Pod, new: Pod) -> World:
        self.update_pod(old, new)
        self._check()
        return self

    def remove(self, *objects: Group | Pod) -> World:
        for obj in objects:
            if isinstance(obj, Pod):
                self.delete_pod(obj)
            else:
                self.delete_group(obj.key)
            self._check()
        return self

    def ready_children(self, name: str) -> int:
        record = self._records.get(key(name))
        return record.ready_children if record else 0

    def known(self, name: str) -> bool:
        """Whether there is a record, placeholder or not."""
        return key(name) in self._records

    def names(self) -> list[str]:
        return [group.name for group in self.groups()]


# --- readiness (§3.2) -------------------------------------------------------------------------------------------


def test_a_gang_is_ready_with_as_many_pods_as_its_minimum_waiting_or_scheduled() -> None:
    world = World().add(leaf("g", 3), pod("a", "g"), pod("b", "g", node="n1"))
    assert not world.ready(key("g"))
    assert world.add(pod("c", "g")).ready(key("g"))


def test_a_basic_group_needs_one_pod_and_a_basic_composite_one_ready_child() -> None:
    world = World().add(leaf("g", None, "R"), inner("R"))
    assert not world.ready(key("g"))
    assert not world.ready(key("R"))
    world.add(pod("a", "g"))
    assert world.ready(key("g"))
    assert world.ready(key("R"))


def test_a_composite_gang_counts_ready_direct_children_only() -> None:
    world = World().add(inner("R", 2), inner("M", 1, "R"), leaf("a", 1, "M"), leaf("b", 1, "M"), leaf("c", 2, "R"))
    world.add(pod("pa", "a"), pod("pb", "b"))
    assert (world.ready_children("M"), world.ready_children("R")) == (2, 1)
    assert not world.ready(key("R"))
    world.add(pod("pc1", "c"), pod("pc2", "c"))
    assert world.ready(key("R"))


def test_an_unobserved_group_is_never_ready_whatever_it_knows() -> None:
    world = World().add(pod("a", "g"), leaf("x", 1, "R"), pod("b", "x"))
    assert not world.ready(key("g"))
    assert not world.ready(key("R"))
    assert not world.ready(key("unknown"))


# --- transitions, one case per row of §3.4 ----------------------------------------------------------------------


def tree(pods: int = 0, minimum: int = 2) -> World:
    """R(1) over g(minimum) with some pods."""
    world = World().add(inner("R", 1), leaf("g", minimum, "R"))
    return world.add(*(pod(f"p{i}", "g") for i in range(pods)))


TRANSITIONS: dict[str, tuple[Callable[[], World], int, bool]] = {
    "a pod with a new UID is counted, below the minimum nothing crosses": (lambda: tree(1), 1, False),
    "a pod with a new UID that meets the minimum crosses up": (lambda: tree(2), 2, True),
    "a pod above the minimum changes nothing above": (lambda: tree(3), 3, True),
    "a pod with a known UID is counted once": (lambda: tree(1).add(pod("p0", "g")), 1, False),
    "an update of the same UID changes no count": (lambda: tree(2).replace(pod("p0", "g"), pod("p0", "g")), 2, True),
    "a pod that becomes scheduled stays counted": (
        lambda: tree(2).replace(pod("p0", "g"), pod("p0", "g", node="n1")),
        2,
        True,
    ),
    "an update with another UID replaces the pod": (
        lambda: tree(2).replace(pod("p0", "g"), pod("p0", "g", uid="new")),
        2,
        True,
    ),
    "an update with another UID in another group moves the pod": (
        lambda: tree(2).replace(pod("p0", "g"), pod("p0", "other", uid="new")),
        1,
        False,
    ),
    "a deleted pod crosses down": (lambda: tree(2).remove(pod("p0", "g")), 1, False),
    "a deleted scheduled pod crosses down": (
        lambda: tree(1).add(pod("run", "g", node="n1")).remove(pod("run", "g", node="n1")),
        1,
        False,
    ),
    "an unknown pod that is deleted changes nothing": (lambda: tree(2).remove(pod("stranger", "g")), 2, True),
    "a group that appears over enough pods is ready at once": (
        lambda: World().add(pod("p0", "g"), pod("p1", "g"), inner("R", 1), leaf("g", 2, "R")),
        2,
        True,
    ),
    "a lowered minimum crosses up": (lambda: tree(1).add(leaf("g", 1, "R")), 1, True),
    "a raised minimum crosses down": (lambda: tree(2).add(leaf("g", 3, "R")), 2, False),
    "a group deleted and added again is ready from the pods it kept": (
        lambda: tree(2).remove(leaf("g")).add(leaf("g", 2, "R")),
        2,
        True,
    ),
    "a group added again with a higher minimum is not ready": (
        lambda: tree(2).remove(leaf("g")).add(leaf("g", 3, "R")),
        2,
        False,
    ),
}


@pytest.mark.parametrize("name", TRANSITIONS)
def test_transition(name: str) -> None:
    build, pods, ready = TRANSITIONS[name]
    world = build()
    assert len(world.pods(key("g"))) == pods
    assert world.ready(key("g")) is ready
    assert world.ready_children("R") == int(ready)
    assert world.ready(key("R")) is ready


def test_a_changed_parent_takes_the_ready_group_from_the_old_and_gives_it_to_the_new() -> None:
    world = tree(2).add(inner("S", 1)).add(leaf("g", 2, "S"))
    assert (world.ready_children("R"), world.ready_children("S")) == (0, 1)
    assert (world.ready(key("R")), world.ready(key("S"))) == (False, True)
    assert world.children(key("R")) == []
    assert world.children(key("S")) == [key("g")]


def test_a_changed_parent_of_an_unready_group_moves_no_count() -> None:
    world = tree(1).add(inner("S", 1)).add(leaf("g", 2, "S"))
    assert (world.ready_children("R"), world.ready_children("S")) == (0, 0)
    assert world.add(pod("p1", "g")).ready_children("S") == 1


def test_a_parent_that_comes_or_goes_with_an_update_links_or_unlinks() -> None:
    world = tree(2).add(leaf("g", 2))
    assert world.ready_children("R") == 0
    assert world.root(key("g")) == key("g")
    assert world.add(leaf("g", 2, "R")).ready_children("R") == 1


def test_a_changed_minimum_and_parent_in_one_update_are_both_seen() -> None:
    world = tree(2).add(inner("S", 1)).add(leaf("g", 3, "S"))
    assert (world.ready_children("R"), world.ready_children("S")) == (0, 0)


def test_a_deleted_group_leaves_its_parent_and_keeps_pods_and_counters() -> None:
    world = tree(2).remove(leaf("g"))
    assert world.ready_children("R") == 0
    assert len(world.pods(key("g"))) == 2
    world.remove(inner("R"))
    world.add(leaf("g", 2, "R"))
    assert world.ready_children("R") == 1
    assert world.add(inner("R", 1)).ready(key("R"))


def test_a_placeholder_vanishes_with_its_last_pod_or_child() -> None:
    world = World().add(pod("a", "g"), leaf("x", 1, "P"))
    assert world.known("g")
    assert world.known("P")
    world.remove(pod("a", "g"), leaf("x"))
    assert not world.known("g")
    assert not world.known("P")


def test_a_placeholder_parent_vanishes_when_its_only_child_moves_away() -> None:
    world = World().add(leaf("x", 1, "P")).add(leaf("x", 1, "Q"))
    assert (world.known("P"), world.known("Q")) == (False, True)


def test_a_group_without_pods_and_children_vanishes_when_deleted() -> None:
    assert not World().add(leaf("g", 1)).remove(leaf("g")).known("g")


def test_children_observed_before_their_parent_count_when_it_arrives_with_its_own_minimum() -> None:
    world = World().add(leaf("a", 1, "R"), pod("pa", "a"), leaf("b", 1, "R"))
    assert world.ready_children("R") == 1
    assert not world.add(inner("R", 2)).ready(key("R"))
    assert world.add(pod("pb", "b")).ready(key("R"))


def test_pods_before_their_leaf_are_linked_nowhere() -> None:
    world = World().add(inner("R", 1), pod("a", "g"))
    assert world.ready_children("R") == 0
    assert world.add(leaf("g", 1, "R")).ready_children("R") == 1


def test_a_placeholder_ready_by_its_stand_in_minimum_does_not_count_for_a_parent_once_it_has_its_own() -> None:
    world = World().add(inner("R", 1), pod("a", "g"), leaf("g", 2, "R"))
    assert world.ready_children("R") == 0


# --- bad shapes (§3.5) ------------------------------------------------------------------------------------------


def cycle() -> World:
    return World().add(inner("A", 1, "B"), inner("B", 1, "C"), inner("C", 1, "A"))


def test_a_cycle_terminates_and_has_no_root() -> None:
    world = cycle().add(leaf("g", 1, "A"), pod("p", "g"))
    # A counts the leaf and C, which is ready by way of A: each crossing has fired once.
    assert [world.ready_children(name) for name in "ABC"] == [2, 1, 1]
    for name in "ABCg":
        assert world.root(key(name)) is None
    with pytest.raises(HierarchyError, match="cycle detected in the hierarchy at compositepodgroup/default/A"):
        world.chain(key("g"))


def test_a_cycle_without_a_ready_leaf_stays_at_nought() -> None:
    assert [cycle().ready_children(name) for name in "ABC"] == [0, 0, 0]


def test_a_broken_cycle_is_counted_right_again() -> None:
    world = cycle().add(leaf("g", 1, "A"), pod("p", "g"))
    world.remove(inner("B")).add(inner("B", 1))
    assert world.root(key("g")) == key("B")
    assert [world.ready_children(name) for name in "ABC"] == [1, 1, 0]
    world.remove(pod("p", "g"))
    assert [world.ready_children(name) for name in "ABC"] == [0, 0, 0]


def test_a_group_that_names_itself_as_parent_is_a_cycle_of_length_one() -> None:
    world = World().add(inner("A", 1, "A"), leaf("g", 1, "A"), pod("p", "g"))
    assert world.root(key("g")) is None
    world.remove(inner("A"))
    assert world.add(inner("A", 1)).root(key("g")) == key("A")
    assert world.ready_children("A") == 1


def test_the_order_of_arrival_in_a_cycle_does_not_matter() -> None:
    """A(2) over the leaf and B, B(1) over A: nothing but the leaf may count, or A would hold itself up."""
    objects = [inner("A", 2, "B"), inner("B", 1, "A"), leaf("g", 1, "A"), pod("p", "g")]
    for seed in range(24):
        world = World().add(*random.Random(seed).sample(objects, 4))
        assert (world.ready_children("A"), world.ready_children("B")) == (1, 0)


def deep(links: int) -> World:
    names = "RABCDEFGHIJ"
    groups = [inner(names[0], 1)] + [inner(names[i], 1, names[i - 1]) for i in range(1, links)]
    return World().add(*groups, leaf("g", 1, names[links - 1]), pod("p", "g"))


def test_four_parent_links_are_accepted() -> None:
    assert deep(4).quorum(key("g"))[0].key == key("R")


def test_five_parent_links_are_refused_by_the_quorum_only() -> None:
    world = deep(5)
    assert world.root(key("g")) == key("R")
    assert world.ready(key("R"))
    with pytest.raises(HierarchyError, match="deeper than maximum of 4"):
        world.quorum(key("g"))
    world.add(inner("A", 1))  # the chain is shortened
    assert world.quorum(key("g"))[0].key == key("A")


def test_a_deep_branch_does_not_spoil_its_shallow_cousin() -> None:
    world = deep(5).add(leaf("cousin", 1, "R"))
    assert world.quorum(key("cousin"))[0].key == key("R")


def test_thousands_of_parent_links_neither_overflow_nor_take_long() -> None:
    forest = Forest()
    for i in range(5000):
        forest.add_group(inner(f"N{i}", 1, f"N{i + 1}"))
    forest.add_group(leaf("g", 1, "N0"))
    forest.add_pod(pod("p", "g"))
    forest.add_group(inner("N5000", 1))
    root = EntityKey.of(COMPOSITE_POD_GROUP, "default", "N5000")
    assert forest.root(key("g")) == root
    assert forest.ready(root)
    assert sum(1 for _ in forest.tree(root).walk()) == 5002
    assert list(forest.leaves_below(root)) == [key("g")]


def test_a_missing_link_anywhere_leaves_the_root_unknown() -> None:
    world = World().add(leaf("g", 1, "M"), inner("R", 1), pod("p", "g"))
    assert world.root(key("g")) is None
    with pytest.raises(HierarchyError, match="compositepodgroup/default/M not found"):
        world.quorum(key("g"))
    assert world.add(inner("M", 1, "R")).root(key("g")) == key("R")


def test_same_hierarchy_is_false_when_a_root_is_unknown() -> None:
    world = World().add(inner("R", 1), leaf("a", 1, "R"), leaf("b", 1, "R"), leaf("c", 1), leaf("d", 1, "X"))
    assert world.same_hierarchy(key("a"), key("b"))
    assert world.same_hierarchy(key("a"), key("R"))
    assert not world.same_hierarchy(key("a"), key("c"))
    assert not world.same_hierarchy(key("d"), key("d"))
    assert not world.same_hierarchy(key("a"), key("unknown"))


# --- edge cases of §8.1 that concern the forest alone -----------------------------------------------------------


def test_row_10_and_11_a_leaf_with_an_unknown_parent_waits_for_it() -> None:
    world = World().add(leaf("g", 1, "P"), pod("a", "g"))
    assert world.root(key("g")) is None
    assert world.add(inner("P", 1)).root(key("g")) == key("P")
    assert world.ready(key("P"))


def test_row_13_and_14_bottom_up_and_top_down_end_alike() -> None:
    objects: list[Group | Pod] = [pod("a", "g"), pod("b", "g"), leaf("g", 2, "M"), inner("M", 1, "R"), inner("R", 1)]
    for order in (objects, objects[::-1]):
        world = World().add(*order)
        assert (world.ready_children("M"), world.ready_children("R"), world.ready(key("R"))) == (1, 1, True)


def test_row_17_the_counter_follows_one_two_one() -> None:
    world = tree(1)
    before = world.ready_children("R")
    with_two = world.add(pod("p1", "g")).ready_children("R")
    after = world.remove(pod("p1", "g")).ready_children("R")
    assert [before, with_two, after] == [0, 1, 0]


def test_row_32_and_33_one_short_leaf_keeps_the_tree_back() -> None:
    world = World().add(inner("R", 2), leaf("a", 1, "R"), leaf("b", 2, "R"), pod("pa", "a"), pod("pb", "b"))
    assert not world.ready(key("R"))
    assert world.add(pod("pb2", "b")).ready(key("R"))


def test_row_35_and_36_a_lowered_minimum_of_a_composite_group_travels_up() -> None:
    world = World().add(inner("R", 1), inner("M", 2, "R"), leaf("a", 1, "M"), pod("pa", "a"))
    assert not world.ready(key("R"))
    assert world.add(inner("M", 1, "R")).ready(key("R"))


def test_row_44_a_pod_group_and_a_composite_of_one_name_are_two() -> None:
    twin = EntityKey.of(COMPOSITE_POD_GROUP, "default", "a")
    world = World().add(leaf("a", 1, "a"), make_composite_pod_group("a").min_group_count(1).obj(), pod("p", "a"))
    assert world.root(key("a")) == twin
    assert world.remove(leaf("a")).group(twin) is not None


def test_row_45_parents_are_looked_up_in_the_own_namespace() -> None:
    forest = Forest()
    forest.add_group(inner("R", 1, namespace="one"))
    child = leaf("g", 1, "R", namespace="two")
    forest.add_group(child)
    assert forest.root(child.key) is None


def test_row_46_without_composite_groups_a_parent_reference_is_ignored() -> None:
    world = World(composite=False).add(leaf("g", 1, "R"), leaf("h", 1, "R"), pod("p", "g"))
    assert world.root(key("g")) == key("g")
    assert world.quorum(key("g"))[0].key == key("g")
    assert world.ready(key("g"))
    assert not world.same_hierarchy(key("g"), key("h"))
    assert not world.known("R")


def test_row_49_a_deleted_leaf_no_longer_counts() -> None:
    names = ("a", "b", "c")
    world = World().add(inner("R", 3), *(leaf(n, 1, "R") for n in names), *(pod(f"p{n}", n) for n in names))
    assert world.ready(key("R"))
    assert not world.remove(leaf("c")).ready(key("R"))


# --- trees ------------------------------------------------------------------------------------------------------


def test_children_are_in_order_of_name_then_kind() -> None:
    twin = make_composite_pod_group("b").parent("R").obj()
    world = World().add(inner("R", 1), leaf("c", 1, "R"), leaf("b", 1, "R"), twin, leaf("a", 1, "R"))
    assert world.children(key("R")) == [key("a"), twin.key, key("b"), key("c")]


def test_children_can_be_in_order_of_creation_in_whole_seconds_then_name() -> None:
    second = 1_000_000_000
    world = World(child_order="creation").add(inner("R", 1))
    for name, created in (("c", 0), ("b", second), ("a", second + 1)):
        world.add(evolve(leaf(name, 1, "R"), creation_timestamp=created))
    assert [child.name for child in world.children(key("R"))] == ["c", "a", "b"]
    world.add(evolve(leaf("a", 1, "R"), creation_timestamp=0))  # recreated earlier: it moves
    assert [child.name for child in world.children(key("R"))] == ["a", "c", "b"]


def test_a_tree_is_a_frozen_picture_depth_first() -> None:
    world = World().add(inner("R", 1), inner("B", 1, "R"), leaf("a", 1, "R"), leaf("c", 1, "B"), leaf("b", 1, "B"))
    taken = world.tree(key("R"))
    world.remove(leaf("a"))
    assert [info.group.name for info in taken.walk()] == ["R", "B", "b", "c", "a"]
    assert [info.key for info in taken.leaves()] == [key("b"), key("c"), key("a")]
    assert [info.key.name for info in world.tree(key("R")).leaves()] == ["b", "c"]


def test_leaves_below_a_group_include_placeholders_and_survive_cycles() -> None:
    world = cycle().add(leaf("g", 1, "A"), leaf("h", 1, "P"))
    assert list(world.leaves_below(key("A"))) == [key("g")]
    assert list(world.leaves_below(key("P"))) == [key("h")]
    assert list(world.leaves_below(key("unknown"))) == []


# --- scheduled pods (§3.8) --------------------------------------------------------------------------------------


def test_assigned_and_assumed_pods_are_scheduled() -> None:
    waiting = pod("a", "g")
    world = World().add(leaf("g", 1), waiting, pod("b", "g", node="n1"))
    assert world.scheduled_count(key("g")) == 1
    world.assume(waiting, "n2")
    assert {p.name: p.node_name for p in world.scheduled_pods(key("g")).values()} == {"a": "n2", "b": "n1"}
    world.forget(waiting)
    assert world.scheduled_count(key("g")) == 1
    world._check()


def test_an_assumed_pod_stays_scheduled_through_updates_and_is_confirmed_by_its_node() -> None:
    waiting, labelled = pod("a", "g"), evolve(pod("a", "g"), labels={"x": "y"})
    world = World().add(leaf("g", 1), waiting)
    world.assume(waiting, "n2")
    world.replace(waiting, labelled)
    assert [(p.node_name, p.labels) for p in world.scheduled_pods(key("g")).values()] == [("n2", {"x": "y"})]
    bound = pod("a", "g", node="n2")
    world.replace(labelled, bound)
    world.forget(bound)  # too late: the binding was seen
    assert world.scheduled_pods(key("g")) == {bound.uid: bound}


def test_a_pod_that_loses_its_node_waits_again() -> None:
    bound = pod("a", "g", node="n1")
    world = World().add(leaf("g", 1), bound).replace(bound, pod("a", "g"))
    assert world.scheduled_count(key("g")) == 0
    assert len(world.pods(key("g"))) == 1


def test_a_deleted_assumed_pod_leaves_every_count() -> None:
    waiting = pod("a", "g")
    world = World().add(leaf("g", 1), waiting)
    world.assume(waiting, "n1")
    world.remove(waiting)
    assert (world.scheduled_count(key("g")), len(world.pods(key("g")))) == (0, 0)


def test_an_unknown_pod_is_not_assumed() -> None:
    world = World().add(leaf("g", 1))
    world.assume(pod("a", "g"), "n1")
    world.assume(make_pod("plain").obj(), "n1")
    world.forget(make_pod("plain").obj())
    assert world.scheduled_count(key("g")) == 0


def test_plain_pods_are_nobodys_members() -> None:
    plain = make_pod("p").obj()
    world = World().add(plain).replace(plain, plain).remove(plain)
    assert world.names() == []


# --- any order, any sequence ------------------------------------------------------------------------------------

COMPOSITES = "RABC"
LEAVES = "xyz"


@st.composite
def worlds(draw: st.DrawFn) -> list[Group | Pod]:
    """Groups with arbitrary parents (cycles, missing links and twins included) and pods."""
    parents = st.sampled_from(["", *COMPOSITES])
    minima = st.none() | st.integers(1, 3)
    groups: list[Group | Pod] = [
        inner(name, draw(minima), draw(parents)) if name.isupper() else leaf(name, draw(minima), draw(parents))
        for name in draw(st.lists(st.sampled_from(COMPOSITES + LEAVES), unique=True))
    ]
    places = draw(st.lists(st.tuples(st.sampled_from(LEAVES), st.sampled_from(["", "n1"])), max_size=6))
    return groups + [pod(f"p{number}", group, node) for number, (group, node) in enumerate(places)]


def picture(world: World) -> dict[str, object]:
    return {
        name: (
            world.known(name),
            world.ready(key(name)),
            world.ready_children(name),
            world.children(key(name)),
            world.root(key(name)),
            sorted(world.pods(key(name))),
            sorted(world.scheduled_pods(key(name))),
        )
        for name in COMPOSITES + LEAVES
    }


@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_in_which_objects_appear_does_not_matter(objects: list[Group | Pod], shuffle: random.Random) -> None:
    want = picture(World().add(*objects))
    shuffle.shuffle(objects)
    assert picture(World().add(*objects)) == want


@given(worlds(), st.randoms(use_true_random=False))
def test_what_is_added_and_removed_again_leaves_nothing(objects: list[Group | Pod], shuffle: random.Random) -> None:
    world = World().add(*objects)
    shuffle.shuffle(objects)
    world.remove(*objects)
    assert picture(world) == picture(World())


class ForestMachine(RuleBasedStateMachine):
    """Any sequence of changes; after each, counters equal a recount, and readiness equals its definition."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.groups: dict[EntityKey, Group] = {}
        self.pods: dict[str, Pod] = {}

    @rule(
        name=st.sampled_from([*COMPOSITES, *LEAVES]),
        minimum=st.none() | st.integers(1, 3),
        parent=st.sampled_from(["", *COMPOSITES]),
    )
    def add_or_update_group(self, name: str, minimum: int | None, parent: str) -> None:
        group = inner(name, minimum, parent) if name.isupper() else leaf(name, minimum, parent)
        self.groups[group.key] = group
        self.world.add_group(group)

    @precondition(lambda self: self.groups)
    @rule(data=st.data())
    def delete_group(self, data: st.DataObject) -> None:
        gone = data.draw(st.sampled_from(sorted(self.groups)))
        del self.groups[gone]
        self.world.delete_group(gone)

    @rule(
        name=st.sampled_from(["p0", "p1", "p2", "p3"]),
        group=st.sampled_from(LEAVES),
        node=st.sampled_from(["", "n1"]),
        uid=st.sampled_from(["", "second"]),
    )
    def add_or_update_pod(self, name: str, group: str, node: str, uid: str) -> None:
        new, old = pod(name, group, node, uid and f"{name}-{uid}"), self.pods.get(name)
        self.pods[name] = new
        if old is None:
            self.world.add_pod(new)
        else:
            self.world.update_pod(old, new)

    @precondition(lambda self: self.pods)
    @rule(data=st.data())
    def delete_pod(self, data: st.DataObject) -> None:
        self.world.delete_pod(self.pods.pop(data.draw(st.sampled_from(sorted(self.pods)))))

    @invariant()
    def counters_equal_a_recount(self) -> None:
        self.world._check()
        assert {group.key: group for group in self.world.groups()} == self.groups
        for name in LEAVES:
            members = {p.uid: p for p in self.pods.values() if p.group_name == name}
            assert self.world.pods(key(name)) == members
            scheduled = {uid: p for uid, p in members.items() if p.node_name}
            assert self.world.scheduled_pods(key(name)) == scheduled

    @invariant()
    def readiness_equals_its_definition_where_there_is_a_root(self) -> None:
        for group_key in self.groups:
            if self.world.root(group_key) is not None:
                assert self.world.ready(group_key) == self.ready(group_key)

    def ready(self, group_key: EntityKey) -> bool:
        group = self.groups[group_key]
        if group_key.kind == POD_GROUP:
            count = sum(p.group_name == group.name for p in self.pods.values())
        else:
            count = sum(self.ready(g.key) for g in self.groups.values() if g.parent_key == group_key)
        return count >= group.required


ForestMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=30)
TestForestMachine = ForestMachine.TestCase
