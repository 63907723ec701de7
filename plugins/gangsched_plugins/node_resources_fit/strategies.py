"""Three ways to turn the use of a resource into a score, and their weighted mean (spec node-plugins.md §7.6.2-7.6.4).

A strategy maps ``(used + asked, capacity)`` of one resource, capacity > 0, to 0…100.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.pod_spec import PodSpec
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from gangsched_framework.values import value
from gangsched_plugins.common.arithmetic import round_half_away, truncating_division

Strategy = Callable[[int, int], int]

_FIXED = (CPU, MEMORY, EPHEMERAL_STORAGE)
Weights = tuple[tuple[str, int], ...]
"""Resources and their parts in the mean, 1…100."""

_POINT_SCALE = MAX_NODE_SCORE // 10  # points of a shape are scored 0…10


@value
class Share:
    """One resource in a node's score: what the pod asks, what it weighs."""

    name: str
    asked: int
    weight: int


def least_allocated(total: int, capacity: int) -> int:
    """Free share after placing the pod."""
    return 0 if total > capacity else (capacity - total) * MAX_NODE_SCORE // capacity


def most_allocated(total: int, capacity: int) -> int:
    """Used share after placing the pod."""
    return min(total, capacity) * MAX_NODE_SCORE // capacity


def requested_to_capacity_ratio(shape: Sequence[tuple[int, int]]) -> Strategy:
    """Used share mapped through the points ``(utilization 0…100, score 0…10)``, linear between them."""
    points = [(utilization, score * _POINT_SCALE) for utilization, score in shape]

    def score(total: int, capacity: int) -> int:
        utilization = MAX_NODE_SCORE if total > capacity else total * MAX_NODE_SCORE // capacity
        return _interpolate(points, utilization)

    return score


def _interpolate(points: Sequence[tuple[int, int]], x: int) -> int:
    for i, (right_x, right_y) in enumerate(points):
        if x <= right_x:
            if i == 0:
                return right_y
            left_x, left_y = points[i - 1]
            return left_y + truncating_division((right_y - left_y) * (x - left_x), right_x - left_x)
    return points[-1][1]


def asked_of(pod: Pod, resource: str) -> int:
    """What an incoming pod asks of a resource when it is scored: defaults counted, pod level not (spec §3.5)."""
    requests = pod.incoming
    if resource == CPU:
        return requests.score_milli_cpu
    if resource == MEMORY:
        return requests.score_memory
    if resource == EPHEMERAL_STORAGE:
        return requests.score_other.ephemeral_storage
    return requests.score_other.scalars.get(resource, 0)


def shares_of(pods: Sequence[Pod], resources: Weights) -> tuple[Share, ...]:
    """The resources that count for ``pods`` together: scalars only when asked for."""
    likes: dict[PodSpec, list[Pod]] = {}
    for pod in pods:
        likes.setdefault(pod.spec, []).append(pod)
    shares = (
        Share(name, sum(len(like) * asked_of(like[0], name) for like in likes.values()), weight)
        for name, weight in resources
    )
    return tuple(share for share in shares if share.asked or share.name in _FIXED)


def use_of(node: NodeInfo, resource: str) -> tuple[int, int]:
    """(used, capacity): cpu and memory with the defaults of containers that ask none, the rest as requested."""
    allocatable = node.allocatable
    if resource == CPU:
        return node.nonzero_milli_cpu, allocatable.milli_cpu
    if resource == MEMORY:
        return node.nonzero_memory, allocatable.memory
    if resource == EPHEMERAL_STORAGE:
        return node.requested_ephemeral_storage, allocatable.ephemeral_storage
    return node.requested(resource), allocatable.scalars.get(resource, 0)


def score_node(shares: Iterable[Share], node: NodeInfo, strategy: Strategy, *, ratio: bool = False) -> int:
    """Weighted mean over the resources the node has; 0 when none counts.

    ``ratio``: RequestedToCapacityRatio leaves a resource of score 0 out of the weights and rounds the mean.
    """
    total = weights = 0
    for share in shares:
        used, capacity = use_of(node, share.name)
        if capacity == 0:
            continue
        score = strategy(used + share.asked, capacity)
        if ratio and score == 0:
            continue
        total += score * share.weight
        weights += share.weight
    if weights == 0:
        return 0
    return round_half_away(total / weights) if ratio else total // weights


def score_placement(shares: Iterable[Share], nodes: Sequence[NodeInfo]) -> int:
    """MostAllocated over the sums of all ``nodes``, whatever the node strategy (spec §7.6.5).

    What is used on a node without capacity does not count (v1.37.2).
    """
    uses = ((share, [use for node in nodes if (use := use_of(node, share.name))[1]]) for share in shares)
    return mean_use((share, sum(used for used, _ in use), sum(capacity for _, capacity in use)) for share, use in uses)


def mean_use(uses: Iterable[tuple[Share, int, int]]) -> int:
    """Weighted mean of MostAllocated over (share, used, capacity); resources without capacity are left out."""
    total = weights = 0
    for share, used, capacity in uses:
        if capacity:
            total += most_allocated(used + share.asked, capacity) * share.weight
            weights += share.weight
    return total // weights if weights else 0
