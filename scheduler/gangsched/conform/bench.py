"""The small world of one node-plugin case: its objects in a core with upstream's node order, asked point by point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from gangsched.conform.core import Setup
from gangsched.conform.records import Record
from gangsched.engine.pod_algorithm import PodAlgorithm
from gangsched.manifests import Decoder, Defaults
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import ClusterObject, Node, Pod
from gangsched_framework.status import FitError, Status

_OTHERS = {
    "namespaces": ("v1", "Namespace"),
    "services": ("v1", "Service"),
    "replicationControllers": ("v1", "ReplicationController"),
    "replicaSets": ("apps/v1", "ReplicaSet"),
    "statefulSets": ("apps/v1", "StatefulSet"),
}


class Bench:
    """One case, ready to be asked. ``algorithm`` searches node by node, in upstream's order."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        defaults = Defaults(api_defaulting=not case.get("noDefaulting"), merge_match_label_keys=False)
        self._decoder = Decoder(defaults, strict=False)
        core = Setup.of_case(case).scheduler()
        for key, (version, kind) in _OTHERS.items():
            for manifest in case.get(key, ()):
                core.add(self._decode(manifest, kind, version))
        for manifest in case["nodes"]:
            core.add(self.node(manifest))
        for number, manifest in enumerate(case.get("pods", ())):
            core.add(self._existing_pod(manifest, number))
        self.core = core
        (self.framework,) = core.frameworks.values()
        self.pod = self.pod_of(case["pod"])
        core.world.pods[self.pod.key] = self.pod  # listed, though it waits in no queue
        self._snapshot = core.snapshot
        self._snapshot.refresh()
        self.algorithm = PodAlgorithm(core.snapshot, core.nominator, upstream_order=True)

    def _existing_pod(self, manifest: Mapping[str, Any], number: int) -> Pod:
        pod = self.pod_of(manifest)
        if "startTime" in manifest.get("status", {}):
            return pod
        # of equally important victims the recorded scheduler spared those first that were added first
        return evolve(pod, status=evolve(pod.status, start_time=number))

    @property
    def nodes(self) -> Sequence[NodeInfo]:
        return self._snapshot.nodes

    def node(self, manifest: Mapping[str, Any]) -> Node:
        decoded = self._decode(manifest, "Node", "v1")
        assert isinstance(decoded, Node)
        return decoded

    def pod_of(self, manifest: Mapping[str, Any]) -> Pod:
        decoded = self._decode(manifest, "Pod", "v1")
        assert isinstance(decoded, Pod)
        return decoded

    def _decode(self, manifest: Mapping[str, Any], kind: str, version: str) -> ClusterObject:
        (decoded,) = self._decoder.decode({"apiVersion": version, "kind": kind, **manifest}, where=kind)
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
