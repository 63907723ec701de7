"""Builders of the workloads, one for each family; a size in, everything the engine is given out."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from attrs import evolve

from gangsched.bench import nodes
from gangsched.bench.sizes import Sizes
from gangsched.bench.workload import Step, Workload
from gangsched_framework.objects import CompositePodGroup, Group, Pod, PodGroup, SelectorOwner
from gangsched_framework.testing import PodBuilder, make_composite_pod_group, make_pod, make_pod_group, selector
from gangsched_framework.words import WhenUnsatisfiable

SHAPES = 20
_CPUS = (100, 250, 500, 750, 1000, 1500, 2000, 4000)
_MEMORIES = (128, 256, 512, 1024, 2048, 4096, 8192)

DEFAULT = make_pod("template").requests(cpu="100m", memory="500Mi")
"""scheduler_perf's pod-default."""
TOO_LARGE = make_pod("template").requests(cpu=9, memory="500Mi")
"""A pod no plain node can hold."""
_LOW = make_pod("template").requests(cpu="900m", memory="500Mi")
_HIGH = make_pod("template").requests(cpu=3, memory="500Mi").priority(10)


def pods_like(template: PodBuilder, count: int, prefix: str = "pod", group: str = "") -> tuple[Pod, ...]:
    """``count`` pods that share the template's spec and labels, numbered in creation order."""
    like = template.obj()
    names = (f"{prefix}-{i:06}" for i in range(count))
    return tuple(
        Pod("default", name, f"Pod|default/{name}#1", like.spec, like.labels, priority=like.priority, group_name=group)
        for name in names
    )


def _assigned(template: PodBuilder, count: int, nodes_: int, prefix: str) -> tuple[Pod, ...]:
    """Running pods, dealt out to the nodes."""
    pods = pods_like(template, count, prefix)
    return tuple(evolve(pod, node_name=f"node-{i % nodes_:06}") for i, pod in enumerate(pods))


# --- plain pods -------------------------------------------------------------------------------------------------------


def basic(sizes: Sizes) -> Workload:
    """Like pods on like nodes."""
    return Workload(nodes.plain(sizes.nodes), (Step(pods_like(DEFAULT, sizes.entities)),))


def unschedulable(sizes: Sizes) -> Workload:
    """Like pods that fit, while as many that fit nowhere wait (scheduler_perf's Unschedulable)."""
    parked = pods_like(TOO_LARGE, sizes.entities, "large")
    return Workload(nodes.plain(sizes.nodes), (Step(pods_like(DEFAULT, sizes.entities)),), before=parked)


def fits_nowhere(sizes: Sizes) -> Workload:
    """Pods that fit nowhere: the attempts themselves."""
    return Workload(nodes.plain(sizes.nodes), (Step(pods_like(TOO_LARGE, sizes.entities, "large")),))


