"""Clusters of the cases. Names are padded, so that name order is the order of their numbers."""

from __future__ import annotations

from random import Random

from gangsched_framework.objects import Node
from gangsched_framework.testing import NodeBuilder, make_node

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
RACK = "rack"
POOL = "pool"
GPU = "nvidia.com/gpu"
ZONES = 3
RACKS = 50
RACK_NODES = 5
"""Nodes of a rack, at least."""
_MIXED = (  # cpu, memory in Gi, GPUs
    (8, 32, 0),
    (16, 64, 0),
    (32, 256, 8),
    (64, 256, 8),
    (96, 768, 8),
)


def _node(number: int) -> NodeBuilder:
    name = f"node-{number:06}"
    return make_node(name).capacity(cpu=4, memory="32Gi", pods=110).label(HOSTNAME, name)


def plain(count: int) -> tuple[Node, ...]:
    """scheduler_perf's node: 4 CPU, 32 GiB, 110 pods."""
    return tuple(_node(i).obj() for i in range(count))


def in_zones(count: int, zones: int = ZONES) -> tuple[Node, ...]:
    """Plain nodes, dealt out to zones."""
    return tuple(_node(i).label(ZONE, f"zone-{i % zones}").obj() for i in range(count))


def in_racks(count: int, racks: int = RACKS) -> tuple[Node, ...]:
    """Plain nodes in equal racks of neighbours; fewer racks when there are few nodes."""
    racks = min(racks, max(1, count // RACK_NODES))
    return tuple(_node(i).label(RACK, f"rack-{i * racks // count:02}").obj() for i in range(count))


def in_racks_and_zones(count: int, racks: int = RACKS, zones: int = ZONES) -> tuple[Node, ...]:
    """Racks of neighbours, and zones of neighbouring racks."""
    racks = min(racks, count)
    placed = ((_node(i), i * racks // count) for i in range(count))
    return tuple(
        node.label(RACK, f"rack-{rack:02}").label(ZONE, f"zone-{rack * zones // racks}").obj() for node, rack in placed
    )


def tainted(count: int) -> tuple[Node, ...]:
    """Every third node carries a PreferNoSchedule taint, every second one a label to be preferred."""
    nodes = []
    for i in range(count):
        node = _node(i).label("disk", "ssd" if i % 2 else "hdd")
        nodes.append((node if i % 3 else node.taint("old", effect="PreferNoSchedule")).obj())
    return tuple(nodes)


def mixed(count: int) -> tuple[Node, ...]:
    """Five machine sizes in four pools; nearly a third of the GPU nodes keep other pods away."""
    dice = Random(1)
    nodes = []
    for i in range(count):
        cpu, memory, gpus = dice.choice(_MIXED)
        node = _node(i).label(POOL, dice.choice("abcd"))
        node = node.capacity(cpu=cpu, memory=f"{memory}Gi", pods=110, **({GPU: gpus} if gpus else {}))
        nodes.append((node.taint("gpu") if gpus and dice.random() < 0.3 else node).obj())
    return tuple(nodes)
