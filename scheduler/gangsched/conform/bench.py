"""The small world of one node-plugin case: its objects on a snapshot in upstream's node order, and one framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define

from gangsched.conform.core import Setup
from gangsched.conform.records import Record
from gangsched.engine.handle import EngineClock, EngineHandle
from gangsched.engine.pod_algorithm import PodAlgorithm
from gangsched.engine.world import World
from gangsched.manifests.context import Defaults
from gangsched.manifests.decoder import Decoder
from gangsched_framework import node_order
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework
from gangsched_framework.hierarchy import Forest
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Namespace, Node, Pod, SelectorOwner
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.status import FitError, Status

_OTHERS = {
    "namespaces": ("v1", "Namespace"),
    "services": ("v1", "Service"),
    "replicationControllers": ("v1", "ReplicationController"),
    "replicaSets": ("apps/v1", "ReplicaSet"),
    "statefulSets": ("apps/v1", "StatefulSet"),
}


@define(eq=False)
class Waiting:
    """Nominations of the waiting pods of a case, in the order they were added."""

    pods: list[Pod]

    def nominated_pods(self, node_name: str) -> Sequence[Pod]:
        return [pod for pod in self.pods if pod.status.nominated_node_name == node_name]

    def nominated_node(self, pod: Pod) -> str:
        return pod.status.nominated_node_name


class Bench:
    """One case, ready to be asked."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        setup = Setup.of_case(case)
        self._decoder = Decoder(Defaults(api_defaulting=not case.get("noDefaulting"), merge_match_label_keys=False))
        forest = Forest()
        world = World(forest)
        waiting = Waiting([])
        for key, (version, kind) in _OTHERS.items():
            for manifest in case.get(key, ()):
                _add_other(world, self.decode(manifest, kind, version))
        for manifest in case["nodes"]:
            world.add_node(self.node(manifest))
        for manifest in case.get("pods", ()):
            pod = self.decode_pod(manifest)
            world.add_pod(pod)
            if not pod.node_name:
                waiting.pods.append(pod)
        self.pod = self.decode_pod(case["pod"])
        self.snapshot = Snapshot(world.table, forest, node_order.upstream)
        handle = EngineHandle(EngineClock(), world, self.snapshot, waiting, setup.config.gates)
        self.framework = Framework(setup.config.profiles[0], setup.registry, handle)
        handle.frameworks[self.pod.scheduler_name] = self.framework
        self.algorithm = PodAlgorithm(self.snapshot, upstream_order=True)
        self.snapshot.refresh()

    @property
    def nodes(self) -> Sequence[NodeInfo]:
        return self.snapshot.nodes

    def node(self, manifest: Mapping[str, Any]) -> Node:
        decoded = self.decode(manifest, "Node", "v1")
        assert isinstance(decoded, Node)
        return decoded

    def decode_pod(self, manifest: Mapping[str, Any]) -> Pod:
        decoded = self.decode(manifest, "Pod", "v1")
        assert isinstance(decoded, Pod)
        return decoded

    def decode(self, manifest: Mapping[str, Any], kind: str, version: str) -> object:
        (decoded,) = self._decoder.decode({"apiVersion": version, "kind": kind} | manifest, where=kind, now=0)
        return decoded

    def run(self) -> Record:
        """One run of the whole algorithm, the search going on where the last one ended (spec §4.3)."""
        start, count = self.algorithm.next_start, len(self.nodes)
        found = self.algorithm.find_feasible(self.framework, CycleState(), self.pod, self.nodes)
        if isinstance(found, FitError | Status):
            return {"error": found.message}
        evaluated = (self.algorithm.next_start - start) % count or count
        self.algorithm.next_start = start
        chosen = self.algorithm.schedule(self.framework, CycleState(), self.pod)
        return {"chosen": chosen, "evaluated": evaluated, "feasible": len(found)}


def _add_other(world: World, decoded: object) -> None:
    if isinstance(decoded, Namespace):
        world.namespaces[decoded.name] = decoded
    elif isinstance(decoded, SelectorOwner):
        world.selector_owners[f"{decoded.kind}/{decoded.namespace}/{decoded.name}"] = decoded

