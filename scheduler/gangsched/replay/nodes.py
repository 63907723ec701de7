"""Nodes that a trace does not bring itself: from a file of manifests, or ``COUNTxSHAPE``."""

from __future__ import annotations

import re

from gangsched.manifests import Decoder, read_files
from gangsched.manifests.errors import InputError, closest, describe, found
from gangsched.replay.events import Identity
from gangsched_framework.objects import Node
from gangsched_framework.quantity import UNIT, parse_quantity
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

GPU = "nvidia.com/gpu"
AMPLE = {CPU: "96", MEMORY: "768Gi", PODS: "110"}
"""What a node of a shape has unless the shape says otherwise."""

_COUNT = re.compile(r"([0-9]{1,6})x(.+)")
_GPUS = re.compile(r"([0-9]{1,4})gpu")
_MOST_NODES = 200_000


def nodes_of(text: str) -> list[Node] | None:
    """The nodes of ``COUNTxSHAPE``, None when the text has not this form (then it names a file).

    SHAPE is a list ``NAME=QUANTITY,…``; ``8gpu`` stands for ``nvidia.com/gpu=8``; what is not named is ``AMPLE``.
    Examples: ``80x8gpu``, ``10xcpu=32,memory=128Gi,nvidia.com/gpu=8``. Nodes are named ``node-01`` … so that the
    order of names is the order of numbers. Raises InputError.
    """
    match = _COUNT.fullmatch(text)
    if match is None:
        return None
    count = int(match[1])
    if not 1 <= count <= _MOST_NODES:
        raise found(f"{count} nodes", f"1 to {_MOST_NODES}", "--nodes")
    try:
        allocatable = shape_of(match[2])
    except InputError as problem:
        raise problem.under("--nodes") from None
    width = len(str(count))
    return [_node(f"node-{number:0{width}d}", allocatable) for number in range(1, count + 1)]


def read_nodes(path: str, decoder: Decoder) -> list[Node]:
    """The nodes of a file or folder of manifests, which holds nothing else. Raises InputError."""
    loaded = read_files([path], decoder=decoder)
    others = [obj for obj in loaded.objects if not isinstance(obj, Node)]
    if others:
        raise InputError(f"found {Identity.of(others[0])}, allowed nodes only", "--nodes", where=path)
    return [obj for obj in loaded.objects if isinstance(obj, Node)]


def shape_of(text: str) -> Resources:
    """Allocatable amounts of one node of a shape."""
    amounts = dict(AMPLE)
    for item in text.split(","):
        name, equals, quantity = item.partition("=")
        if gpus := _GPUS.fullmatch(item):
            name, quantity = GPU, gpus[1]
        elif not equals:
            raise found(describe(item), "NAME=QUANTITY or a number of GPUs such as 8gpu")
        elif "/" not in name and name not in (CPU, MEMORY, PODS, EPHEMERAL_STORAGE):
            known = (CPU, MEMORY, PODS, EPHEMERAL_STORAGE, GPU)
            raise found(f"resource {describe(name)}", ", ".join(known), hint=closest(name, known))
        amounts[name] = quantity
    units = {name: _units(name, quantity) for name, quantity in amounts.items()}
    cpu, memory, storage, pods = (units.pop(name, 0) for name in (CPU, MEMORY, EPHEMERAL_STORAGE, PODS))
    return Resources(cpu, memory, storage, pods, units)


def _units(name: str, quantity: str) -> int:
    """Milli-units of CPU, whole units of everything else (spec node-plugins.md §3.3)."""
    try:
        parsed = parse_quantity(quantity)
    except ValueError as problem:
        raise found(describe(quantity), f"a quantity ({problem})", name) from None
    if parsed.nano < 0 or (name != CPU and parsed.nano % UNIT):
        raise found(describe(quantity), "a whole amount, not negative", name)
    return parsed.milli_value if name == CPU else parsed.value


def _node(name: str, allocatable: Resources) -> Node:
    return Node(name, f"Node|{name}#1", labels={"kubernetes.io/hostname": name}, allocatable=allocatable)
