"""A handle over a small world, for tests of single plugins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gangsched_framework.hierarchy import Forest
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import (
    CompositePodGroup,
    Group,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PodSpec,
    SelectorOwner,
)
from gangsched_framework.resources import Resources
from gangsched_framework.snapshot import Snapshot


class FakeClock:
    def now(self) -> int:
        return 0


class FakeNominations:
    """Nominations from the status of the waiting pods given."""

    def __init__(self) -> None:
        self.pods: list[Pod] = []

    def nominated_pods(self, node_name: str) -> Sequence[Pod]:
        return [pod for pod in self.pods if pod.status.nominated_node_name == node_name]

    def nominated_node(self, pod: Pod) -> str:
        return pod.status.nominated_node_name


class FakeHandle:
    """Groups, nodes and running pods as given; every gate in ``gates`` on."""

    def __init__(
        self,
        *,
        nodes: Iterable[Node] = (),
        pods: Iterable[Pod] = (),
        groups: Iterable[Group] = (),
        namespaces: Iterable[Namespace] = (),
        owners: Iterable[SelectorOwner] = (),
        budgets: Iterable[PodDisruptionBudget] = (),
        gates: Iterable[str] = ("GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup"),
    ) -> None:
        self.feature_gates: Mapping[str, bool] = dict.fromkeys(gates, True)
        self.clock = FakeClock()
        self.nominations = FakeNominations()
        self.namespaces = {namespace.name: namespace for namespace in namespaces}
        self.selector_owners: Sequence[SelectorOwner] = tuple(owners)
        self.disruption_budgets: Sequence[PodDisruptionBudget] = tuple(budgets)
        self.forest = Forest(composite=self.feature_gates.get("CompositePodGroup", False))
        self.table = NodeTable()
        self.snapshot = Snapshot(self.table, self.forest)
        self.framework: Any = None
        for group in groups:
            self.forest.add_group(group)
        for node in nodes:
            self.table.add_node(node)
        self.table.settle()
        for pod in pods:
            self.forest.add_pod(pod)
            if pod.node_name:
                self.table.add_pod(pod, pod.node_name)
        self.snapshot.refresh()

    def framework_for(self, scheduler_name: str) -> Any:
        return self.framework


def pod(name: str, group: str = "", node: str = "", *, spec: PodSpec | None = None, **fields: Any) -> Pod:
    return Pod("default", name, name, group_name=group, node_name=node, spec=spec or PodSpec(), **fields)


def leaf(name: str, minimum: int | None = None, parent: str = "", **fields: Any) -> PodGroup:
    return PodGroup("default", name, name, minimum=minimum, parent_name=parent, **fields)


def inner(name: str, minimum: int | None = None, parent: str = "", **fields: Any) -> CompositePodGroup:
    return CompositePodGroup("default", name, name, minimum=minimum, parent_name=parent, **fields)


def node(name: str, **labels: str) -> Node:
    return Node(name, labels=labels, allocatable=Resources(4000, 1 << 34, 0, 110))
