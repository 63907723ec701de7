"""NodePorts: spec node-plugins.md §7.5, rows 58-69."""

from __future__ import annotations

from operator import attrgetter

import pytest
from attrs import evolve

from gangsched_framework.events import Hint
from gangsched_framework.objects import Pod
from gangsched_framework.pod_spec import Container, ContainerPort
from gangsched_framework.testing import PodBuilder, make_node, make_pod
from gangsched_framework.words import Protocol
from gangsched_plugins.node_ports import NodePorts
from tests.plugins.judge import Case, HintCase, check, check_hint, roomy

NODES = [roomy("a"), roomy("b")]
TAKEN = {"a": "U node(s) didn't have free ports for the requested pod ports", "b": "Ok"}
FREE = {"a": "Ok", "b": "Ok"}


def wants(port: int, protocol: Protocol = "TCP", ip: str = "") -> PodBuilder:
    return make_pod("p").host_port(port, protocol, ip)


def holds(port: int, protocol: Protocol = "TCP", ip: str = "") -> PodBuilder:
    return make_pod("e").host_port(port, protocol, ip).node("a")


def init_port(port: int, restart_policy: str = "") -> Pod:
    """A pod with a host port of an init container."""
    init = Container("i", ports=(ContainerPort(port, port),), restart_policy=restart_policy)
    pod = make_pod("p").obj()
    return evolve(pod, spec=evolve(pod.spec, init_containers=(init,)))


def port_by_host_network(copied: bool) -> Pod:
    """A host-network pod; the reader of manifests has ``copied`` the container's port to the host's, or not."""
    pod = make_pod("p").obj()
    main = Container("c", ports=(ContainerPort(80 if copied else 0, 80),))
    return evolve(pod, spec=evolve(pod.spec, containers=(main,), host_network=True))


def without_protocol(port: int) -> Pod:
    pod = make_pod("p").obj()
    main = Container("c", ports=(ContainerPort(port, port, ""),))
    return evolve(pod, spec=evolve(pod.spec, containers=(main,)))


CASES = [
    Case(name="a port in use is refused", pod=wants(8080), nodes=NODES, pods=[holds(8080)], want=TAKEN),
    Case(name="another port is free", pod=wants(8080), nodes=NODES, pods=[holds(8081)], want=FREE),
    Case(name="no protocol means TCP", pod=without_protocol(53), nodes=NODES, pods=[holds(53)], want=TAKEN),
    Case(name="SCTP against SCTP clashes", pod=wants(53, "SCTP"), nodes=NODES, pods=[holds(53, "SCTP")], want=TAKEN),
    Case(name="UDP against TCP does not", pod=wants(53, "UDP"), nodes=NODES, pods=[holds(53)], want=FREE),
    Case(
        name="different addresses do not clash",
        pod=wants(80, ip="127.0.0.1"),
        nodes=NODES,
        pods=[holds(80, ip="10.0.0.1")],
        want=FREE,
    ),
    Case(
        name="0.0.0.0 wanted clashes with any address in use",
        pod=wants(80, ip="0.0.0.0"),
        nodes=NODES,
        pods=[holds(80, ip="10.0.0.1")],
        want=TAKEN,
    ),
    Case(
        name="no address in use clashes with any address wanted",
        pod=wants(80, ip="10.0.0.1"),
        nodes=NODES,
        pods=[holds(80)],
        want=TAKEN,
    ),
    Case(
        name="the IPv6 wildcard is an ordinary text",
        pod=wants(80, ip="::"),
        nodes=NODES,
        pods=[holds(80, ip="10.0.0.1")],
        want=FREE,
    ),
    Case(
        name="a pod without host port skips",
        pod=make_pod("p").container("img:1"),
        nodes=NODES,
        pods=[holds(8080)],
        want_pre_filter="Skip",
        want=FREE,
    ),
    Case(
        name="ports of an ordinary init container do not count",
        pod=init_port(80),
        nodes=NODES,
        pods=[holds(80)],
        want_pre_filter="Skip",
        want=FREE,
    ),
    Case(
        name="ports of a sidecar count",
        pod=init_port(80, "Always"),
        nodes=NODES,
        pods=[holds(80)],
        want=TAKEN,
    ),
    Case(
        name="the host network wants the port that was copied from the container",
        pod=port_by_host_network(copied=True),
        nodes=NODES,
        pods=[holds(80)],
        want=TAKEN,
    ),
    Case(
        name="the host network as such wants no port",
        pod=port_by_host_network(copied=False),
        nodes=NODES,
        pods=[holds(80)],
        want_pre_filter="Skip",
        want=FREE,
    ),
    Case(
        name="ports of one pod are not compared with each other",
        pod=wants(80).host_port(80),
        nodes=NODES,
        want=FREE,
    ),
]
GONE = "AssignedPod/Delete"
HINTS = [
    HintCase(name="a pod with the port goes", event=GONE, pod=wants(80), old=holds(80), want=Hint.QUEUE),
    HintCase(name="a pod with another port goes", event=GONE, pod=wants(80), old=holds(81), want=Hint.SKIP),
    HintCase(name="a pod without port goes", event=GONE, pod=wants(80), old=make_pod("e").node("a"), want=Hint.SKIP),
    HintCase(name="a pod that was nowhere goes", event=GONE, pod=wants(80), old=wants(80), want=Hint.SKIP),
    HintCase(
        name="a nominated pod with the port goes",
        event=GONE,
        pod=wants(80),
        old=wants(80).nominated("a"),
        want=Hint.QUEUE,
    ),
    HintCase(name="any new node", event="Node/Add", pod=wants(80), new=make_node("n"), want=Hint.QUEUE),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_verdicts(case: Case) -> None:
    check(NodePorts, case)


@pytest.mark.parametrize("case", HINTS, ids=attrgetter("name"))
def test_hints(case: HintCase) -> None:
    check_hint(NodePorts, case)
