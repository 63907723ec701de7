"""Containers and pod-level resources, with what the API server fills in (spec node-plugins.md §3.1)."""

from __future__ import annotations

from attrs import evolve

from gangsched.manifests.amounts import amounts_of
from gangsched.manifests.fields import Raw, each, part
from gangsched_framework.pod_requests import containers_need
from gangsched_framework.pod_spec import Container, ContainerPort, PodSpec
from gangsched_framework.resources import CPU, MEMORY

HUGE_PAGES = "hugepages-"


def containers(spec: Raw, field: str, defaulting: bool) -> tuple[Container, ...]:
    """The ``containers`` or ``initContainers`` of a pod spec."""
    host_network = defaulting and bool(spec.get("hostNetwork"))

    def container(raw: Raw) -> Container:
        requests, limits = part(raw, "resources", lambda resources: resource_amounts(resources, defaulting)) or ({}, {})
        return Container(
            raw.get("name") or "",
            raw.get("image") or "",
            requests,
            limits,
            each(raw, "ports", lambda port: _port(port, host_network)),
            raw.get("restartPolicy") or "",
        )

    return each(spec, field, container)


def resource_amounts(raw: Raw, defaulting: bool) -> tuple[dict[str, int], dict[str, int]]:
    """(requests, limits) in nano-units; a limit without request becomes the request (spec §3.1.2)."""
    requests = part(raw, "requests", lambda value: amounts_of(value, round_up=defaulting)) or {}
    limits = part(raw, "limits", lambda value: amounts_of(value, round_up=defaulting)) or {}
    if defaulting:
        requests = {**requests, **{name: amount for name, amount in limits.items() if name not in requests}}
    return requests, limits


def _port(raw: Raw, host_network: bool) -> ContainerPort:
    container_port, host_port = raw.get("containerPort") or 0, raw.get("hostPort") or 0
    if host_network and not host_port:
        host_port = container_port  # spec §3.1.1
    return ContainerPort(host_port, container_port, raw.get("protocol") or "TCP", raw.get("hostIP") or "")


def with_pod_level(spec: PodSpec, raw: Raw, defaulting: bool) -> PodSpec:
    """``spec`` with the pod-level requests of ``raw`` (its ``resources``), defaulted from its limits (spec §3.1.4)."""
    requests = part(raw, "requests", lambda value: amounts_of(value, round_up=defaulting)) or {}
    limits = part(raw, "limits", lambda value: amounts_of(value, round_up=defaulting)) or {}
    if defaulting:
        limits = {**_huge_page_limits(spec), **limits}
        needed = containers_need(spec)
        for name in (CPU, MEMORY) if limits else ():
            amount = needed.get(name, limits.get(name))
            if amount is not None:
                requests.setdefault(name, amount)
        for name, limit in limits.items():
            if name.startswith(HUGE_PAGES):
                requests.setdefault(name, limit)
    return evolve(spec, resources=requests)


def _huge_page_limits(spec: PodSpec) -> dict[str, int]:
    """Huge pages that only containers limit: their aggregate becomes the pod's limit (spec §3.1.4)."""
    limited = evolve(
        spec,
        containers=tuple(evolve(c, requests=c.limits) for c in spec.containers),
        init_containers=tuple(evolve(c, requests=c.limits) for c in spec.init_containers),
    )
    return {name: amount for name, amount in containers_need(limited).items() if name.startswith(HUGE_PAGES)}
