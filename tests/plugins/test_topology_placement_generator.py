"""TopologyPlacementGenerator: spec podgroup-scheduling.md §6.1, rows 180-185 of §8.6."""

from __future__ import annotations

import pytest

from gangsched_framework.cycle_state import PodGroupCycleState
from gangsched_framework.objects import EntityKey, Group, Pod
from gangsched_framework.placement import Placement
from gangsched_framework.snapshot import ALL_NODES
from gangsched_framework.status import Code
from gangsched_plugins.topology_placement_generator import TopologyPlacementGenerator
from tests.plugins.group_world import handle_over, inner, leaf, node, pod

# rows: n0 r2, n1 r10, n2 none, n3 r2, n4 '' (empty value)
NODES = [node("n0", rack="r2"), node("n1", rack="r10"), node("n2"), node("n3", rack="r2"), node("n4", rack="")]


def generate(
    group: Group, parent: Placement = ALL_NODES, pods: list[Pod] | None = None, below: list[Group] | None = None
) -> tuple[dict[str, tuple[int, ...] | None], str]:
    handle = handle_over(nodes=NODES, groups=[group, *(below or [])], pods=pods or [])
    plugin = TopologyPlacementGenerator({}, handle)
    placements, status = plugin.generate_placements(PodGroupCycleState(), handle.forest.tree(group.key), parent)
    assert status is None or status.code is Code.ERROR
    assert list(handle.forest.leaves_below(EntityKey(group.key)))
    return {placement.name: placement.rows for placement in placements}, status.message if status else ""


RACKED = leaf("g", topology_key="rack")


def test_without_constraint_the_parent_is_the_one_placement() -> None:
    parent = Placement("block", (0, 2))
    assert generate(leaf("g"), parent) == ({"block": (0, 2)}, "")


def test_nodes_are_split_by_label_value_in_byte_order_and_unlabelled_nodes_are_left_out() -> None:
    domains, message = generate(RACKED)
    assert list(domains.items()) == [("", (4,)), ("r10", (1,)), ("r2", (0, 3))]
    assert message == ""


def test_only_the_parents_nodes_are_split() -> None:
    assert generate(RACKED, Placement("block", (1, 2, 3))) == ({"r10": (1,), "r2": (3,)}, "")


def test_a_key_no_node_has_gives_no_placement() -> None:
    assert generate(leaf("g", topology_key="row")) == ({}, "")


PINS: list[tuple[str, list[Pod], dict[str, tuple[int, ...]], str]] = [
    ("a running pod pins its rack", [pod("a", "g", "n0")], {"r2": (0, 3)}, ""),
    ("a pod in the empty-named rack pins it", [pod("a", "g", "n4")], {"": (4,)}, ""),
    ("a waiting pod pins nothing", [pod("a", "g")], {"": (4,), "r10": (1,), "r2": (0, 3)}, ""),
    (
        "two racks are an error that names the first pod's rack first",
        [pod("b", "g", "n1"), pod("a", "g", "n3"), pod("c", "g", "n4")],
        {},
        "cannot determine domain for already scheduled pods: more than 1 domain found for pod group: r2, r10",
    ),
    (
        "a pod on a node without the label is an error",
        [pod("a", "g", "n2")],
        {},
        "cannot determine domain for already scheduled pods: no topology domain found for pod default/a",
    ),
    (
        "a pod on a vanished node is an error",
        [pod("a", "g", "gone")],
        {},
        "cannot determine domain for already scheduled pods: getting node for pod default/a: "
        'nodeinfo not found for node name "gone"',
    ),
]


@pytest.mark.parametrize("pods, want, message", [c[1:] for c in PINS], ids=[c[0] for c in PINS])
def test_running_pods_pin_the_domain(pods: list[Pod], want: dict[str, tuple[int, ...]], message: str) -> None:
    assert generate(RACKED, pods=pods) == (want, message)


def test_a_composite_group_is_pinned_by_the_pods_of_its_whole_subtree_in_tree_order() -> None:
    root = inner("r", topology_key="rack")
    below: list[Group] = [leaf("b", parent="r"), inner("c", parent="r"), leaf("d", parent="c")]
    assert generate(root, pods=[pod("a", "d", "n1")], below=below) == ({"r10": (1,)}, "")
    domains, message = generate(root, pods=[pod("a", "d", "n1"), pod("z", "b", "n0")], below=below)
    assert domains == {}
    assert message.endswith("more than 1 domain found for pod group: r2, r10")
