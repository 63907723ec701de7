"""Validation of pod specs."""

from __future__ import annotations

import ipaddress
import re

from gangsched.manifests.amounts import amounts_of
from gangsched.manifests.errors import InputError, describe, found, missing, not_one_of
from gangsched.manifests.fields import Raw, each, need, one_of, part, unique
from gangsched.manifests.names import DNS_LABEL, DNS_SUBDOMAIN, require_qualified, validate_labels
from gangsched.manifests.validation.resources import validate_overhead, validate_resources
from gangsched.manifests.validation.selectors import (
    validate_label_keys,
    validate_label_selector,
    validate_node_affinity,
    validate_pod_affinity,
)
from gangsched_framework.pod_requests import containers_need
from gangsched_framework.pod_spec import PodSpec
from gangsched_framework.words import (
    EFFECTS,
    PREEMPTION_POLICIES,
    PROTOCOLS,
    TOLERATION_OPERATORS,
    WHEN_UNSATISFIABLE,
)

MAX_PORT = 65535
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_INTEGER = re.compile(r"0|-?[1-9]\d*", re.ASCII)


def validate_pod_spec(spec: Raw) -> None:
    """Refuse what the API server refuses in the fields that matter for scheduling. ``spec`` has the right shape."""
    if not spec.get("containers"):
        raise missing("containers", "at least one container")
    _validate_containers(spec)
    one_of(spec, "restartPolicy", _RESTART_POLICIES)
    one_of(spec, "preemptionPolicy", PREEMPTION_POLICIES)
    each(spec, "tolerations", validate_toleration)
    each(spec, "topologySpreadConstraints", _validate_spread)
    unique(spec, "topologySpreadConstraints", lambda c: (c.get("topologyKey"), c.get("whenUnsatisfiable")))
    each(spec, "schedulingGates", lambda gate: require_qualified(need(gate, "name", "a name"), "name"))
    unique(spec, "schedulingGates", lambda gate: gate.get("name"), "name")
    if spec.get("nodeSelector"):
        validate_labels(spec["nodeSelector"], "nodeSelector")
    part(spec, "affinity", _validate_affinity)
    part(spec, "resources", lambda resources: validate_resources(resources, pod_level=True))
    validate_overhead(spec)
    for name in ("priorityClassName", "runtimeClassName"):
        if spec.get(name):
            DNS_SUBDOMAIN.require(spec[name], name)
    if spec.get("schedulerName"):
        require_qualified(spec["schedulerName"], "schedulerName")


def validate_pod_level(raw: Raw, spec: PodSpec) -> None:
    """Pod-level requests must cover what the containers ask for together, as far as they are written."""
    for name, amount in amounts_of((raw.get("resources") or {}).get("requests"), round_up=False).items():
        if amount < containers_need(spec).get(name, 0):
            raise found("less than the containers request together", "at least that", "resources", "requests", name)


def validate_toleration(raw: Raw) -> None:
    """Operator, effect and what they allow of the other fields."""
    key, operator, value = raw.get("key"), raw.get("operator"), raw.get("value")
    one_of(raw, "operator", TOLERATION_OPERATORS)
    one_of(raw, "effect", EFFECTS)
    if key:
        require_qualified(key, "key")
    elif operator != "Exists":
        raise found(describe(operator or "Equal"), "Exists when there is no key", "operator")
    if operator == "Exists" and value:
        raise found(describe(value), "no value for Exists", "value")
    if operator in ("Lt", "Gt") and not _INTEGER.fullmatch(value or ""):
        raise found(describe(value or ""), f"a whole number for {operator}", "value")
    if raw.get("tolerationSeconds") is not None and raw.get("effect") != "NoExecute":
        raise found("a time", "tolerationSeconds only with NoExecute", "tolerationSeconds")


def _validate_containers(spec: Raw) -> None:
    host_network = bool(spec.get("hostNetwork"))
    seen: dict[str, None] = {}
    taken: dict[tuple[object, ...], None] = {}

    def validate(container: Raw) -> None:
        name = need(container, "name", "a name")
        DNS_LABEL.require(name, "name")
        if name in seen:
            raise InputError(f"found {describe(name)} twice, allowed unlike names in one pod", "name")
        seen[name] = None
        need(container, "image", "an image")
        one_of(container, "restartPolicy", _RESTART_POLICIES)
        part(container, "resources", validate_resources)
        each(container, "ports", lambda port: _validate_port(port, host_network))

    def claim_port(port: Raw) -> None:
        host_port = port.get("hostPort") or (port.get("containerPort") if host_network else 0)
        key = (host_port, port.get("protocol") or "TCP", port.get("hostIP") or "")
        if host_port and key in taken:
            raise InputError(f"found host port {host_port} twice, allowed once in a pod", "hostPort")
        taken[key] = None

    each(spec, "initContainers", validate)
    each(spec, "containers", validate)
    each(spec, "containers", lambda container: each(container, "ports", claim_port))
    each(spec, "initContainers", _validate_sidecar)


def _validate_sidecar(container: Raw) -> None:
    if container.get("restartPolicy") not in (None, "", "Always") and not container.get("restartPolicyRules"):
        raise not_one_of(container["restartPolicy"], ("Always",), "restartPolicy")


def _validate_port(port: Raw, host_network: bool) -> None:
    container_port, host_port = port.get("containerPort") or 0, port.get("hostPort") or 0
    if not 1 <= container_port <= MAX_PORT:
        raise found(describe(container_port), f"1 to {MAX_PORT}", "containerPort")
    if not 0 <= host_port <= MAX_PORT:
        raise found(describe(host_port), f"1 to {MAX_PORT}", "hostPort")
    if host_network and host_port not in (0, container_port):
        allowed = f"{container_port}, the containerPort, on the host network"
        raise found(describe(host_port), allowed, "hostPort")
    one_of(port, "protocol", PROTOCOLS)
    if port.get("hostIP"):
        try:
            ipaddress.ip_address(port["hostIP"])
        except ValueError:
            raise found(describe(port["hostIP"]), "an IP address", "hostIP") from None


def _validate_affinity(affinity: Raw) -> None:
    part(affinity, "nodeAffinity", validate_node_affinity)
    part(affinity, "podAffinity", validate_pod_affinity)
    part(affinity, "podAntiAffinity", validate_pod_affinity)


def _validate_spread(raw: Raw) -> None:
    skew, domains = raw.get("maxSkew") or 0, raw.get("minDomains")
    if skew < 1:
        raise found(describe(skew), "at least 1", "maxSkew")
    require_qualified(need(raw, "topologyKey", "a node label key"), "topologyKey")
    need(raw, "whenUnsatisfiable", " or ".join(WHEN_UNSATISFIABLE))
    one_of(raw, "whenUnsatisfiable", WHEN_UNSATISFIABLE)
    if domains is not None and domains < 1:
        raise found(describe(domains), "at least 1", "minDomains")
    if domains is not None and raw["whenUnsatisfiable"] != "DoNotSchedule":
        raise found(describe(domains), "minDomains only with DoNotSchedule", "minDomains")
    one_of(raw, "nodeAffinityPolicy", ("Honor", "Ignore"))
    one_of(raw, "nodeTaintsPolicy", ("Honor", "Ignore"))
    part(raw, "labelSelector", validate_label_selector)
    validate_label_keys(raw, "matchLabelKeys")
