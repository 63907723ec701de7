"""What a node lacks for a pod (spec node-plugins.md §7.6.1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Node
from gangsched_framework.resources import Resources
from gangsched_framework.status import Status, unresolvable, unschedulable
from gangsched_framework.values import value
from gangsched_plugins.names import NODE_RESOURCES_FIT


@value
class Demand:
    """What Fit checks for a pod: milli-CPU, bytes, bytes, and (name, amount) of each scalar with an amount.

    ``nothing``: the pod names no resource at all, so only the number of pods counts.
    """

    nothing: bool
    milli_cpu: int
    memory: int
    ephemeral_storage: int
    scalars: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, requested: Resources, ignored: Callable[[str], bool] | None = None) -> Demand:
        """From a request vector, without the scalars that are ``ignored``."""
        cpu, memory, storage = requested.milli_cpu, requested.memory, requested.ephemeral_storage
        scalars = tuple(
            (name, amount)
            for name, amount in requested.scalars.items()
            if amount and not (ignored is not None and ignored(name))
        )
        # A scalar named with amount 0 asks for nothing but is not "no request" (spec §7.6.1.2).
        return cls(not (cpu or memory or storage or requested.scalars), cpu, memory, storage, scalars)


def refusal(demand: Demand, node: NodeInfo) -> Status | None:
    """None when the pod fits beside the pods on the node; else every lacking resource is a reason."""
    allocatable = node.allocatable
    reasons: list[str] = []
    hopeless = False
    if node.pod_count >= allocatable.pods:
        reasons.append("Too many pods")
    if demand.nothing:
        return refusal_status(tuple(reasons), False) if reasons else None
    asked = demand.milli_cpu
    if asked and asked > allocatable.milli_cpu - node.requested_milli_cpu:
        reasons.append("Insufficient cpu")
        hopeless = asked > allocatable.milli_cpu
    asked = demand.memory
    if asked and asked > allocatable.memory - node.requested_memory:
        reasons.append("Insufficient memory")
        hopeless = hopeless or asked > allocatable.memory
    asked = demand.ephemeral_storage
    if asked and asked > allocatable.ephemeral_storage - node.requested_ephemeral_storage:
        reasons.append("Insufficient ephemeral-storage")
        hopeless = hopeless or asked > allocatable.ephemeral_storage
    for name, asked in demand.scalars:
        capacity = allocatable.scalars.get(name, 0)
        if asked > capacity - node.requested(name):
            reasons.append(f"Insufficient {name}")
            hopeless = hopeless or asked > capacity
    return refusal_status(tuple(reasons), hopeless) if reasons else None


@lru_cache(maxsize=256)
def refusal_status(reasons: tuple[str, ...], hopeless: bool) -> Status:
    """The status of these reasons."""
    # One reason that evicting cannot lift makes the whole node unresolvable (spec §7.6.1.5).
    verdict = unresolvable if hopeless else unschedulable
    return verdict(*reasons, plugin=NODE_RESOURCES_FIT)


def fits_empty(demand: Demand, node: Node) -> bool:
    """Whether the pod would fit if it were alone on the node."""
    allocatable = node.allocatable
    return (
        allocatable.pods >= 1
        and demand.milli_cpu <= allocatable.milli_cpu
        and demand.memory <= allocatable.memory
        and demand.ephemeral_storage <= allocatable.ephemeral_storage
        and all(asked <= allocatable.scalars.get(name, 0) for name, asked in demand.scalars)
    )


def some_asked_resource_grew(demand: Demand, old: Resources, new: Resources) -> bool:
    """Whether ``new`` holds more than ``old`` of something the pod asks for."""
    return (
        (demand.milli_cpu > 0 and new.milli_cpu > old.milli_cpu)
        or (demand.memory > 0 and new.memory > old.memory)
        or (demand.ephemeral_storage > 0 and new.ephemeral_storage > old.ephemeral_storage)
        or any(new.scalars.get(name, 0) > old.scalars.get(name, 0) for name, _ in demand.scalars)
    )
