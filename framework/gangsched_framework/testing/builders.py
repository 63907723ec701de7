"""Builders: API objects in one readable line.

    make_node("n1").capacity(cpu=4, memory="8Gi", pods=110).label("zone", "a").obj()
    make_pod("p").requests(cpu="500m").in_group("train").priority(3).obj()

A builder is a value: each method returns a new one, so a half-built pod may be the start of many. Amounts are
Kubernetes quantities (numbers or text); ``ephemeral_storage`` means ``ephemeral-storage``, other names are as given.
A missing uid is ``Kind|namespace/name#1``; times are engine nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from attrs import evolve, frozen

from gangsched_framework.errors import GangschedError, did_you_mean
from gangsched_framework.objects import Condition, ContainerImage, Node, Pod, PodGroup, Taint
from gangsched_framework.pod_requests import resources_from_amounts
from gangsched_framework.pod_spec import (
    Container,
    ContainerPort,
    LabelSelector,
    NodeAffinity,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    PreferredNodeTerm,
    Requirement,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from gangsched_framework.quantity import UNIT, parse_amount
from gangsched_framework.resources import EPHEMERAL_STORAGE, PODS, REQUESTED, VOLUMES, StatusAmounts, known_to_pods
from gangsched_framework.testing.checked import checked, checked_call
from gangsched_framework.words import (
    ConditionStatus,
    Effect,
    NodeOperator,
    Phase,
    PreemptionPolicy,
    Protocol,
    TolerationOperator,
    WhenUnsatisfiable,
)

Quantity = int | float | str
SelectorLike = Mapping[str, str] | LabelSelector | None
"""Labels that must all be there, a whole selector, or None = no selector at all."""


@checked_call
def make_node(name: str) -> NodeBuilder:
    """A node without capacity, labels or taints."""
    return NodeBuilder(Node(name, uid=f"Node|{name}#1"))


@checked_call
def make_pod(name: str, namespace: str = "default") -> PodBuilder:
    """A waiting plain pod with no container (it requests nothing)."""
    return PodBuilder(_template(name, namespace), PodSpec())


@checked_call
def make_pods(count: int, prefix: str = "pod", namespace: str = "default") -> PodsBuilder:
    """``count`` like pods ``PREFIX-0``, ``PREFIX-1`` … that share one ``PodSpec``."""
    return PodsBuilder(_template(prefix, namespace), PodSpec(), count)


@checked_call
def selector(labels: SelectorLike) -> LabelSelector | None:
    """``{"app": "web"}`` as a label selector."""
    return labels if labels is None or isinstance(labels, LabelSelector) else LabelSelector(tuple(labels.items()))


def _template(name: str, namespace: str) -> Pod:
    return Pod(namespace, name, uid=_uid("Pod", namespace, name))


def _uid(kind: str, namespace: str, name: str) -> str:
    return f"{kind}|{namespace}/{name}#1"


def _amounts(quantities: Mapping[str, Quantity], *more: str) -> dict[str, int]:
    """Nano-units by resource; ``more`` are resources beyond those that pods may request."""
    names = {name: EPHEMERAL_STORAGE if name == "ephemeral_storage" else name for name in quantities}
    for name in names.values():
        if not known_to_pods(name) and not name.startswith(VOLUMES) and name not in more:
            known = (*REQUESTED, *more)
            allowed = f"{', '.join(known)}, hugepages-* or a name with a domain such as example.com/gpu"
            raise GangschedError(f"found resource {name!r}, allowed {allowed}{did_you_mean(name, known)}")
    return {names[name]: _amount(names[name], amount) for name, amount in quantities.items()}


def _amount(name: str, quantity: Quantity) -> int:
    try:
        return parse_amount(str(quantity), name)
    except ValueError as problem:
        allowed = f"a quantity such as 2, 500m or 1.5Gi ({problem})"
        raise GangschedError(f"{name}: found {quantity!r}, allowed {allowed}") from None


@checked
@frozen
class NodeBuilder:
    """Starts at ``make_node``."""

    _node: Node

    def obj(self) -> Node:
        return self._node

    def _with(self, **changes: Any) -> NodeBuilder:
        return NodeBuilder(evolve(self._node, **changes))

    def capacity(self, **quantities: Quantity) -> NodeBuilder:
        """Allocatable amounts; replaces those of an earlier call."""
        return self._with(allocatable=resources_from_amounts(_amounts(quantities, PODS)))

    def label(self, key: str, value: str) -> NodeBuilder:
        return self._with(labels={**self._node.labels, key: value})

    def annotation(self, key: str, value: str) -> NodeBuilder:
        return self._with(annotations={**self._node.annotations, key: value})

    def taint(self, key: str, value: str = "", effect: Effect = "NoSchedule") -> NodeBuilder:
        return self._with(taints=(*self._node.taints, Taint(key, value, effect)))

    def unschedulable(self) -> NodeBuilder:
        return self._with(unschedulable=True)

    def image(self, *names: str, size: Quantity) -> NodeBuilder:
        """An image the node holds, under all its names; ``size`` in bytes."""
        image = ContainerImage(names, _amount("size", size) // UNIT)
        return self._with(images=(*self._node.images, image))

    def uid(self, uid: str) -> NodeBuilder:
        return self._with(uid=uid)

    def created(self, time: int) -> NodeBuilder:
        return self._with(creation_timestamp=time)


@checked
@frozen
class _PodShape:
    """What ``PodBuilder`` and ``PodsBuilder`` share: one template pod and its spec."""

    _pod: Pod
    _spec: PodSpec

    def _with(self, **changes: Any) -> Self:
        return evolve(self, pod=evolve(self._pod, **changes))

    def _with_spec(self, **changes: Any) -> Self:
        return evolve(self, spec=evolve(self._spec, **changes))

    def _with_status(self, **changes: Any) -> Self:
        return self._with(status=evolve(self._pod.status, **changes))

    def _with_container(self, **changes: Any) -> Self:
        """Change the last container, or begin the first one."""
        containers = self._spec.containers or (Container("main"),)
        return self._with_spec(containers=(*containers[:-1], evolve(containers[-1], **changes)))

    # what it needs

    def requests(self, **quantities: Quantity) -> Self:
        """Requests of the current container (the first one unless ``container`` began another)."""
        return self._with_container(requests=_amounts(quantities))

    def container(self, image: str = "", **quantities: Quantity) -> Self:
        """One more container; later ``requests`` and ``host_port`` are about it."""
        containers = self._spec.containers
        name = f"container-{len(containers)}"
        return self._with_spec(containers=(*containers, Container(name, image, _amounts(quantities))))

    def init_container(self, *, sidecar: bool = False, **quantities: Quantity) -> Self:
        """One more init container; a sidecar is one that is always restarted."""
        inits = self._spec.init_containers
        policy = "Always" if sidecar else ""
        init = Container(f"init-{len(inits)}", requests=_amounts(quantities), restart_policy=policy)
        return self._with_spec(init_containers=(*inits, init))

    def pod_level(self, **quantities: Quantity) -> Self:
        """``spec.resources.requests``."""
        return self._with_spec(resources=_amounts(quantities))

    def overhead(self, **quantities: Quantity) -> Self:
        return self._with_spec(overhead=_amounts(quantities))

    def host_port(self, port: int, protocol: Protocol = "TCP", ip: str = "") -> Self:
        """A host port of the current container."""
        ports = self._spec.containers[-1].ports if self._spec.containers else ()
        return self._with_container(ports=(*ports, ContainerPort(port, port, protocol, ip)))

    def image(self, image: str) -> Self:
        """Image of the current container."""
        return self._with_container(image=image)

    # where it may run

    def node_selector(self, key: str, value: str) -> Self:
        return self._with_spec(node_selector={**(self._spec.node_selector or {}), key: value})

    def node_affinity(self, key: str, *values: str, operator: NodeOperator = "In", weight: int | None = None) -> Self:
        """A term of one requirement on node labels, required (ORed with earlier ones) or, with a weight, preferred."""
        term = NodeSelectorTerm((Requirement(key, operator, values),))
        affinity = self._spec.node_affinity or NodeAffinity()
        if weight is None:
            affinity = evolve(affinity, required=(*(affinity.required or ()), term))
        else:
            affinity = evolve(affinity, preferred=(*affinity.preferred, PreferredNodeTerm(weight, term)))
        return self._with_spec(node_affinity=affinity)

    def affinity(self, topology_key: str, labels: SelectorLike, weight: int | None = None) -> Self:
        """Near pods with ``labels``: required, or preferred with a weight."""
        return self._with_spec(pod_affinity=_with_term(self._spec.pod_affinity, topology_key, labels, weight))

    def anti_affinity(self, topology_key: str, labels: SelectorLike, weight: int | None = None) -> Self:
        """Away from pods with ``labels``: required, or preferred with a weight."""
        return self._with_spec(pod_anti_affinity=_with_term(self._spec.pod_anti_affinity, topology_key, labels, weight))

    def spread(
        self,
        topology_key: str,
        labels: SelectorLike = None,
        max_skew: int = 1,
        when: WhenUnsatisfiable = "DoNotSchedule",
    ) -> Self:
        constraint = TopologySpreadConstraint(max_skew, topology_key, when, selector(labels))
        constraints = (*self._spec.topology_spread_constraints, constraint)
        return self._with_spec(topology_spread_constraints=constraints)

    def tolerates(
        self,
        key: str = "",
        value: str = "",
        effect: Effect | Literal[""] = "",
        operator: TolerationOperator | Literal[""] = "",
    ) -> Self:
        """Tolerate taints: with a value ``Equal``, without one ``Exists``, unless ``operator`` says otherwise."""
        toleration = Toleration(key, operator or ("Equal" if value else "Exists"), value, effect)
        return self._with_spec(tolerations=(*self._spec.tolerations, toleration))

    # what it is

    def in_group(self, group: str | PodGroup) -> Self:
        """Member of a PodGroup of its namespace."""
        return self._with(group_name=group if isinstance(group, str) else group.name)

    def priority(self, priority: int) -> Self:
        return self._with(priority=priority)

    def preemption_policy(self, policy: PreemptionPolicy) -> Self:
        return self._with(preemption_policy=policy)

    def scheduler(self, name: str) -> Self:
        return self._with(scheduler_name=name)

    def label(self, key: str, value: str) -> Self:
        return self._with(labels={**self._pod.labels, key: value})

    def annotation(self, key: str, value: str) -> Self:
        return self._with(annotations={**self._pod.annotations, key: value})

    def gate(self, *names: str) -> Self:
        """Scheduling gates."""
        return self._with(scheduling_gates=(*self._pod.scheduling_gates, *names))

    def owner(self, kind: str, name: str) -> Self:
        """Its controller."""
        return self._with(owner=(kind, name))

    def created(self, time: int) -> Self:
        return self._with(creation_timestamp=time)

    # where it is

    def node(self, name: str) -> Self:
        """Assigned to a node."""
        return self._with(node_name=name)

    def nominated(self, node_name: str) -> Self:
        return self._with_status(nominated_node_name=node_name)

    def terminating(self, time: int = 0) -> Self:
        """Being deleted since ``time``."""
        return self._with(deletion_timestamp=time)

    def phase(self, phase: Phase) -> Self:
        return self._with_status(phase=phase)

    def started(self, time: int) -> Self:
        """``status.startTime``."""
        return self._with_status(start_time=time)

    def condition(self, kind: str, status: ConditionStatus, reason: str = "") -> Self:
        return self._with(status=self._pod.with_condition(Condition(kind, status, reason)).status)

    def allocated(self, **quantities: Quantity) -> Self:
        """Amounts in the status of the current container (a resize under way)."""
        if not self._spec.containers:
            raise GangschedError("allocated: found a pod without a container, allowed one with requests")
        name = self._spec.containers[-1].name
        return self._with_status(allocated={**self._pod.status.allocated, name: StatusAmounts(_amounts(quantities))})


@checked
@frozen
class PodBuilder(_PodShape):
    """Starts at ``make_pod``."""

    def uid(self, uid: str) -> PodBuilder:
        return self._with(uid=uid)

    def obj(self) -> Pod:
        return evolve(self._pod, spec=self._spec)


@frozen
class PodsBuilder(_PodShape):
    """Starts at ``make_pods``."""

    _count: int

    def obj(self) -> list[Pod]:
        """The pods, in order of their numbers."""
        namespace, prefix = self._pod.namespace, self._pod.name
        names = [f"{prefix}-{i}" for i in range(self._count)]
        return [evolve(self._pod, name=n, uid=_uid("Pod", namespace, n), spec=self._spec) for n in names]


def _with_term(affinity: PodAffinity, topology_key: str, labels: SelectorLike, weight: int | None) -> PodAffinity:
    term = PodAffinityTerm(topology_key, selector(labels))
    if weight is None:
        return evolve(affinity, required=(*affinity.required, term))
    return evolve(affinity, preferred=(*affinity.preferred, WeightedPodAffinityTerm(weight, term)))
