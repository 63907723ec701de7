"""What holds of every accepted input, whatever was done to it: else nonsense got through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gangsched.manifests.names import DNS_LABEL, DNS_SUBDOMAIN, LABEL_VALUE
from gangsched.replay.ledger import amounts, requested
from gangsched_framework.objects import (
    ClusterObject,
    CompositePodGroup,
    Namespace,
    Node,
    Pod,
    PodGroup,
    PriorityClass,
    Queue,
)
from gangsched_framework.pod_spec import Container, LabelSelector, PodAffinityTerm, PodSpec, Requirement

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
NODE_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def check_objects(objects: Iterable[ClusterObject]) -> None:
    """Accepted objects obey what every API server holds of them."""
    for obj in objects:
        assert DNS_SUBDOMAIN.accepts(obj.name), obj.name
        assert DNS_LABEL.accepts(getattr(obj, "namespace", "x"))
        for key, value in getattr(obj, "labels", {}).items():
            assert key
            assert LABEL_VALUE.accepts(value)
        if isinstance(obj, Pod):
            _check_pod(obj)
        elif isinstance(obj, PodGroup | CompositePodGroup):
            assert obj.minimum is None or 1 <= obj.minimum < 2**31
            assert obj.gang or obj.disruption_mode == "single" or isinstance(obj, CompositePodGroup)
            assert obj.priority is None or -(2**31) <= obj.priority <= 2 * 10**9 + 1000
            assert not obj.parent_name or DNS_SUBDOMAIN.accepts(obj.parent_name)
        elif isinstance(obj, Node):
            assert all(taint.key and taint.effect in EFFECTS for taint in obj.taints)
            assert all(0 <= amount < 2**63 for amount in amounts(obj.allocatable).values())
        elif isinstance(obj, PriorityClass):
            assert -(2**31) <= obj.value <= 10**9
        elif isinstance(obj, Namespace):
            assert DNS_LABEL.accepts(obj.name)
        elif isinstance(obj, Queue):
            _check_queue(obj)


def _check_queue(queue: Queue) -> None:
    assert 1 <= queue.weight < 2**31
    guarantee, deserved, capability = queue.guarantee or {}, queue.deserved or {}, queue.capability or {}
    for smaller, larger in ((guarantee, deserved), (deserved, capability), (guarantee, capability)):
        assert all(amount <= larger[name] for name, amount in smaller.items() if name in larger)
    levels = queue.annotations.get("volcano.sh/hierarchy", "").split("/")
    assert len(queue.annotations.get("volcano.sh/hierarchy-weights", "1").split("/")) == len(levels)


def _check_pod(pod: Pod) -> None:
    assert type(pod.priority) is int
    assert -(2**31) <= pod.priority < 2**31
    assert pod.preemption_policy in ("PreemptLowerPriority", "Never")
    assert pod.status.phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown")
    assert not (pod.node_name and pod.scheduling_gates)
    assert not pod.group_name or DNS_SUBDOMAIN.accepts(pod.group_name)
    assert all(0 <= amount < 2**63 for amount in requested(pod).values())
    _check_spec(pod.spec)


def _check_spec(spec: PodSpec) -> None:
    containers = (*spec.containers, *spec.init_containers)
    assert spec.containers
    assert len({container.name for container in containers}) == len(containers)
    for container in containers:
        _check_container(container)
    for toleration in spec.tolerations:
        assert toleration.operator in ("", "Exists", "Equal", "Lt", "Gt")
        assert toleration.effect in ("", *EFFECTS)
        assert toleration.key or toleration.operator == "Exists"
    for constraint in spec.topology_spread_constraints:
        assert constraint.max_skew >= 1
        assert constraint.topology_key
        assert constraint.when_unsatisfiable in ("DoNotSchedule", "ScheduleAnyway")
        assert constraint.min_domains is None or constraint.min_domains >= 1
        _check_selector(constraint.label_selector)
    for term in _terms(spec):
        assert term.topology_key
        _check_selector(term.label_selector)
        _check_selector(term.namespace_selector)
    if spec.node_affinity is not None:
        preferred = spec.node_affinity.preferred
        assert all(1 <= weighted.weight <= 100 for weighted in preferred)
        for node_term in (*(spec.node_affinity.required or ()), *(weighted.term for weighted in preferred)):
            _check_requirements(node_term.match_expressions, NODE_OPERATORS)
            _check_requirements(node_term.match_fields, ("In", "NotIn"))


def _check_container(container: Container) -> None:
    assert DNS_LABEL.accepts(container.name)
    for name, amount in (*container.requests.items(), *container.limits.items()):
        assert name
        assert type(amount) is int
        assert amount >= 0
    for port in container.ports:
        assert 1 <= port.container_port <= 65535
        assert 0 <= port.host_port <= 65535
        assert port.protocol in ("TCP", "UDP", "SCTP")


def _terms(spec: PodSpec) -> Iterator[PodAffinityTerm]:
    for affinity in (spec.pod_affinity, spec.pod_anti_affinity):
        yield from affinity.required
        for weighted in affinity.preferred:
            assert 1 <= weighted.weight <= 100
            yield weighted.term


def _check_selector(selector: LabelSelector | None) -> None:
    if selector is not None:
        assert all(key and LABEL_VALUE.accepts(value) for key, value in selector.match_labels)
        _check_requirements(selector.match_expressions, ("In", "NotIn", "Exists", "DoesNotExist"))


def _check_requirements(requirements: Iterable[Requirement], operators: tuple[str, ...]) -> None:
    for requirement in requirements:
        assert requirement.key
        assert requirement.operator in operators
        assert bool(requirement.values) != (requirement.operator in ("Exists", "DoesNotExist"))


def check_run(objects: Iterable[ClusterObject], document: Mapping[str, Any]) -> None:
    """What ``run -o json`` says: new pods fit their nodes, gangs that got any have their minimum."""
    known = {(type(obj), getattr(obj, "namespace", ""), obj.name): obj for obj in objects}
    pods = {obj.key: obj for obj in known.values() if isinstance(obj, Pod)}
    where = {key: seen["node"] for key, seen in document["pods"].items() if seen["node"]}
    new = document["bindings"]
    assert set(new) <= set(where)
    for node in known.values():
        if isinstance(node, Node):
            _check_room(node, [pods[key] for key, name in where.items() if name == node.name], new)
    if not document["evicted"]:
        for group in known.values():
            if isinstance(group, PodGroup):
                members = [key for key, pod in pods.items() if pod.group_key == group.key]
                if any(key in new for key in members):
                    assert sum(key in where for key in members) >= group.required, f"{group.key} is below its minimum"


def _check_room(node: Node, pods: Iterable[Pod], new: Mapping[str, str]) -> None:
    """Pods that came bound may exceed the node; what a new one asks for must be there."""
    used: dict[str, int] = {}
    wanted: dict[str, None] = {}
    for pod in pods:
        for resource, amount in requested(pod).items():
            used[resource] = used.get(resource, 0) + amount
            if amount and pod.key in new:
                wanted[resource] = None
    offered = amounts(node.allocatable)
    for resource in wanted:
        assert used[resource] <= offered.get(resource, 0), f"{node.name} is over-committed: {resource}"


def check_configuration(document: Mapping[str, Any]) -> None:
    """What ``config view -o json`` says of an accepted configuration."""
    assert 0 <= document["percentageOfNodesToScore"] <= 100
    assert 0 <= document["percentageOfPlacementsToScore"] <= 100
    initial, maximum = document["podInitialBackoffSeconds"], document["podMaxBackoffSeconds"]
    assert initial > 0
    assert maximum >= initial or maximum == 0  # none at all (podgroup-scheduling.md §2.4.2)
    assert document["nodeOrder"] in ("name", "upstream")
    assert document["profiles"]
    for profile in document["profiles"].values():
        assert profile["queueSort"]
        assert profile["bind"]
