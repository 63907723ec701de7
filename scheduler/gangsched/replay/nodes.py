"""Nodes that a trace does not bring itself: from a file of manifests, or ``COUNTxSHAPE``."""

from __future__ import annotations

import os
import re
from typing import TypeVar

from gangsched.manifests import Decoder, read_files
from gangsched.manifests.amounts import amount_of
from gangsched.manifests.errors import InputError, closest, describe, found
from gangsched.manifests.names import require_qualified
from gangsched.manifests.sources import STDIN
from gangsched.replay.events import Identity
from gangsched_framework.objects import Node, Queue
from gangsched_framework.pod_requests import resources_from_amounts
from gangsched_framework.quantity import UNIT, round_up_to_milli
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

Present = TypeVar("Present", Node, Queue)

GPU = "nvidia.com/gpu"
AMPLE = {CPU: "96", MEMORY: "768Gi", PODS: "110"}
"""What a node of a shape has unless the shape says otherwise."""

_COUNT = re.compile(r"([0-9]{1,20})x(.+)")
_GPUS = re.compile(r"([0-9]{1,4})gpu")
_MOST_NODES = 200_000
_PLAIN = (CPU, MEMORY, PODS, EPHEMERAL_STORAGE)


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


def named_nodes(text: str, decoder: Decoder) -> list[Node]:
    """The nodes that ``--nodes`` names: a file or folder that is there, else ``COUNTxSHAPE``. Raises InputError."""
    if os.path.exists(text):
        return read_nodes(text, decoder)
    made = nodes_of(text)
    if made is None:
        raise found(describe(text), "a file or folder that exists, or COUNTxSHAPE such as 80x8gpu", "--nodes")
    return made


def read_nodes(path: str, decoder: Decoder) -> list[Node]:
    """The nodes of a file or folder of manifests, which holds nothing else. Raises InputError."""
    return _read_only(Node, path, decoder, "--nodes")


def read_queues(path: str, decoder: Decoder) -> list[Queue]:
    """The queues of a file or folder of manifests, which holds nothing else. Raises InputError."""
    return _read_only(Queue, path, decoder, "--queues")


def _read_only(kind: type[Present], path: str, decoder: Decoder, option: str) -> list[Present]:
    if path == STDIN:
        raise found("standard input", "a file or folder", option)
    loaded = read_files([path], decoder=decoder)
    others = [obj for obj in loaded.objects if not isinstance(obj, kind)]
    if others:
        what = f"{kind.__name__.lower()}s"
        raise InputError(f"found {Identity.of(others[0])}, allowed {what} only", option, where=path)
    return [obj for obj in loaded.objects if isinstance(obj, kind)]


def shape_of(text: str) -> Resources:
    """Allocatable amounts of one node of a shape, as strict as the manifest of a node."""
    named: dict[str, int] = {}
    for item in text.split(","):
        name, equals, quantity = item.partition("=")
        if gpus := _GPUS.fullmatch(item):
            name, quantity = GPU, gpus[1]
        elif not equals:
            raise found(describe(item), "NAME=QUANTITY or a number of GPUs such as 8gpu")
        if name in named:
            raise found(f"{name} twice", "each resource once")
        named[name] = _amount(name, quantity)
    return resources_from_amounts({name: amount_of(quantity) for name, quantity in AMPLE.items()} | named)


def _amount(name: str, quantity: str) -> int:
    """Nano-units; parts of a milli-CPU count as a whole one (spec node-plugins.md §3.1.3)."""
    if "/" not in name and name not in _PLAIN:
        raise found(f"resource {describe(name)}", ", ".join((*_PLAIN, GPU)), hint=closest(name, _PLAIN))
    require_qualified(name)
    try:
        amount = amount_of(quantity)
    except InputError as problem:
        raise problem.under(name) from None
    if name != CPU and amount % UNIT:
        raise found(describe(quantity), "a whole amount", name)
    return round_up_to_milli(amount)


def _node(name: str, allocatable: Resources) -> Node:
    return Node(name, f"Node|{name}#1", labels={"kubernetes.io/hostname": name}, allocatable=allocatable)
