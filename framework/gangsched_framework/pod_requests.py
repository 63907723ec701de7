"""From the containers of a pod to its request vectors (spec node-plugins.md §3.3-3.5).

Sums and maxima are taken in nano-units and rounded once, at the end, away from zero (spec §3.2.6).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

from gangsched_framework.quantity import MILLI, UNIT, round_up_to_milli
from gangsched_framework.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    HUGE_PAGES,
    MEMORY,
    PODS,
    VOLUMES,
    PodRequests,
    Resources,
    StatusAmounts,
)

if TYPE_CHECKING:  # specs have their vectors made here
    from gangsched_framework.objects import Pod
    from gangsched_framework.pod_spec import Container, PodSpec

__all__ = [
    "amounts_of_pod",
    "containers_need",
    "is_scalar",
    "pod_level_requests",
    "requests_of_assigned",
    "requests_of_spec",
    "resources_from_amounts",
    "round_up_to_milli",
]

DEFAULT_CPU = 100 * MILLI
DEFAULT_MEMORY = 200 * 2**20 * UNIT
"""Nano-units a container counts in the NonZero vector for a resource it does not name (spec §3.5)."""

_SILENT = StatusAmounts()
_NATIVE_PREFIXES = (HUGE_PAGES, VOLUMES)
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_QUALIFIED = re.compile(rf"({_LABEL}(?:\.{_LABEL})*)/([A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)")
_MAX_PREFIX, _MAX_NAME = 253, 63  # a qualified name's domain and its last part

Amounts = Mapping[str, int]
"""Resource name -> nano-units."""


def requests_of_spec(spec: PodSpec) -> PodRequests:
    """Request vectors of a pod to be placed, or of an assigned one without resized containers."""
    return _requests(spec, *_totals(spec, _written), pod_level_requests(spec))


def requests_of_assigned(pod: Pod) -> PodRequests:
    """Request vectors of a pod as it counts on its node, with what its status shows (spec §3.5)."""
    return _requests(pod.spec, *_counted(pod))


def amounts_of_pod(pod: Pod) -> Amounts:
    """What a pod requests, by resource name, in nano-units before any rounding (spec §3.4, §3.5)."""
    if not pod.status.allocated:
        spec = pod.spec
        return _sum({**_aggregate(spec, _written), **pod_level_requests(spec)}, spec.overhead)
    bare, _, pod_level = _counted(pod)
    return _sum({**bare, **pod_level}, pod.spec.overhead)


def _counted(pod: Pod) -> tuple[Amounts, Amounts, Amounts]:
    """The most of what the spec of a pod asks, what is allocated and what its containers have.

    Those of its containers, the same with the NonZero vector's defaults, and those of the pod as a whole.

    Each of the three is a total of the whole pod [run]: what moves from one container to another counts once. A
    container whose status is silent has what its spec asks allocated; an infeasible resize leaves the spec out. Of a
    pod whose status alone speaks of the whole, that is what is allocated and what it has.
    """
    spec, shown = pod.spec, pod.status.allocated
    resize = pod.condition("PodResizePending")
    infeasible = resize is not None and resize.reason == "Infeasible"

    def allocated(container: Container) -> Amounts:
        amounts = shown.get(container.name, _SILENT).allocated
        if amounts is not None:
            return amounts
        return {} if infeasible else container.requests

    def actual(container: Container) -> Amounts:
        amounts = shown.get(container.name, _SILENT).actual
        return allocated(container) if amounts is None else amounts

    pod_level, own = pod_level_requests(spec), shown.get("", _SILENT)
    whole = _maximum(own.allocated or {}, own.actual or {})
    if pod_level or None in own:
        totals: list[tuple[Amounts, Amounts]] = [_totals(spec, allocated), _totals(spec, actual)]
    else:
        totals = [(whole, whole)]
    if not infeasible:
        totals.append(_totals(spec, _written))
    bare: Amounts = reduce(_maximum, (total for total, _ in totals))
    defaulted: Amounts = reduce(_maximum, (total for _, total in totals))
    if pod_level and "" in shown:
        pod_level = _pod_level(whole if infeasible else _maximum(pod_level, whole))
    return bare, defaulted, pod_level


def pod_level_requests(spec: PodSpec) -> Amounts:
    """What the spec requests for the pod as a whole, of the resources that count there (spec §3.4.4)."""
    return _pod_level(spec.resources) if spec.resources else {}


def containers_need(spec: PodSpec) -> Amounts:
    """Nano-units the containers of a pod need together, without pod-level resources and overhead (spec §3.4.1-3)."""
    return _aggregate(spec, _written)


def resources_from_amounts(amounts: Amounts) -> Resources:
    """The vector of a node's capacity or allocatable: milli-CPU, else whole units; other names are ignored."""
    return _vector(amounts, amounts.get(PODS, 0))


