"""The node table: rows, sums, what is known of a node (spec node-plugins.md §3.6, architecture.md §5)."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gangsched_framework.alike_pods import add_alike
from gangsched_framework.errors import GangschedError, InvariantError
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_order import by_name, upstream, zone_of
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Condition, Node, Pod
from gangsched_framework.resources import StatusAmounts
from gangsched_framework.snapshot import Step
from gangsched_framework.testing import make_node, make_pod

GPU = "nvidia.com/gpu"
MI = 2**20


def node(name: str, cpu: int = 4) -> Node:
    return make_node(name).capacity(cpu=cpu, memory="8Gi", pods=110).obj()


def table_of(*nodes: Node) -> NodeTable:
    table = NodeTable()
    for each in nodes:
        table.add_node(each)
    table.settle()
    return table


def info(table: NodeTable, name: str) -> NodeInfo:
    return table.infos[table.row_of[name]]


# --- rows -------------------------------------------------------------------------------------------------------


def test_rows_are_in_name_order_whatever_the_order_of_addition() -> None:
    table = table_of(node("n2"), node("n10"), node("n1"))
    assert table.names == ["n1", "n10", "n2"]
    assert [i.row for i in table.infos] == [0, 1, 2]


def test_a_batch_of_nodes_is_one_epoch_and_an_idle_settle_none() -> None:
    table = table_of(node("a"), node("b"))
    assert table.epoch == 1
    table.settle()
    assert table.epoch == 1


def test_a_node_has_no_row_before_the_next_settle() -> None:
    table = table_of(node("a"))
    table.add_node(node("b"))
    assert "b" not in table.row_of
    assert table.node("b") is not None
    table.settle()
    assert table.row_of["b"] == 1


def test_an_updated_node_keeps_its_row_and_is_touched() -> None:
    table = table_of(node("a"), node("b"))
    table.update_node(node("b", cpu=9))
    assert (info(table, "b").allocatable.milli_cpu, table.allocatable["cpu"][1]) == (9000, 9000)
    assert (table.epoch, table.touched) == (1, [1])
    table._check()


def test_an_update_before_the_first_settle_is_what_the_row_shows() -> None:
    table = NodeTable()
    table.add_node(node("a"))
    table.update_node(node("a", cpu=9))
    table.settle()
    assert info(table, "a").allocatable.milli_cpu == 9000


def test_a_node_removed_and_added_again_in_one_batch_keeps_its_row_with_the_new_object() -> None:
    table = table_of(node("a"), node("b"))
    pod = make_pod("p").requests(cpu=1).obj()
    table.add_pod(pod, "a")
    table.remove_node("a")
    table.add_node(node("a", cpu=9))
    table.settle()
    assert (table.epoch, info(table, "a").allocatable.milli_cpu) == (1, 9000)
    assert list(info(table, "a").pods.values()) == [pod]
    table._check()


def test_a_scalar_unknown_so_far_gets_its_column() -> None:
    table = table_of(node("a"), make_node("b").capacity(cpu=1, **{GPU: 8}).obj())
    assert list(table.allocatable[GPU]) == [0, 8]
    assert info(table, "a").requested(GPU) == 0
    table.add_pod(make_pod("p").requests(**{"example.com/x": 2}).obj(), "a")
    assert info(table, "a").requested("example.com/x") == 2
    table._check()


def test_amounts_survive_the_renumbering_of_rows() -> None:
    table = table_of(node("b"), node("d"))
    table.add_pod(make_pod("p").requests(cpu=1, memory="1Mi", **{GPU: 1}).host_port(80).affinity("z", {}).obj(), "b")
    table.add_pod(make_pod("q").requests(cpu=2).obj(), "d")
    table.add_node(node("a"))
    table.remove_node("d")
    table.settle()
    b = info(table, "b")
    assert (b.row, b.requested_milli_cpu, b.requested_memory, b.requested(GPU), b.pod_count) == (1, 1000, MI, 1, 1)
    assert (list(b.pods_with_affinity), list(b.used_ports)) == (["default/p"], [("0.0.0.0", "TCP", 80)])
    assert (table.epoch, table.touched) == (2, [])
    table._check()


# --- pods -------------------------------------------------------------------------------------------------------


def test_sums_follow_the_pods() -> None:
    table = table_of(node("a"))
    first = make_pod("p").requests(cpu=1, ephemeral_storage="1Gi").obj()
    table.add_pod(first, "a")
    table.add_pod(make_pod("q").requests(memory="1Mi").obj(), "a")
    a = info(table, "a")
    assert (a.requested_milli_cpu, a.requested_memory, a.requested_ephemeral_storage, a.pod_count) == (
        1000,
        MI,
        2**30,
        2,
    )
    assert (a.nonzero_milli_cpu, a.nonzero_memory) == (1100, 201 * MI)
    table.remove_pod(first, "a")
    assert (a.requested_milli_cpu, a.requested_ephemeral_storage, a.requested("pods")) == (0, 0, 1)
    assert table.touched == [0, 0, 0]


def test_a_pod_of_an_unknown_node_waits_for_it_and_counts_nowhere() -> None:
    table = table_of(node("a"))
    pod = make_pod("p").requests(cpu=1).obj()
    table.add_pod(pod, "b")
    assert [i.pod_count for i in table.infos] == [0]
    table.add_node(node("b"))
    table.settle()
    assert info(table, "b").requested_milli_cpu == 1000
    table.remove_pod(pod, "b")
    assert info(table, "b").requested_milli_cpu == 0


def test_a_pod_of_an_unknown_node_can_leave_before_the_node_comes() -> None:
    table = table_of(node("a"))
    pod = make_pod("p").requests(cpu=1).obj()
    table.add_pod(pod, "b")
    assert table.remove_pod(pod, "b") is pod
    table.add_node(node("b"))
    table.settle()
    assert info(table, "b").pod_count == 0
    table._check()


def test_pods_of_a_removed_node_are_remembered() -> None:
    table = table_of(node("a"), node("b"))
    pods = [make_pod(name).requests(cpu=1).obj() for name in "pq"]
    for pod in pods:
        table.add_pod(pod, "a")
    table.remove_node("a")
    table.remove_pod(pods[0], "a")
    table.settle()
    assert table.names == ["b"]
    table.add_node(node("a"))
    table.settle()
    assert list(info(table, "a").pods.values()) == pods[1:]
    table._check()


def test_a_pod_cannot_stand_twice_on_a_node_nor_leave_one_where_it_is_not() -> None:
    table = table_of(node("a"))
    pod = make_pod("p").obj()
    table.add_pod(pod, "a")
    with pytest.raises(InvariantError, match="already on a"):
        table.add_pod(pod, "a")
    table.remove_pod(pod, "a")
    for where in ("a", "nowhere"):
        with pytest.raises(InvariantError, match=f"is not on {where}"):
            table.remove_pod(pod, where)
        with pytest.raises(InvariantError, match=f"is not on {where}"):
            table.replace_pod(evolve(pod, spec=make_pod("p").obj().spec), where)
    with pytest.raises(InvariantError, match="is not on a"):
        table.replace_pod(evolve(pod), "a")


def test_what_leaves_is_what_stood_there_even_if_the_caller_knows_another_object() -> None:
    table = table_of(node("a"))
    stood = make_pod("p").requests(cpu=1).obj()
    table.add_pod(stood, "a")
    assert table.remove_pod(make_pod("p").requests(cpu=3).obj(), "a") is stood
    assert info(table, "a").requested_milli_cpu == 0


def test_a_replaced_pod_keeps_its_place_and_touches_the_row_only_if_something_shows() -> None:
    table = table_of(node("a"))
    first = make_pod("p").requests(cpu=1).affinity("zone", {}).obj()
    for pod in (first, make_pod("q").obj()):
        table.add_pod(pod, "a")
    table.touched.clear()
    confirmed = evolve(first, node_name="a")
    table.replace_pod(confirmed, "a")
    assert list(info(table, "a").pods) == ["default/p", "default/q"]
    assert info(table, "a").pods_with_affinity["default/p"] is confirmed
    assert table.touched == []
    table.replace_pod(evolve(confirmed, labels={"a": "b"}), "a")
    assert table.touched == [0]
    table._check()


def test_a_replaced_pod_with_other_amounts_is_counted_anew() -> None:
    table = table_of(node("a"))
    small, large = make_pod("p").requests(cpu=1).obj(), make_pod("p").requests(cpu=5).obj()
    table.add_pod(small, "a")
    table.replace_pod(large, "a")
    assert info(table, "a").requested_milli_cpu == 5000
    allocated = evolve(large, status=evolve(large.status, allocated={"main": StatusAmounts({"cpu": 6 * 10**9})}))
    table.replace_pod(allocated, "a")
    assert info(table, "a").requested_milli_cpu == 6000
    less = evolve(large, status=evolve(large.status, allocated={"main": StatusAmounts({"cpu": 4 * 10**9})}))
    table.replace_pod(less, "a")
    assert info(table, "a").requested_milli_cpu == 5000
    infeasible = less.with_condition(Condition("PodResizePending", "True", "Infeasible"))
    table.replace_pod(infeasible, "a")
    assert info(table, "a").requested_milli_cpu == 4000
    table._check()


def test_a_pod_on_an_unknown_node_can_be_replaced() -> None:
    table = table_of(node("a"))
    old, new = make_pod("p").requests(cpu=1).obj(), make_pod("p").requests(cpu=2).obj()
    table.add_pod(old, "b")
    table.replace_pod(new, "b")
    table.add_node(node("b"))
    table.settle()
    assert info(table, "b").requested_milli_cpu == 2000


def test_requests_beyond_int64_in_sum_are_refused_and_leave_the_row_as_it_was() -> None:
    table = table_of(node("a"))
    huge = make_pod("p").requests(cpu=1, memory="9223372036854775807", **{GPU: 1}).obj()
    table.add_pod(huge, "a")
    with pytest.raises(GangschedError, match=r"pod default/q would raise the requests on node a above 2\*\*63 - 1"):
        table.add_pod(make_pod("q").requests(cpu=1, memory=1, **{GPU: 1}).obj(), "a")
    table._check()
    assert info(table, "a").requested_milli_cpu == 1000
    table.remove_pod(huge, "a")
    table._check()


def test_of_a_run_of_large_pods_none_is_counted_for_a_sum_might_grow_too_large() -> None:
    table = table_of(node("a"), node("b"))
    large = make_pod("p").requests(cpu=1, **{GPU: 2**62}).obj()
    run = [evolve(large, name=name, uid=name) for name in "pqrs"]
    steps: list[Step] = [(1, large, "a", None)]
    assert add_alike(table, run, [0, 1, 0, 1], steps) is None
    table._check()
    assert not any(info(table, name).pods or info(table, name).pod_count for name in "ab")
    assert steps == [(1, large, "a", None)]


def test_a_run_of_pods_cannot_stand_twice_on_a_node() -> None:
    table = table_of(node("a"))
    pod = make_pod("p").obj()
    table.add_pod(pod, "a")
    with pytest.raises(InvariantError, match="pod default/p is already on a"):
        add_alike(table, [pod], [0], [])


def test_used_ports_are_a_set_one_leaving_pod_frees_the_triple() -> None:
    table = table_of(node("a"))
    addresses = {"p": "", "q": "0.0.0.0"}  # one and the same (spec §7.5.2)
    first, second = (
        make_pod(name).host_port(80, "TCP", ip).host_port(81, "UDP", "10.0.0.1").obj() for name, ip in addresses.items()
    )
    table.add_pod(first, "a")
    table.add_pod(second, "a")
    assert list(info(table, "a").used_ports) == [("0.0.0.0", "TCP", 80), ("10.0.0.1", "UDP", 81)]
    table.remove_pod(second, "a")
    assert list(info(table, "a").used_ports) == []
    table.remove_pod(first, "a")
    table._check()


@pytest.mark.parametrize("change", [{"labels": {"a": "b"}}, {"deletion_timestamp": 1}], ids=["labels", "deletion"])
def test_a_pod_that_changes_holds_its_ports_again_after_another_took_them_along(change: dict[str, Any]) -> None:
    table = table_of(node("a"))
    first, second = (make_pod(name).host_port(80).obj() for name in "pq")
    table.add_pod(first, "a")
    table.add_pod(second, "a")
    table.remove_pod(second, "a")
    table.replace_pod(evolve(first, **change), "a")
    assert list(info(table, "a").used_ports) == [("0.0.0.0", "TCP", 80)]
    table._check()


@pytest.mark.parametrize("goes_again", [False, True], ids=["a node that came back", "a node that went again"])
def test_pods_and_ports_stay_that_came_before_and_after_a_node_went_in_one_batch(goes_again: bool) -> None:
    table = table_of(node("a"))
    table.add_pod(make_pod("p").host_port(80).obj(), "a")
    table.remove_node("a")
    table.add_node(node("a"))
    table.add_pod(make_pod("q").host_port(81).obj(), "a")
    if goes_again:
        table.remove_node("a")
        table.add_node(node("a"))
    table.settle()
    assert sorted(info(table, "a").pods) == ["default/p", "default/q"]
    assert sorted(port for _, _, port in info(table, "a").used_ports) == [80, 81]
    table._check()


# --- images and order -------------------------------------------------------------------------------------------


def test_an_image_has_the_size_its_first_node_reported() -> None:
    table = table_of(
        make_node("b").image("app:1", size=100).obj(),
        make_node("a").image("app:1", "app:latest", size=200).obj(),
        node("c"),
    )
    assert table.images.spread("app:1") == 2
    assert [info(table, name).image_size("app:1") for name in "abc"] == [100, 100, 0]
    assert info(table, "a").image_size("app:latest") == 200
    table.remove_node("b")
    table.settle()
    assert info(table, "a").image_size("app:1") == 100  # the size stays while anybody has the image
    table.update_node(node("a"))
    assert (table.images.spread("app:1"), info(table, "a").image_size("app:1")) == (0, 0)


def test_an_image_reported_anew_by_its_only_node_has_the_new_size() -> None:
    table = table_of(make_node("a").image("app:1", size=100).obj())
    table.update_node(make_node("a").image("app:1", size=300).obj())
    assert info(table, "a").image_size("app:1") == 300


def zoned(name: str, zone: str) -> Node:
    return make_node(name).label("topology.kubernetes.io/zone", zone).obj() if zone else make_node(name).obj()


def test_the_upstream_order_takes_one_node_of_each_zone_in_turn() -> None:
    table = table_of(zoned("n1", "b"), zoned("n2", "a"), zoned("n3", "b"), zoned("n4", ""), zoned("n0", "b"))
    assert [table.names[row] for row in upstream(table)] == ["n1", "n2", "n4", "n3", "n0"]
    assert list(by_name(table)) == [0, 1, 2, 3, 4]


def test_a_node_whose_zone_changed_counts_as_added_last() -> None:
    table = table_of(zoned("n1", "a"), zoned("n2", "a"), zoned("n3", "b"))
    table.update_node(zoned("n1", "b"), moved_to_end=True)
    assert [table.names[row] for row in upstream(table)] == ["n2", "n3", "n1"]


def test_beta_labels_win_and_the_region_is_part_of_the_zone() -> None:
    labelled = (
        make_node("n")
        .label("failure-domain.beta.kubernetes.io/zone", "old")
        .label("topology.kubernetes.io/zone", "new")
        .label("topology.kubernetes.io/region", "r")
    )
    assert zone_of(labelled.obj()) == ("r", "old")


# --- any sequence -----------------------------------------------------------------------------------------------

NODE_NAMES = ["n1", "n10", "n2", "n3"]


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    builder = make_node(name).capacity(
        cpu=draw(st.integers(0, 8)), **draw(st.sampled_from([{}, {GPU: 8}, {"example.com/x": 1}]))
    )
    for image in draw(st.lists(st.sampled_from(["app:1", "app:2"]), unique=True)):
        builder = builder.image(image, size=draw(st.integers(1, 100)))
    return builder.obj()


@st.composite
def pods(draw: st.DrawFn, name: str) -> Pod:
    builder = make_pod(name).requests(
        cpu=draw(st.integers(0, 4)), **draw(st.sampled_from([{}, {GPU: 2}, {"example.com/y": 1}, {"memory": 5}]))
    )
    if draw(st.booleans()):
        builder = builder.host_port(draw(st.integers(80, 81)))
    if draw(st.booleans()):
        builder = builder.anti_affinity("zone", {"app": "web"})
    return builder.in_group("g").obj() if draw(st.booleans()) else builder.obj()


class NodeTableMachine(RuleBasedStateMachine):
    """Nodes and pods come, change and go in any order; the table agrees with two plain dictionaries."""

    def __init__(self) -> None:
        super().__init__()
        self.table = NodeTable()
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, tuple[Pod, str]] = {}

    @rule(data=st.data(), name=st.sampled_from(NODE_NAMES), moved=st.booleans())
    def add_or_update_node(self, data: st.DataObject, name: str, moved: bool) -> None:
        new = data.draw(nodes(name))
        if name in self.nodes:
            self.table.update_node(new, moved_to_end=moved)
        else:
            self.table.add_node(new)
        self.nodes[name] = new

    @precondition(lambda self: self.nodes)
    @rule(data=st.data())
    def remove_node(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.nodes)))
        del self.nodes[name]
        self.table.remove_node(name)

    @rule(data=st.data(), name=st.sampled_from("pqrs"), where=st.sampled_from(NODE_NAMES))
    def add_or_replace_pod(self, data: st.DataObject, name: str, where: str) -> None:
        new = data.draw(pods(name))
        if new.key in self.pods:
            old, where = self.pods[new.key]
            new = data.draw(st.sampled_from([new, evolve(old, labels={"a": "b"})]))
            self.table.replace_pod(new, where)
        else:
            self.table.add_pod(new, where)
        self.pods[new.key] = (new, where)

    @precondition(lambda self: self.pods)
    @rule(data=st.data())
    def remove_pod(self, data: st.DataObject) -> None:
        pod, where = self.pods.pop(data.draw(st.sampled_from(sorted(self.pods))))
        assert self.table.remove_pod(pod, where) is pod

    @rule()
    def settle(self) -> None:
        self.table.settle()
        assert self.table.names == sorted(self.nodes)
        assert list(self.table.known_nodes()) == [self.table.node(name) for name in self.table._known]

    @invariant()
    def sums_equal_a_recount(self) -> None:
        self.table._check()

    @invariant()
    def rows_show_the_known_objects(self) -> None:
        for row, name in enumerate(self.table.names):
            if name in self.nodes and not self.table._stale:
                assert self.table.nodes[row] is self.nodes[name]
                standing = {pod.key: pod for pod, where in self.pods.values() if where == name}
                assert self.table.pods[row] == standing
            if name not in self.nodes:
                assert not self.table.pods[row]

    @invariant()
    def images_are_those_of_the_known_nodes(self) -> None:
        for image in ("app:1", "app:2"):
            holders = [n.name for n in self.nodes.values() if any(image in i.names for i in n.images)]
            assert self.table.images.spread(image) == len(holders)
            for name in NODE_NAMES:
                assert (self.table.images.size(name, image) > 0) == (name in holders)


NodeTableMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=30)
TestNodeTableMachine = NodeTableMachine.TestCase


def test_a_port_is_free_when_one_of_two_pods_left_before_their_node_had_a_row() -> None:
    table, pods = table_of(), [make_pod(name).host_port(80).obj() for name in "pqr"]
    table.add_node(node("a"))
    for pod in pods[:2]:
        table.add_pod(pod, "a")
    table.remove_pod(pods[0], "a")
    table.settle()
    assert list(info(table, "a").used_ports) == []
    table.add_pod(pods[2], "a")
    assert list(info(table, "a").used_ports) == [("0.0.0.0", "TCP", 80)]
    table._check()


def test_a_port_that_is_free_stays_so_while_the_node_is_gone_and_back() -> None:
    table, pods = table_of(node("a")), [make_pod(name).host_port(80).obj() for name in "pq"]
    for pod in pods:
        table.add_pod(pod, "a")
    table.remove_pod(pods[0], "a")
    table.remove_node("a")
    table.add_node(node("a"))
    table.settle()
    assert list(info(table, "a").used_ports) == []
    table.remove_node("a")
    table.replace_pod(evolve(pods[1], labels={"a": "b"}), "a")
    table.add_node(node("a"))
    table.settle()
    assert list(info(table, "a").used_ports) == [("0.0.0.0", "TCP", 80)]
    table._check()
