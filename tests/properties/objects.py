"""Random objects of a cluster: nodes, pods, groups, drawn with every feature a plugin looks at, or with few of them."""

from __future__ import annotations

from random import Random
from typing import Literal, TypeVar

from attrs import evolve, frozen

from gangsched_framework.objects import (
    CompositePodGroup,
    Group,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    SelectorOwner,
)
from gangsched_framework.pod_requests import resources_from_amounts
from gangsched_framework.pod_spec import LabelSelector, PodSpec, Requirement
from gangsched_framework.quantity import parse_amount
from gangsched_framework.testing import make_node, make_pod, selector
from gangsched_framework.testing.builders import PodBuilder
from gangsched_framework.words import WHEN_UNSATISFIABLE, WhenUnsatisfiable

T = TypeVar("T")

HOSTNAME = "kubernetes.io/hostname"
GPU = "example.com/gpu"
NODES = tuple(f"n{i}" for i in range(7))
LEAVES = ("a", "b", "c", "d", "e")
COMPOSITES = ("A", "B", "C", "D", "E", "F")
PODS = tuple(f"p{i}" for i in range(18))
APPS = ("web", "db", "job")
SCHEDULERS = ("default-scheduler", "other-scheduler", "nobody")
PRIORITIES = (0, 5, 10)

FEATURES = (
    "affinity",  # of pods among each other
    "budgets",
    "extended resources",
    "gates",
    "images",
    "names",  # node affinity by metadata.name
    "namespaces",
    "nominations",
    "owners",  # default spread constraints
    "policies",  # preemptionPolicy Never
    "ports",
    "priorities",
    "racks",
    "schedulers",
    "selectors",
    "shapes",  # bad trees: too deep, cycles, changed parents
    "spread",
    "taints",
    "trees",
)


NOT_BY_COLUMNS = ("affinity", "names", "nominations", "owners", "spread")
"""Features that send pods to the per-node form, often all pods of the world."""


@frozen
class Variety:
    """Which features the objects of one world have."""

    features: frozenset[str]

    @classmethod
    def draw(cls, rng: Random) -> Variety:
        """Half of the worlds are such that pods can be placed by columns."""
        likely = some(rng, (3, 5, 7))
        odds = dict.fromkeys(FEATURES, likely) | {"priorities": 7, "trees": 7}
        if one_in(rng, 2):
            odds |= dict.fromkeys(NOT_BY_COLUMNS, 0)
        return cls(frozenset(feature for feature in FEATURES if rng.randrange(10) < odds[feature]))

    def has(self, feature: str) -> bool:
        return feature in self.features


def one_in(rng: Random, n: int) -> bool:
    """True once in ``n`` times."""
    return rng.randrange(n) == 0


def some(rng: Random, values: tuple[T, ...]) -> T:
    return values[rng.randrange(len(values))]


# --- nodes --------------------------------------------------------------------------------------------------------


def draw_node(rng: Random, variety: Variety, name: str, time: int) -> Node:
    node = make_node(name).created(time).label(HOSTNAME, name).obj()
    return change_node(rng, variety, node, ("allocatable", "labels", "taints", "images"))


def change_node(rng: Random, variety: Variety, node: Node, aspects: tuple[str, ...]) -> Node:
    """The node with some of its aspects drawn anew."""
    for aspect in aspects:
        if aspect == "allocatable":
            amounts = {"cpu": some(rng, ("1", "2", "4", "4", "6")), "memory": some(rng, ("2Gi", "4Gi", "8Gi"))}
            amounts["pods"] = some(rng, ("2", "5", "10", "10"))
            amounts["ephemeral-storage"] = some(rng, ("1Gi", "10Gi", "10Gi"))
            if variety.has("extended resources"):
                amounts[GPU] = some(rng, ("0", "1", "2", "4"))
            parsed = {name: parse_amount(amount, name) for name, amount in amounts.items()}
            node = evolve(node, allocatable=resources_from_amounts(parsed))
        elif aspect == "labels":
            node = evolve(node, labels=_node_labels(rng, node.name))
        elif aspect == "taints" and variety.has("taints"):
            drawn = make_node(node.name)
            for effect in ("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"):
                if one_in(rng, 5):
                    drawn = drawn.taint(some(rng, ("team", "gpu")), some(rng, ("", "x")), effect)
            node = evolve(node, taints=drawn.obj().taints, unschedulable=one_in(rng, 8))
        elif aspect == "images" and variety.has("images"):
            drawn = make_node(node.name)
            for image in ("big:1", "small:latest"):
                if one_in(rng, 2):
                    drawn = drawn.image(image, size=some(rng, ("30Mi", "400Mi", "900Mi")))
            node = evolve(node, images=drawn.obj().images)
    return node