@lru_cache(maxsize=1024)
def is_scalar(name: str) -> bool:
    """Whether the scheduler counts resource ``name`` beside the four fixed ones (spec §3.3.2)."""
    return "kubernetes.io/" in name or name.startswith(_NATIVE_PREFIXES) or _is_extended(name)


def _is_extended(name: str) -> bool:
    if "/" not in name or name.startswith("requests."):
        return False
    match = _QUALIFIED.fullmatch(f"requests.{name}")  # the name quota uses must be valid too
    return match is not None and len(match[1]) <= _MAX_PREFIX and len(match[2]) <= _MAX_NAME


def _totals(spec: PodSpec, amounts_of: Callable[[Container], Amounts]) -> tuple[Amounts, Amounts]:
    """What the containers need together, and the same with the NonZero vector's defaults for each container."""
    return _aggregate(spec, amounts_of), _aggregate(spec, lambda container: _with_defaults(amounts_of(container)))


def _requests(spec: PodSpec, bare: Amounts, defaulted: Amounts, pod_level: Amounts) -> PodRequests:
    overhead = spec.overhead
    plain, nonzero = (_sum(bare, overhead), _sum(defaulted, overhead)) if overhead else (bare, defaulted)
    score_cpu, score_memory = -(-nonzero.get(CPU, 0) // MILLI), -(-nonzero.get(MEMORY, 0) // UNIT)
    vector = _vector(plain)
    if not pod_level:
        return PodRequests(vector, score_cpu, score_memory, score_cpu, score_memory, vector)
    # Pod level replaces, even with less, before the overhead comes on top (spec §3.4.4-5); Fit's score of the incoming
    # pod does not see it (spec §3.5, the asymmetry).
    whole = _sum({**bare, **pod_level}, overhead)
    requested = _vector(whole)
    return PodRequests(
        requested,
        requested.milli_cpu if CPU in whole else score_cpu,  # else the defaults, once per container [run case 94]
        requested.memory if MEMORY in whole else score_memory,
        score_cpu,
        score_memory,
        vector,
    )


def _aggregate(spec: PodSpec, amounts_of: Callable[[Container], Amounts]) -> Amounts:
    """What the containers need together: the running ones, or more while an init container runs (spec §3.4.1-3)."""
    if not spec.init_containers and len(spec.containers) == 1:
        return amounts_of(spec.containers[0])
    run: dict[str, int] = {}
    for container in spec.containers:
        run = _sum(run, amounts_of(container))
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.init_containers:
        amounts = amounts_of(container)
        if container.restart_policy == "Always":
            run = _sum(run, amounts)
            sidecars = _sum(sidecars, amounts)
            peak = _maximum(peak, sidecars)
        else:
            peak = _maximum(peak, _sum(amounts, sidecars))  # sidecars started before it only
    return _maximum(run, peak)


def _vector(amounts: Amounts, pods: int = 0) -> Resources:
    scalars = {}
    cpu = memory = storage = 0
    for name, amount in amounts.items():
        if name == CPU:
            cpu = -(-amount // MILLI)
        elif name == MEMORY:
            memory = -(-amount // UNIT)
        elif name == EPHEMERAL_STORAGE:
            storage = -(-amount // UNIT)
        elif is_scalar(name):
            scalars[name] = -(-amount // UNIT)
    return Resources(cpu, memory, storage, -(-pods // UNIT), scalars)


def _written(container: Container) -> Amounts:
    return container.requests


def _with_defaults(amounts: Amounts) -> dict[str, int]:
    return {CPU: amounts.get(CPU, DEFAULT_CPU), MEMORY: amounts.get(MEMORY, DEFAULT_MEMORY)}  # an explicit 0 stays 0


def _pod_level(amounts: Amounts) -> Amounts:
    return {name: amount for name, amount in amounts.items() if _counts_for_pods(name)}


def _counts_for_pods(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith(HUGE_PAGES)


def _sum(a: Amounts, b: Amounts) -> dict[str, int]:
    total = dict(a)
    for name, amount in b.items():
        total[name] = total.get(name, 0) + amount
    return total


def _maximum(a: Amounts, b: Amounts) -> dict[str, int]:
    larger = dict(a)
    for name, amount in b.items():
        larger[name] = max(larger.get(name, amount), amount)
    return larger
