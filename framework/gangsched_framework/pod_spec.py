"""The scheduling content of a pod's spec: containers, affinity, tolerations, spread (Kubernetes core/v1 names).

A ``PodSpec`` is a frozen value that pods of one template share, so what is derived from it (requests, ports) is
computed once, with it. Amounts of containers are integers in **nano-units** (1 cpu = 10**9, 1 byte = 10**9), the
smallest step a Kubernetes quantity has, so that sums stay exact and are rounded once (spec node-plugins.md §3.2.6).
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, define, field, frozen

from gangsched_framework.pod_requests import requests_of_spec
from gangsched_framework.resources import PodRequests


@frozen
class Requirement:
    """One ``key operator values`` line of a label selector or node selector."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@frozen
class LabelSelector:
    """``matchLabels`` and ``matchExpressions``, all ANDed. Empty = everything; an absent selector is ``None``."""

    match_labels: tuple[tuple[str, str], ...] = ()
    match_expressions: tuple[Requirement, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.match_labels and not self.match_expressions


@frozen
class NodeSelectorTerm:
    """Requirements that must all hold; a term without any matches nothing (spec node-plugins.md §7.4.5)."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


@frozen
class PreferredNodeTerm:
    """A node selector term and what it is worth, 1…100."""

    weight: int
    term: NodeSelectorTerm


@frozen
class NodeAffinity:
    """``required`` is None when absent; an empty tuple of terms matches nothing (spec node-plugins.md §7.4.5)."""

    required: tuple[NodeSelectorTerm, ...] | None = None
    preferred: tuple[PreferredNodeTerm, ...] = ()


@frozen
class PodAffinityTerm:
    """``namespaces`` is the list as written; ``namespace_selector`` None = absent, empty = every namespace."""

    topology_key: str
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None


@frozen
class WeightedPodAffinityTerm:
    """A pod affinity term and what it is worth, 1…100."""

    weight: int
    term: PodAffinityTerm


@frozen
class PodAffinity:
    """Terms of ``podAffinity`` or of ``podAntiAffinity``."""

    required: tuple[PodAffinityTerm, ...] = ()
    preferred: tuple[WeightedPodAffinityTerm, ...] = ()


@frozen
class Toleration:
    """Taints the pod puts up with; an empty field stands for any (spec node-plugins.md §7.3.1)."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


@frozen
class TopologySpreadConstraint:
    """A spread constraint; ``match_label_keys`` is already merged by the reader when asked to (spec §3.1.5)."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: tuple[str, ...] = ()


@frozen
class ContainerPort:
    """A port of a container; ``host_port`` 0 = none on the node."""

    host_port: int = 0
    container_port: int = 0
    protocol: str = "TCP"
    host_ip: str = ""


@frozen
class Container:
    """``requests`` and ``limits`` map resource names to nano-units. ``restart_policy`` "Always" marks a sidecar."""

    name: str
    image: str = ""
    requests: Mapping[str, int] = {}
    limits: Mapping[str, int] = {}
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""


@define(frozen=True, eq=False)
class PodSpec:
    """What decides where a pod may run. Compared by identity; equal templates should share one instance.

    ``resources`` holds the pod-level requests (nano-units) or None; ``overhead`` nano-units. ``node_selector`` None =
    absent, ``{}`` = present and empty (the difference is visible, spec node-plugins.md §7.4.1).
    ``unsupported`` names fields that would change a decision and are not modelled (volumes, claims …).
    """

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Mapping[str, int] = {}
    resources: Mapping[str, int] | None = None
    node_selector: Mapping[str, str] | None = None
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    host_network: bool = False
    image_volumes: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    resource_claims: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()

    # Found at once: a cached property would make every look at a spec five times as dear, in every cycle.
    requests: PodRequests = field(init=False, repr=False, default=Factory(requests_of_spec, takes_self=True))
    """Every request vector of the pod as an incoming pod (spec node-plugins.md §3.4-3.5)."""
    host_ports: tuple[tuple[str, str, int], ...] = field(
        init=False, repr=False, default=Factory(lambda spec: _host_ports(spec), takes_self=True)
    )
    """Wanted ``(ip, protocol, port)`` of containers and sidecars; no ip is ``0.0.0.0`` (spec node-plugins.md §7.5)."""
    has_affinity: bool = field(
        init=False, repr=False, default=Factory(lambda spec: _has_affinity(spec), takes_self=True)
    )
    """Whether the pod has any pod affinity or anti-affinity term."""


def _host_ports(spec: PodSpec) -> tuple[tuple[str, str, int], ...]:
    owners = (*spec.containers, *(c for c in spec.init_containers if c.restart_policy == "Always"))
    ports = (port for owner in owners for port in owner.ports if port.host_port > 0)
    return tuple((port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port) for port in ports)


def _has_affinity(spec: PodSpec) -> bool:
    near, away = spec.pod_affinity, spec.pod_anti_affinity
    return bool(near.required or near.preferred or away.required or away.preferred)