def _node_labels(rng: Random, name: str) -> dict[str, str]:
    labels = {HOSTNAME: name}
    for key, values in (("rack", ("r1", "r2", "r3")), ("block", ("b1", "b2")), ("disk", ("ssd", "hdd"))):
        if not one_in(rng, 6):
            labels[key] = some(rng, values)
    if not one_in(rng, 4):
        labels["topology.kubernetes.io/zone"] = some(rng, ("z1", "z2"))
    return labels


# --- pods ---------------------------------------------------------------------------------------------------------


def draw_spec(rng: Random, variety: Variety) -> PodSpec:
    """Requests and constraints of a pod; each constraint in few pods, so that most find a node."""
    pod = make_pod("template")
    requests = {"cpu": some(rng, ("0", "250m", "500m", "1", "1", "2", "3"))}
    requests["memory"] = some(rng, ("0", "0", "1Gi", "3Gi"))
    if one_in(rng, 8):
        requests["ephemeral_storage"] = some(rng, ("1Mi", "2Gi"))
    if variety.has("extended resources") and one_in(rng, 3):
        requests[GPU] = some(rng, ("1", "2"))
    pod = pod.requests(**{name: amount for name, amount in requests.items() if amount != "0"})
    if one_in(rng, 10):
        pod = pod.init_container(cpu=some(rng, ("100m", "3")), sidecar=one_in(rng, 2))
    if one_in(rng, 10):
        pod = pod.overhead(cpu="250m")
    for feature, add in _CONSTRAINTS.items():
        if variety.has(feature) and one_in(rng, 3):
            pod = add(rng, pod)
    return pod.obj().spec


def _with_ports(rng: Random, pod: PodBuilder) -> PodBuilder:
    return pod.host_port(some(rng, (80, 81)), some(rng, ("TCP", "UDP")), some(rng, ("", "10.0.0.1")))


def _with_images(rng: Random, pod: PodBuilder) -> PodBuilder:
    return pod.image(some(rng, ("big:1", "small", "unknown")))


def _with_tolerations(rng: Random, pod: PodBuilder) -> PodBuilder:
    return pod.tolerates(some(rng, ("team", "gpu", "")), some(rng, ("", "x")), some(rng, ("", "NoSchedule")))


def _with_selectors(rng: Random, pod: PodBuilder) -> PodBuilder:
    kind = rng.randrange(4)
    if kind == 0:
        return pod.node_selector("disk", some(rng, ("ssd", "hdd")))
    if kind == 1:
        return pod.node_affinity("rack", some(rng, ("r1", "r2")), operator=some(rng, ("In", "NotIn")))
    weight = some(rng, (1, 30, 100))
    return pod.node_affinity("disk", some(rng, ("ssd", "hdd")), weight=weight).node_affinity(
        "rack", operator="Exists", weight=20
    )


def _with_names(rng: Random, pod: PodBuilder) -> PodBuilder:
    from gangsched_framework.pod_spec import NodeAffinity, NodeSelectorTerm

    terms = tuple(
        NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", (some(rng, NODES),)),))
        for _ in range(rng.randrange(1, 3))
    )
    spec = evolve(pod.obj().spec, node_affinity=NodeAffinity(required=terms))
    return PodBuilder(pod.obj(), spec)


def _with_spread(rng: Random, pod: PodBuilder) -> PodBuilder:
    key = some(rng, (HOSTNAME, "rack", "topology.kubernetes.io/zone"))
    when: WhenUnsatisfiable = some(rng, WHEN_UNSATISFIABLE)
    return pod.spread(key, {"app": some(rng, APPS)}, max_skew=rng.randrange(1, 3), when=when)


