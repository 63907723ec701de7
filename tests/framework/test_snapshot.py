"""The snapshot: tentative steps and their undoing, placements (architecture.md §2, spec §3.8)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gangsched_framework.errors import GangschedError
from gangsched_framework.hierarchy import Forest
from gangsched_framework.node_order import upstream
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Placement
from gangsched_framework.snapshot import ALL_NODES, Snapshot
from gangsched_framework.testing import make_node, make_pod, make_pod_group, make_snapshot

GPU = "nvidia.com/gpu"
NODES = [make_node(name).capacity(cpu=8, **{GPU: 4}).label("zone", name[1]).obj() for name in ("n1", "n2", "n3")]


def names(snapshot: Snapshot) -> list[str]:
    return [node.name for node in snapshot.nodes]


def picture(snapshot: Snapshot) -> object:
    """All that a cycle can see, with the order in which it sees it."""
    table = snapshot.table
    return (
        [
            (
                node.name,
                list(node.pods.items()),
                {resource: node.requested(resource) for resource in ("cpu", "memory", "pods", GPU)},
                node.nonzero_milli_cpu,
                node.nonzero_memory,
                list(node.pods_with_affinity.items()),
                sorted(node.used_ports),
            )
            for node in snapshot.all_nodes
        ],
        {name: dict(pods) for name, pods in table.homeless.pods.items()},
        snapshot.scheduled(make_pod_group("g").obj().key),
        [node.name for node in snapshot.nodes_with_affinity_pods()],
    )


# --- reading ----------------------------------------------------------------------------------------------------


def test_nodes_come_in_name_order() -> None:
    assert names(make_snapshot(NODES[::-1])) == ["n1", "n2", "n3"]


def test_nodes_come_in_the_configured_order() -> None:
    table = NodeTable()
    for node in (NODES[2], NODES[0], NODES[1]):
        table.add_node(node)
    snapshot = Snapshot(table, Forest(), upstream)
    snapshot.refresh()
    assert names(snapshot) == ["n3", "n1", "n2"]
    snapshot.enter(Placement("some", (1, 2)))
    assert names(snapshot) == ["n3", "n2"]


def test_a_refresh_shows_nodes_that_came_and_changed() -> None:
    table = NodeTable()
    snapshot = Snapshot(table, Forest(), upstream)
    snapshot.refresh()
    assert names(snapshot) == []
    table.add_node(NODES[0])
    snapshot.refresh()
    assert names(snapshot) == ["n1"]
    changed = evolve(NODES[0], unschedulable=True)
    table.update_node(changed)
    snapshot.refresh()
    assert snapshot.nodes[0].node is changed


def test_a_node_is_found_by_name_whatever_the_placement() -> None:
    snapshot = make_snapshot(NODES)
    snapshot.enter(Placement("one", (0,)))
    found = snapshot.node("n2")
    assert found is not None
    assert found.name == "n2"
    assert snapshot.node("n9") is None
    assert len(snapshot.all_nodes) == 3


def test_a_placement_restricts_and_the_one_before_comes_back() -> None:
    near = [make_pod(f"p{i}").affinity("zone", {}).node(f"n{i}").obj() for i in (1, 2, 3)]
    snapshot = make_snapshot(NODES, near)
    outer = snapshot.enter(Placement("outer", (0, 2)))
    assert outer is ALL_NODES
    assert names(snapshot) == ["n1", "n3"]
    assert [node.name for node in snapshot.nodes_with_affinity_pods()] == ["n1", "n2", "n3"]  # whatever the placement
    inner = snapshot.enter(Placement("inner", (2,)))
    assert names(snapshot) == ["n3"]
    assert [snapshot.contains(node) for node in snapshot.all_nodes] == [False, False, True]
    snapshot.enter(inner)
    assert names(snapshot) == ["n1", "n3"]
    snapshot.enter(outer)
    assert names(snapshot) == ["n1", "n2", "n3"]
    assert all(snapshot.contains(node) for node in snapshot.all_nodes)
    snapshot._check()


def test_an_empty_placement_holds_no_node() -> None:
    snapshot = make_snapshot(NODES)
    snapshot.enter(Placement("none", ()))
    assert names(snapshot) == []
    assert not snapshot.contains(snapshot.all_nodes[0])


# --- tentative steps --------------------------------------------------------------------------------------------


def test_an_assumed_pod_counts_on_its_node_and_for_its_group_until_rolled_back() -> None:
    group = make_pod_group("g").min_count(2).obj()
    running = make_pod("r").in_group("g").requests(cpu=1).node("n1").obj()
    waiting = make_pod("w").in_group("g").requests(cpu=2).obj()
    snapshot = make_snapshot(NODES, [running, waiting], [group])
    mark = snapshot.mark()
    snapshot.assume(waiting, "n1")
    assert snapshot.nodes[0].requested_milli_cpu == 3000
    assert snapshot.scheduled(group.key) == 2
    assert snapshot.forest.scheduled_count(group.key) == 1
    snapshot.remove(running, "n1")
    assert snapshot.nodes[0].requested_milli_cpu == 2000
    assert snapshot.scheduled(group.key) == 1
    snapshot.rollback(mark)
    assert snapshot.nodes[0].requested_milli_cpu == 1000
    assert snapshot.scheduled(group.key) == 1
    snapshot._check()


def test_a_rollback_to_a_later_mark_keeps_the_earlier_steps() -> None:
    snapshot = make_snapshot(NODES)
    first, second = (make_pod(name).requests(cpu=1).obj() for name in "pq")
    snapshot.assume(first, "n1")
    mark = snapshot.mark()
    snapshot.assume(second, "n1")
    snapshot.rollback(mark)
    assert list(snapshot.nodes[0].pods) == ["default/p"]
    assert snapshot.steps_since(0) == [(first, "n1")]


def test_a_removed_pod_comes_back_to_its_place_among_the_pods() -> None:
    pods = [make_pod(name).requests(cpu=1).affinity("zone", {}).node("n1").obj() for name in "pqr"]
    snapshot = make_snapshot(NODES, pods)
    snapshot.remove(pods[0], "n1")
    snapshot.remove(pods[1], "n1")
    snapshot.rollback(0)
    assert list(snapshot.nodes[0].pods.values()) == pods
    assert list(snapshot.nodes[0].pods_with_affinity.values()) == pods


def test_a_port_in_use_stays_in_use_when_a_second_user_is_taken_back() -> None:
    running = make_pod("r").host_port(80).node("n1").obj()
    snapshot = make_snapshot(NODES, [running])
    snapshot.assume(make_pod("w").host_port(80).host_port(81).obj(), "n1")
    assert len(snapshot.nodes[0].used_ports) == 2
    snapshot.rollback(0)
    assert list(snapshot.nodes[0].used_ports) == [("0.0.0.0", "TCP", 80)]


def test_a_freed_port_of_two_users_stays_free_when_one_removal_is_taken_back() -> None:
    pods = [make_pod(name).host_port(80).node("n1").obj() for name in "pqr"]
    snapshot = make_snapshot(NODES, pods)
    snapshot.table.remove_pod(pods[2], "n1")  # frees the triple, two users are left
    snapshot.remove(pods[0], "n1")
    snapshot.rollback(0)
    assert list(snapshot.nodes[0].used_ports) == []


def test_what_is_put_back_is_what_stood_there() -> None:
    running = make_pod("r").requests(cpu=1).node("n1").obj()
    snapshot = make_snapshot(NODES, [running])
    snapshot.remove(make_pod("r").requests(cpu=3).obj(), "n1")
    snapshot.rollback(0)
    assert snapshot.nodes[0].pods["default/r"] is running
    snapshot._check()


def test_steps_since_a_mark_leave_out_what_was_taken_away_again() -> None:
    snapshot = make_snapshot(NODES)
    first, second = (make_pod(name).obj() for name in "pq")
    snapshot.assume(first, "n1")
    snapshot.assume(second, "n2")
    snapshot.remove(first, "n1")
    snapshot.assume(first, "n3")
    assert snapshot.steps_since(0) == [(second, "n2"), (first, "n3")]


def test_a_step_on_an_unknown_node_can_be_taken_back() -> None:
    snapshot = make_snapshot(NODES)
    before = picture(snapshot)
    snapshot.assume(make_pod("p").host_port(80).obj(), "n9")
    snapshot.rollback(0)
    assert picture(snapshot) == before


def test_of_a_run_of_pods_the_first_that_is_too_much_is_named_and_those_before_it_stay_until_rolled_back() -> None:
    snapshot = make_snapshot(NODES, [], [make_pod_group("g").obj()])
    before = picture(snapshot)
    large = make_pod("p").requests(cpu=1, **{GPU: 2**62}).in_group("g").obj()
    run = [evolve(large, name=name, uid=name) for name in "pqrs"]
    with pytest.raises(GangschedError, match=r"pod default/r would raise the requests on node n1 above 2\*\*63 - 1"):
        snapshot.assume_alike(run, [0, 1, 0, 1])
    snapshot.table._check()
    assert [list(node.pods) for node in snapshot.nodes] == [["default/p"], ["default/q"], []]
    snapshot.rollback(0)
    assert picture(snapshot) == before
    snapshot._check()


def test_nothing_is_taken_off_outside_a_log_that_is_followed() -> None:
    snapshot = make_snapshot(NODES)
    steps = snapshot.follow()
    snapshot.assume(make_pod("w").obj(), "n1")
    assert [(sign, pod.name, node) for sign, pod, node, _ in steps] == [(1, "w", "n1")]
    with pytest.raises(AssertionError):
        snapshot.vacate([])


@pytest.mark.parametrize("leftover", ["a step", "a placement"])
def test_the_check_between_cycles_sees_a_leftover(leftover: str) -> None:
    snapshot = make_snapshot(NODES)
    if leftover == "a step":
        snapshot.assume(make_pod("p").obj(), "n1")
    else:
        snapshot.enter(Placement("left"))
    with pytest.raises(AssertionError):
        snapshot._check()


# --- any sequence -----------------------------------------------------------------------------------------------


def some_pod(name: str, flavour: int) -> Pod:
    """Eight flavours: with and without a host port, a term and a group; some request a scalar."""
    builder = make_pod(name).requests(cpu=1 + flavour % 3, **({GPU: 1} if flavour % 2 else {}))
    builder = builder.host_port(80 + flavour % 2) if flavour & 1 else builder
    builder = builder.anti_affinity("zone", {"app": "web"}) if flavour & 2 else builder
    builder = builder.in_group("g") if flavour & 4 else builder
    return builder.obj()


class SnapshotMachine(RuleBasedStateMachine):
    """Steps, marks and rollbacks in any order; after a rollback the world is what it was at the mark, in its order."""

    @initialize(running=st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["n1", "n2", "n9"])), max_size=6))
    def begin(self, running: Sequence[tuple[int, str]]) -> None:
        placed = [evolve(some_pod(f"r{i}", kind), node_name=node) for i, (kind, node) in enumerate(running)]
        self.snapshot = make_snapshot(NODES, placed, [make_pod_group("g").obj()])
        self.where = {pod.key: (pod, pod.node_name) for pod in placed}
        self.marks = [(self.snapshot.mark(), picture(self.snapshot), dict(self.where))]
        self.fresh = 0

    @rule(flavour=st.integers(0, 7), node=st.sampled_from(["n1", "n2", "n9"]))
    def assume(self, flavour: int, node: str) -> None:
        pod = some_pod(f"w{self.fresh}", flavour)
        self.fresh += 1
        self.snapshot.assume(pod, node)
        self.where[pod.key] = (pod, node)

    @rule(rows=st.lists(st.integers(0, 2), min_size=1, max_size=5), storage=st.booleans(), gpu=st.booleans())
    def assume_alike(self, rows: list[int], storage: bool, gpu: bool) -> None:
        """As one by one: so is the step undone, and the logs show it."""
        extra: dict[str, int | str] = {**({GPU: 1} if gpu else {}), **({"ephemeral-storage": "1Gi"} if storage else {})}
        like = make_pod("like").requests(cpu=1, memory="1Gi", **extra).in_group("g").obj()
        pods = [evolve(like, name=f"a{self.fresh + at}", uid=f"a{self.fresh + at}") for at in range(len(rows))]
        self.fresh += len(rows)
        table, mark = self.snapshot.table, self.snapshot.mark()
        moves, touched = len(table.follow_moves()), len(table.touched)
        for pod, row in zip(pods, rows, strict=True):
            self.snapshot.assume(pod, table.names[row])
        singly = picture(self.snapshot), table.follow_moves()[moves:], table.touched[touched:], dict(table.priorities)
        self.snapshot.rollback(mark)
        moves, touched = len(table.follow_moves()), len(table.touched)
        nodes = self.snapshot.assume_alike(pods, rows)
        together = picture(self.snapshot), table.follow_moves()[moves:], table.touched[touched:], dict(table.priorities)
        assert together == singly
        self.where.update({pod.key: (pod, node) for pod, node in zip(pods, nodes, strict=True)})

    @precondition(lambda self: self.where)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        pod, node = self.where.pop(data.draw(st.sampled_from(sorted(self.where))))
        self.snapshot.remove(pod, node)

    @rule()
    def mark(self) -> None:
        self.marks.append((self.snapshot.mark(), picture(self.snapshot), dict(self.where)))

    @rule(data=st.data())
    def rollback(self, data: st.DataObject) -> None:
        kept = data.draw(st.integers(1, len(self.marks)))
        del self.marks[kept:]
        mark, before, where = self.marks[-1]
        self.snapshot.rollback(mark)
        self.where = dict(where)
        assert picture(self.snapshot) == before

    @invariant()
    def the_table_counts_what_stands_on_it(self) -> None:
        if not hasattr(self, "snapshot"):
            return
        self.snapshot.table._check()
        for node in self.snapshot.all_nodes:
            assert dict(node.pods) == {key: pod for key, (pod, name) in self.where.items() if name == node.name}
        members = sum(pod.group_name == "g" for pod, _ in self.where.values())
        assert self.snapshot.scheduled(make_pod_group("g").obj().key) == members

    def teardown(self) -> None:
        if hasattr(self, "snapshot"):
            mark, before, _ = self.marks[0]
            self.snapshot.rollback(mark)
            assert picture(self.snapshot) == before
            self.snapshot._check()


SnapshotMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=25)
TestSnapshotMachine = SnapshotMachine.TestCase