def churn(sizes: Sizes) -> Workload:
    """A tenth of the running pods goes and as many come, ten times over."""
    running = _assigned(DEFAULT, sizes.entities, sizes.nodes, "old")
    new = pods_like(DEFAULT, sizes.entities)
    share = -(-sizes.entities // 10)
    parts = (slice(start, start + share) for start in range(0, sizes.entities, share))
    return Workload(nodes.plain(sizes.nodes), tuple(Step(new[part], running[part]) for part in parts), before=running)


def preemption(sizes: Sizes) -> Workload:
    """Four pods fill each node; each pod of higher priority needs the room of three."""
    running = _assigned(_LOW, 4 * sizes.nodes, sizes.nodes, "low")
    return Workload(nodes.plain(sizes.nodes), (Step(pods_like(_HIGH, sizes.entities, "high")),), before=running)


def gang_preemption(sizes: Sizes) -> Workload:
    """The same for gangs: each member needs the room of three."""
    running = _assigned(_LOW, 4 * sizes.nodes, sizes.nodes, "low")
    groups, pods = _gangs(sizes, _HIGH)
    urgent = tuple(evolve(group, priority=10) for group in groups)
    return Workload(nodes.plain(sizes.nodes), (Step(pods),), urgent, before=running)


def mixed_shapes(sizes: Sizes) -> Workload:
    """Twenty shapes in random order on a random cluster, some with a node selector or a GPU."""
    dice = Random(7)
    shapes = [_shape(dice) for _ in range(SHAPES)]
    return Workload(nodes.mixed(sizes.nodes), (Step(_of_shapes(shapes, sizes.entities, Random(3))),))


def distinct_shapes(sizes: Sizes) -> Workload:
    """No two pods alike, on a random cluster."""
    shapes = [make_pod("x").requests(cpu=f"{100 + i % 900}m", memory=f"{128 + i}Mi") for i in range(sizes.entities)]
    pods = tuple(pod for i, shape in enumerate(shapes) for pod in pods_like(shape, 1, f"pod-{i:06}"))
    return Workload(nodes.mixed(sizes.nodes), (Step(pods),))


def _shape(dice: Random) -> PodBuilder:
    cpu, memory = f"{dice.choice(_CPUS)}m", f"{dice.choice(_MEMORIES)}Mi"
    pool, gpus = dice.choice((None, None, None, "a", "b")), dice.choice((0, 0, 0, 1))
    if gpus:
        pod = make_pod("x").requests(cpu=cpu, memory=memory, **{nodes.GPU: gpus}).tolerates("gpu")
    else:
        pod = make_pod("x").requests(cpu=cpu, memory=memory)
    return pod.node_selector(nodes.POOL, pool) if pool else pod


def _of_shapes(shapes: list[PodBuilder], count: int, dice: Random) -> tuple[Pod, ...]:
    likes = [shape.obj() for shape in shapes]
    picked = ((f"pod-{i:06}", dice.choice(likes)) for i in range(count))
    return tuple(Pod("default", name, f"Pod|default/{name}#1", like.spec) for name, like in picked)


# --- scores and filters that look at more than resources --------------------------------------------------------------


def taints_and_affinity(sizes: Sizes) -> Workload:
    """Two normalised scores: PreferNoSchedule taints and a preferred node affinity."""
    pod = DEFAULT.node_affinity("disk", "ssd", weight=10)
    return Workload(nodes.tainted(sizes.nodes), (Step(pods_like(pod, sizes.entities)),))


def hard_spread(sizes: Sizes) -> Workload:
    """Zones filled evenly, as a filter."""
    return _spread(sizes, "DoNotSchedule")


def soft_spread(sizes: Sizes) -> Workload:
    """Zones filled evenly, as a score."""
    return _spread(sizes, "ScheduleAnyway")


def _spread(sizes: Sizes, when: WhenUnsatisfiable) -> Workload:
    pod = DEFAULT.label("app", "spread").spread(nodes.ZONE, {"app": "spread"}, max_skew=5, when=when)
    return Workload(nodes.in_zones(sizes.nodes), (Step(pods_like(pod, sizes.entities)),))


def default_spread(sizes: Sizes) -> Workload:
    """Spread over nodes and zones by the system's default constraints, derived from a service."""
    pod = DEFAULT.label("app", "spread")
    service = SelectorOwner("Service", "default", "service", selector({"app": "spread"}))
    return Workload(nodes.in_zones(sizes.nodes), (Step(pods_like(pod, sizes.entities)),), owners=(service,))


def anti_affinity(sizes: Sizes) -> Workload:
    """One pod a node, by required anti-affinity to its like."""
    pod = DEFAULT.label("app", "lonely").anti_affinity(nodes.HOSTNAME, {"app": "lonely"})
    return Workload(nodes.in_zones(sizes.nodes), (Step(pods_like(pod, sizes.entities)),))


# --- groups -----------------------------------------------------------------------------------------------------------


def gangs(sizes: Sizes) -> Workload:
    """Gangs that need all their members."""
    groups, pods = _gangs(sizes)
    return Workload(nodes.plain(sizes.nodes), (Step(pods),), groups)


def gangs_in_racks(sizes: Sizes) -> Workload:
    """Gangs that must stand in one rack each (topology-aware scheduling)."""
    groups, pods = _gangs(sizes)
    racked = tuple(evolve(group, topology_key=nodes.RACK) for group in groups)
    return Workload(nodes.in_racks(sizes.nodes), (Step(pods),), racked)


def trees_in_zones(sizes: Sizes) -> Workload:
    """Trees that must stand in one zone each, every gang of them in one rack."""
    groups, pods = _trees(sizes, (DEFAULT,) * sizes.children)
    placed = tuple(evolve(g, topology_key=nodes.RACK if isinstance(g, PodGroup) else nodes.ZONE) for g in groups)
    return Workload(nodes.in_racks_and_zones(sizes.nodes), (Step(pods),), placed)


def trees(sizes: Sizes) -> Workload:
    """CompositePodGroups that need all their gangs."""
    groups, pods = _trees(sizes, (DEFAULT,) * sizes.children)
    return Workload(nodes.plain(sizes.nodes), (Step(pods),), groups)


def rolled_back_trees(sizes: Sizes) -> Workload:
    """Trees whose last gang fits nowhere, so that all that was placed before is taken back (S→F)."""
    groups, pods = _trees(sizes, (DEFAULT,) * (sizes.children - 1) + (TOO_LARGE,))
    return Workload(nodes.plain(sizes.nodes), (Step(pods),), groups)


def _gangs(sizes: Sizes, template: PodBuilder = DEFAULT) -> tuple[tuple[PodGroup, ...], tuple[Pod, ...]]:
    names = [f"gang-{g:06}" for g in range(sizes.entities)]
    groups = tuple(make_pod_group(name).min_count(sizes.members).obj() for name in names)
    return groups, tuple(pod for name in names for pod in pods_like(template, sizes.members, name, name))


def _trees(sizes: Sizes, templates: tuple[PodBuilder, ...]) -> tuple[tuple[Group, ...], tuple[Pod, ...]]:
    groups: list[Group] = []
    pods: list[Pod] = []
    for root in _roots(sizes):
        groups.append(root)
        for g, template in enumerate(templates):
            name = f"{root.name}-gang-{g}"
            groups.append(make_pod_group(name).min_count(sizes.members).parent(root).obj())
            pods += pods_like(template, sizes.members, name, name)
    return tuple(groups), tuple(pods)


def _roots(sizes: Sizes) -> Iterator[CompositePodGroup]:
    for t in range(sizes.entities):
        yield make_composite_pod_group(f"tree-{t:06}").min_group_count(sizes.children).obj()
