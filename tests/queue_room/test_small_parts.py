"""The heap, the in-flight list, the nominator, and the events of updates: each for itself."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.events import ClusterEvent
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import Node, Pod, PodStatus, Taint
from gangsched_framework.pod_spec import Toleration
from gangsched_framework.testing import make_node, make_pod
from gangsched_queue.entities import QueuedPodGroupInfo
from gangsched_queue.entity_heap import EntityHeap
from gangsched_queue.in_flight import InFlight
from gangsched_queue.member_gates import member_order
from gangsched_queue.node_events import node_update_events
from gangsched_queue.nominator import Nominator
from gangsched_queue.pod_events import pod_update_events
from gangsched_queue.registrations import Audience
from gangsched_queue.unschedulable_entities import UnschedulableEntities
from tests.queue_room.cluster import group, key, pod
from tests.queue_room.fakes import NODE_ADD

# --- heap -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 3), st.sampled_from(["add", "remove", "pop"]))))
def test_the_heap_agrees_with_a_sorted_list(steps: list[tuple[str, int, str]]) -> None:
    orders: dict[str, int] = {}
    heap = EntityHeap(lambda entity: (orders[entity.key],))
    model: dict[str, int] = {}
    for name, order, step in steps:
        info = QueuedPodInfo(pod(name), 0)
        if step == "add" and info.key not in heap:
            model[info.key] = orders[info.key] = order
            heap.enter(info)
        elif step == "remove":
            assert (heap.remove(info.key) is not None) == (model.pop(info.key, None) is not None)
        elif step == "pop":
            least = min(model, key=lambda key: (model[key], key), default=None)
            head, popped = heap.head(), heap.pop()
            assert (popped.key if popped else None) == least
            assert (head[1] if head else None) is popped
            model.pop(least or "", None)
        heap._check()
        assert [entity.key for entity in heap.in_order()] == sorted(model, key=lambda key: (model[key], key))
        assert len(heap) == len(model)


def test_many_removals_do_not_leave_the_heap_full_of_the_dead() -> None:
    heap = EntityHeap(lambda entity: (entity.timestamp,))
    for i in range(1000):
        heap.enter(QueuedPodInfo(pod(f"p{i}"), i * 37 % 1000))
    for i in range(990):
        heap.remove(pod(f"p{i}").entity_key)
        heap._check()


# --- parked -----------------------------------------------------------------------------------------------------------

PARKED_STEPS = st.lists(
    st.tuples(st.sampled_from(["park", "open", "leave", "event", "flush"]), st.sampled_from("abcd"), st.booleans())
)


@given(PARKED_STEPS)
def test_gated_trees_are_found_by_whoever_looks_whenever_they_came(steps: list[tuple[str, str, bool]]) -> None:
    parked = UnschedulableEntities()
    model: dict[str, QueuedPodGroupInfo] = {}
    for step, name, flag in steps:
        entity = model.get(name)
        if step == "park" and entity is None:
            entity = model[name] = _gated(name, "AB"[name > "b"], opened=flag)
            parked.add(entity)
        elif step == "open" and entity is not None and entity.size == 1:
            entity.insert(entity.key, QueuedPodInfo(pod(f"{name}-new", name), 0))
            parked.refresh(entity)
        elif step == "leave":
            assert parked.remove(key(name)) is model.pop(name, None)
        elif step == "event":
            waiting = [each for each in model.values() if each.gating_plugin == "A"]
            assert sorted(each.key for each in parked.concerned(Audience({"A": False}), None)) == sorted(
                each.key for each in waiting
            )
        elif step == "flush":
            assert parked.oldest_stay() == min((each.timestamp for each in model.values()), default=None)
        parked._check()
        assert parked.get(key(name)) is model.get(name)
        found = {entity.key for entities in parked.open.values() for entity in entities.values()}
        assert found == {each.key for each in model.values() if each.size > 1}
    assert {entity.key for entity in parked} == {entity.key for entity in model.values()}


def _gated(name: str, gate: str, *, opened: bool) -> QueuedPodGroupInfo:
    """A tree whose first member is held back; ``opened``: and that has one whom nobody has rejected."""
    entity = QueuedPodGroupInfo(key(name), group(name), ord(name))
    entity.gating_plugin = gate
    member = QueuedPodInfo(pod(f"{name}-0", name), 0)
    member.unschedulable_plugins = frozenset({gate})
    entity.insert(entity.key, member)
    if opened:
        entity.insert(entity.key, QueuedPodInfo(pod(f"{name}-1", name), 0))
    return entity


# --- in flight --------------------------------------------------------------------------------------------------------

STEPS = st.lists(st.tuples(st.sampled_from(["mark", "together", "done", "event", "own"]), st.sampled_from("abc")))


@given(STEPS)
def test_the_in_flight_list_agrees_with_a_plain_one(steps: list[tuple[str, str]]) -> None:
    in_flight = InFlight()
    log: list[tuple[str, str, str]] = []  # kind, pod, only
    for step, name in steps:
        uid = pod(name).uid
        marked = ("mark", uid, "") in log
        if step == "mark" and not marked:
            in_flight.mark(pod(name))
            log.append(("mark", uid, ""))
        elif step == "together":
            begun = in_flight.begin({key(each): [QueuedPodInfo(pod(each), 0)] for each in "abc"})
            free = [each for each in "abc" if ("mark", pod(each).uid, "") not in log]
            assert [(leaf, infos[0].pod.name, infos[0].attempts) for leaf, infos in begun.items()] == [
                (key(each), each, 1) for each in free
            ]
            log += [("mark", pod(each).uid, "") for each in free]
        elif step == "done":
            in_flight.done(uid)
            log = [entry for entry in log if entry != ("mark", uid, "")]
        elif step in ("event", "own"):
            only = uid if step == "own" else ""
            in_flight.record(NODE_ADD, None, pod(name), only)
            log.append(("event", uid, only))
        while log and log[0][0] == "event":
            log.pop(0)
        in_flight._check()
        for other in "abc":
            mark = ("mark", pod(other).uid, "")
            behind = log[log.index(mark) :] if mark in log else []
            expected = [entry[1] for entry in behind if entry[0] == "event" and entry[2] in ("", mark[1])]
            missed = in_flight.missed(mark[1])
            assert [each.new.uid for each in missed if isinstance(each.new, Pod)] == expected
            assert (mark[1] in in_flight) == (mark in log)
        assert len(in_flight._events) >= sum(entry[0] == "event" for entry in log)


def test_events_that_all_have_seen_go_once_as_many_attempts_have_ended_as_go_on() -> None:
    in_flight = InFlight()
    for name in "ab":
        in_flight.mark(pod(name))
    in_flight.record(NODE_ADD, None, None)
    for name in "cd":
        in_flight.mark(pod(name))
    in_flight.record(NODE_ADD, None, None)
    kept = []
    for name in "abcd":
        in_flight.done(pod(name).uid)
        kept.append(len(in_flight._events))
        in_flight._check()
    assert kept == [2, 1, 1, 0]


# --- nominator --------------------------------------------------------------------------------------------------------


def nominated(name: str, node: str) -> Pod:
    return evolve(pod(name), status=PodStatus(nominated_node_name=node))


def nominator(*known: Pod) -> Nominator:
    return Nominator({one.key: one for one in known}.get)


def names(found: Nominator, node: str) -> list[str]:
    found._check()
    return [one.name for one in found.nominated_pods(node)]


def test_a_nomination_comes_from_the_status_unless_a_node_is_given() -> None:
    p = nominated("p", "n1")
    found = nominator(p)
    found.add(p)
    assert (found.nominated_node(p), names(found, "n1")) == ("n1", ["p"])
    found.add(p, "n2")
    assert (found.nominated_node(p), names(found, "n1"), names(found, "n2")) == ("n2", [], ["p"])
    found.add(p, "")
    assert (found.nominated_node(p), names(found, "n2")) == ("", [])


def test_row_109_an_assigned_or_deleted_pod_is_not_nominated() -> None:
    p = nominated("p", "n1")
    found = nominator(p.bound_to("n2"))
    found.add(p)
    assert names(found, "n1") == []
    found = nominator()
    found.add(p)
    assert names(found, "n1") == []


def test_a_pod_in_no_queue_keeps_a_place_at_priority_0_of_its_nomination_until_it_is_heard_of_again() -> None:
    p = evolve(nominated("p", "n1"), priority=5, labels={"color": "red"})
    found = nominator(p)
    found.leave(p)
    assert names(found, "n1") == []
    found.add(p)
    found.leave(p)
    assert (names(found, "n1"), found.highest) == (["p"], 0)
    assert not found.nominated_pods("n1")[0].labels
    found.update(p, p)
    assert (list(found.nominated_pods("n1")), found.highest) == ([p], 5)


UPDATES = [
    ("row 107: both statuses empty: kept", "", "", "kept", "kept"),
    ("the new status says another node", "", "n2", "kept", "n2"),
    ("the status lost its node", "n1", "", "n1", ""),
    ("the status changed", "n1", "n2", "n1", "n2"),
    ("nothing known and nothing new", "", "", "", ""),
]


@pytest.mark.parametrize(
    ("before", "after", "memory", "expected"), [case[1:] for case in UPDATES], ids=[case[0] for case in UPDATES]
)
def test_a_nomination_when_its_pod_changes(before: str, after: str, memory: str, expected: str) -> None:
    old, new = nominated("p", before), nominated("p", after)
    found = nominator(new)
    found.add(old, memory)
    found.update(old, new)
    assert found.nominated_node(new) == expected
    assert [one is new for one in found.nominated_pods(expected)] == ([True] if expected else [])


def test_nominations_of_a_node_keep_their_order_and_end_with_the_pod() -> None:
    pods = [nominated(name, "n") for name in "cab"]
    found = nominator(*pods)
    for one in pods:
        found.add(one)
    found.delete(pods[1])
    assert names(found, "n") == ["c", "b"]


# --- events of updates ------------------------------------------------------------------------------------------------


def labels(events: tuple[ClusterEvent, ...]) -> list[str]:
    return [event.label.split("/", 1)[1] for event in events]


PLAIN = make_node("n").capacity(cpu=4).obj()
NODE_UPDATES: list[tuple[str, Node, Node, list[str]]] = [
    ("nothing relevant", PLAIN, evolve(PLAIN, uid="x"), []),
    ("cordoned", PLAIN, evolve(PLAIN, unschedulable=True), []),
    ("uncordoned", evolve(PLAIN, unschedulable=True), PLAIN, ["UpdateNodeTaint"]),
    ("allocatable", PLAIN, make_node("n").capacity(cpu=5).obj(), ["UpdateNodeAllocatable"]),
    ("a zero more", PLAIN, evolve(PLAIN, written_allocatable={"example.com/foo": 0}), ["UpdateNodeAllocatable"]),
    ("label", PLAIN, evolve(PLAIN, labels={"a": "b"}), ["UpdateNodeLabel"]),
    ("taint", PLAIN, evolve(PLAIN, taints=(Taint("a"),)), ["UpdateNodeTaint"]),
    ("condition", PLAIN, evolve(PLAIN, conditions=(("Ready", "True"),)), ["UpdateNodeCondition"]),
    ("annotation", PLAIN, evolve(PLAIN, annotations={"a": "b"}), ["UpdateNodeAnnotation"]),
    ("feature", PLAIN, evolve(PLAIN, declared_features=("a",)), ["UpdateNodeDeclaredFeature"]),
    (
        "everything at once, in the fixed order, the taint twice",
        evolve(PLAIN, unschedulable=True),
        evolve(
            make_node("n").capacity(cpu=5).obj(),
            labels={"a": "b"},
            taints=(Taint("a"),),
            conditions=(("Ready", "True"),),
            annotations={"a": "b"},
            declared_features=("a",),
        ),
        [
            "UpdateNodeTaint",
            "UpdateNodeAllocatable",
            "UpdateNodeLabel",
            "UpdateNodeTaint",
            "UpdateNodeCondition",
            "UpdateNodeAnnotation",
            "UpdateNodeDeclaredFeature",
        ],
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "expected"), [case[1:] for case in NODE_UPDATES], ids=[case[0] for case in NODE_UPDATES]
)
def test_the_events_of_a_changed_node(old: Node, new: Node, expected: list[str]) -> None:
    assert labels(node_update_events(old, new)) == expected


ONE_CPU = make_pod("p").requests(cpu=1)
TWO_OF_TWO = make_pod("p").requests(cpu=2).allocated(cpu=2).obj()
TOLERANT = make_pod("p").tolerates("a").obj()
POD_UPDATES: list[tuple[str, Pod, Pod, list[str]]] = [
    ("nothing at all", ONE_CPU.obj(), ONE_CPU.obj(), ["Update"]),
    ("an annotation", ONE_CPU.obj(), ONE_CPU.annotation("a", "b").obj(), ["Update"]),
    ("a label", ONE_CPU.obj(), ONE_CPU.label("a", "b").obj(), ["UpdatePodLabel"]),
    ("less", ONE_CPU.obj(), make_pod("p").requests(cpu="999m").obj(), ["UpdatePodScaleDown"]),
    ("more", ONE_CPU.obj(), make_pod("p").requests(cpu=2).obj(), ["UpdatePodScaleUp"]),
    ("a new name", ONE_CPU.obj(), make_pod("p").requests(cpu=1, memory=0).obj(), ["UpdatePodScaleUp"]),
    ("a name less", make_pod("p").requests(cpu=1, memory=0).obj(), ONE_CPU.obj(), ["UpdatePodScaleDown"]),
    ("more, but its node had allocated that much", ONE_CPU.allocated(cpu=2).obj(), TWO_OF_TWO, ["Update"]),
    ("the node allocates less", TWO_OF_TWO, evolve(TWO_OF_TWO, spec=ONE_CPU.obj().spec), ["Update"]),
    ("the status shows less", ONE_CPU.allocated(cpu=2).obj(), ONE_CPU.obj(), ["UpdatePodScaleDown"]),
    ("the status shows more", ONE_CPU.obj(), ONE_CPU.allocated(cpu=2).obj(), ["UpdatePodScaleUp"]),
    ("below a milli", ONE_CPU.obj(), make_pod("p").requests(cpu="999.5m").obj(), ["Update"]),
    (
        "one less, another more",
        make_pod("p").requests(cpu=1, memory=5).obj(),
        make_pod("p").requests(cpu=2, memory=4).obj(),
        ["UpdatePodScaleDown", "UpdatePodScaleUp"],
    ),
    ("one gate of two", make_pod("p").gate("a", "b").obj(), make_pod("p").gate("b").obj(), ["Update"]),
    ("the last gate", make_pod("p").gate("b").obj(), make_pod("p").obj(), ["UpdatePodSchedulingGatesEliminated"]),
    ("a toleration more", make_pod("p").obj(), TOLERANT, ["UpdatePodToleration"]),
    (
        "another toleration",
        TOLERANT,
        evolve(TOLERANT, spec=evolve(TOLERANT.spec, tolerations=(Toleration("b"),))),
        ["Update"],
    ),
    (
        "everything at once, in the fixed order",
        make_pod("p").requests(cpu=1, memory=5).gate("a").obj(),
        make_pod("p").requests(cpu=2, memory=4).label("a", "b").tolerates("a").obj(),
        [
            "UpdatePodLabel",
            "UpdatePodScaleDown",
            "UpdatePodScaleUp",
            "UpdatePodSchedulingGatesEliminated",
            "UpdatePodToleration",
        ],
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "expected"), [case[1:] for case in POD_UPDATES], ids=[case[0] for case in POD_UPDATES]
)
def test_the_events_of_a_changed_pod(old: Pod, new: Pod, expected: list[str]) -> None:
    assert labels(pod_update_events(old, new)) == expected


@pytest.mark.parametrize(("node", "resource"), [("", "TargetPod"), ("n", "AssignedPod")])
def test_a_waiting_pod_is_its_own_target(node: str, resource: str) -> None:
    old = make_pod("p").node(node).obj()
    assert [event.label for event in pod_update_events(old, old)] == [f"{resource}/Update"]


# --- one tree ---------------------------------------------------------------------------------------------------------

REJECTORS = st.sets(st.sampled_from(["A", "B"]))
TREE_STEPS = st.lists(
    st.tuples(st.sampled_from(["insert", "remove", "replace", "reject"]), st.integers(0, 5), REJECTORS, REJECTORS)
)


@given(TREE_STEPS)
def test_a_tree_knows_its_members_their_rejectors_and_their_order(
    steps: list[tuple[str, int, set[str], set[str]]],
) -> None:
    forest = Forest()
    for one in (group("R"), group("a", 1, "R"), group("b", 1, "R")):
        forest.add_group(one)
    entity = QueuedPodGroupInfo(key("R"), group("R"), 0)
    model: dict[str, QueuedPodInfo] = {}
    for step, i, unschedulable, pending in steps:
        name, leaf = f"p{i}", "ab"[i % 2]
        info = model.get(name)
        if step == "insert" and info is None:
            info = QueuedPodInfo(pod(name, leaf), len(pending))
            info.initial_attempt_timestamp = 7 if pending else None
            info.attempts = len(unschedulable)
            info.unschedulable_plugins, info.pending_plugins = frozenset(unschedulable), frozenset(pending)
            model[name] = info
            entity.insert(key(leaf), info)
        elif step == "remove":
            assert entity.remove(key(leaf), f"default/{name}") is model.pop(name, None)
        elif step == "replace" and info is not None:
            entity.replace(info, pod(name, leaf, labels={"color": "new"}, priority=len(pending)))
        elif step == "reject" and info is not None:
            entity.rejected.reject(info, "A")
        assert {info.pod.name for info in entity.members()} == set(model)
        if model:
            entity._check(forest)
        ordered = entity.ordered(forest.tree(entity.key))
        assert list(ordered) == [key(leaf) for leaf in "ab" if any(i.pod.group_name == leaf for i in model.values())]
        for leaf_key, infos in ordered.items():
            members = [info for info in model.values() if info.pod.group_key == leaf_key]
            assert infos == sorted(members, key=member_order)