def _with_affinity(rng: Random, pod: PodBuilder) -> PodBuilder:
    key = some(rng, (HOSTNAME, "rack", "topology.kubernetes.io/zone"))
    labels: LabelSelector | dict[str, str] = {"app": some(rng, APPS)}
    weight = some(rng, (None, 10, 100))
    return pod.affinity(key, labels, weight) if one_in(rng, 2) else pod.anti_affinity(key, labels, weight)


_CONSTRAINTS = {
    "affinity": _with_affinity,
    "images": _with_images,
    "names": _with_names,
    "ports": _with_ports,
    "selectors": _with_selectors,
    "spread": _with_spread,
    "taints": _with_tolerations,
}


def draw_pod(
    rng: Random, variety: Variety, key: tuple[str, str], uid: str, spec: PodSpec, group: str, priority: int | None
) -> Pod:
    """A waiting pod of PodGroup ``group`` ('' = plain), nearly always of the ``priority`` its tree is known to have."""
    namespace, name = key
    pod = Pod(namespace, name, uid, spec, labels={"app": some(rng, APPS)}, group_name=group)
    if priority is not None and not one_in(rng, 100):
        pod = evolve(pod, priority=priority)
    elif variety.has("priorities"):
        pod = evolve(pod, priority=some(rng, PRIORITIES))
    if variety.has("gates") and one_in(rng, 6):
        pod = evolve(pod, scheduling_gates=some(rng, (("x",), ("x", "y"))))
    if variety.has("policies") and one_in(rng, 100 if group else 8):
        pod = evolve(pod, preemption_policy="Never")
    if variety.has("schedulers") and one_in(rng, 100 if group else 8):
        pod = evolve(pod, scheduler_name=some(rng, SCHEDULERS))
    if variety.has("owners") and one_in(rng, 2):
        pod = evolve(pod, owner=("ReplicaSet", some(rng, ("rs1", "rs2"))))
    if variety.has("nominations") and one_in(rng, 10):
        pod = evolve(pod, status=evolve(pod.status, nominated_node_name=some(rng, NODES)))
    return pod


# --- groups and the rest ------------------------------------------------------------------------------------------


def draw_group(
    rng: Random, variety: Variety, key: tuple[str, str], uid: str, parent: str, priority: int | None
) -> Group:
    """A PodGroup for a small letter, a CompositePodGroup for a capital one, mostly of the tree's ``priority``."""
    namespace, name = key
    kind = CompositePodGroup if name.isupper() else PodGroup
    minimum = some(rng, (None, 1, 1, 2)) if name.isupper() else some(rng, (None, 1, 2, 2, 3, 4))
    if variety.has("priorities") and (priority is None or one_in(rng, 100)):
        priority = some(rng, PRIORITIES)
    disruption: Literal["single", "all"] = "single"
    if (kind is CompositePodGroup or minimum is not None) and one_in(rng, 2):
        disruption = "all"
    return kind(
        namespace,
        name,
        uid,
        minimum=minimum,
        parent_name=parent,
        priority=priority,
        preemption_policy="Never" if variety.has("policies") and one_in(rng, 10) else None,
        disruption_mode=disruption,
        topology_key=some(rng, ("rack", "block", "")) if variety.has("racks") and one_in(rng, 2) else "",
    )


def draw_budget(rng: Random, namespace: str) -> PodDisruptionBudget:
    app = some(rng, APPS)
    return PodDisruptionBudget(namespace, f"budget-{app}", selector({"app": app}), rng.randrange(3))


def draw_owner(rng: Random, namespace: str) -> SelectorOwner:
    kind = some(rng, ("Service", "ReplicaSet"))
    return SelectorOwner(kind, namespace, some(rng, ("rs1", "rs2")), selector({"app": some(rng, APPS)}))


def draw_namespace(rng: Random) -> Namespace:
    return Namespace(some(rng, ("default", "other")), {"team": some(rng, ("x", "y"))})
