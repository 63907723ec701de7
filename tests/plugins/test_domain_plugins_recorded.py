"""PodTopologySpread and InterPodAffinity alone against the recordings: every row of node-plugins.md §7.9 and §7.10.

The conformance test plays the same cases through the whole pipeline; here a failure points at the plugin.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gangsched.manifests.context import Defaults
from gangsched.manifests.decoder import Decoder
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import ClusterEventWithHint
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import ClusterObject, Namespace, Node, Pod, SelectorOwner
from gangsched_framework.status import Code, Status
from gangsched_framework.testing import FakeHandle, FakeNominations, make_snapshot
from gangsched_plugins.inter_pod_affinity import InterPodAffinity
from gangsched_plugins.pod_topology_spread import PodTopologySpread

HERE = Path(__file__).parent.parent
RECORDINGS = HERE / "conformance" / "node-plugins"
SHARED = HERE.parent.parent / "shared" / "conformance" / "node-plugins"
CLASSES = (PodTopologySpread, InterPodAffinity)
KINDS = {
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
    "namespaces": ("v1", "Namespace"),
    "services": ("v1", "Service"),
    "replicationControllers": ("v1", "ReplicationController"),
    "replicaSets": ("apps/v1", "ReplicaSet"),
    "statefulSets": ("apps/v1", "StatefulSet"),
}

Json = Mapping[str, Any]


class Recorded:
    """One recorded case and what the two plugins say of it."""

    def __init__(self, case: Json) -> None:
        self.case, self.want = case, case["want"]
        defaults = Defaults(api_defaulting=not case.get("noDefaulting"), merge_match_label_keys=False)
        self._decoder = Decoder(defaults, strict=False)
        objects = [self.read(manifest, *kind) for key, kind in KINDS.items() for manifest in case.get(key, ())]
        pods = [each for each in objects if isinstance(each, Pod)]
        self.handle = FakeHandle(
            make_snapshot([each for each in objects if isinstance(each, Node)], pods),
            nominations=FakeNominations(),
            namespaces={each.name: each for each in objects if isinstance(each, Namespace)},
            selector_owners=[each for each in objects if isinstance(each, SelectorOwner)],
            feature_gates=dict(case.get("gates", {})),
        )
        for pod in pods:
            if pod.status.nominated_node_name and not pod.node_name:
                self.handle.nominations.nominate(pod, pod.status.nominated_node_name)
        self.pod = self.read_pod(case["pod"])
        profile = case.get("profile", {})
        args = {entry["name"]: entry["args"] for entry in profile.get("pluginConfig", ())}
        self.plugins: list[Any] = [cls(args.get(cls.name, {}), self.handle) for cls in CLASSES]
        self.state = CycleState()

    def read(self, manifest: Json, version: str, kind: str) -> ClusterObject:
        (decoded,) = self._decoder.decode({"apiVersion": version, "kind": kind} | dict(manifest))
        return decoded

    def read_pod(self, manifest: Json) -> Pod:
        decoded = self.read(manifest, "v1", "Pod")
        assert isinstance(decoded, Pod)
        return decoded

    def node(self, name: str) -> NodeInfo:
        info = self.handle.snapshot.node(name)
        assert info is not None
        return info

    # --- filtering ------------------------------------------------------------------------------------------------

    def check_filter(self) -> None:
        recorded = self.want["preFilter"]
        skipped: list[str] = []
        for plugin in self.plugins:
            _, status = plugin.pre_filter(self.state, self.pod, self.handle.snapshot.nodes)
            if status is not None and status.code is not Code.SKIP:
                stopped = recorded["status"]
                assert (stopped["code"], stopped["plugin"]) == (status.code.value, plugin.name)
                assert stopped["reasons"][0].endswith(status.message)
                return
            if status is not None:
                skipped.append(plugin.name)
        if "status" in recorded:
            return  # another plugin stopped the pod first
        assert skipped == [plugin.name for plugin in self.plugins if plugin.name in recorded.get("skip", ())]
        awake = [plugin for plugin in self.plugins if plugin.name not in skipped]
        for entry in self.want["filter"]:
            if entry["code"] != "Excluded":
                self._check_node(entry, self._refusal(self.node(entry["node"]), awake))

    def _refusal(self, node: NodeInfo, awake: list[Any]) -> Status | None:
        """With the node's nominated pods of at least the pod's priority counted in, then without (spec §4.2.2)."""
        snapshot, mark, state = self.handle.snapshot, self.handle.snapshot.mark(), self.state.clone()
        others = [p for p in self.handle.nominations.nominated_pods(node.name) if p.priority >= self.pod.priority]
        for other in others:
            snapshot.assume(other, node.name)
            for plugin in awake:
                assert plugin.add_pod(state, self.pod, other, node) is None
        answers = [plugin.filter(state, self.pod, node) for plugin in awake]
        snapshot.rollback(mark)
        answers += [plugin.filter(self.state, self.pod, node) for plugin in awake]
        return next((answer for answer in answers if answer is not None), None)

    def _check_node(self, entry: Json, got: Status | None) -> None:
        if entry["code"] == "Success":
            assert got is None, entry
        elif entry["plugin"] in [plugin.name for plugin in self.plugins]:
            assert got is not None, entry
            assert (got.code.value, got.plugin, list(got.reasons)) == (entry["code"], entry["plugin"], entry["reasons"])

    # --- scoring --------------------------------------------------------------------------------------------------

    def check_scores(self) -> None:
        feasible = [self.node(name) for name in self.want["feasible"]]
        entries = {entry["node"]: entry for entry in self.want.get("scores", ())}
        for plugin in self.plugins if entries else ():
            status = plugin.pre_score(self.state, self.pod, feasible)
            recorded = {name: entry["raw"].get(plugin.name) for name, entry in entries.items()}
            if plugin.name in self.want["preScoreSkip"]:
                assert status is not None
                assert status.code is Code.SKIP
            elif any(value is not None for value in recorded.values()):  # else the profile left the plugin out
                assert status is None
                scores = [plugin.score(self.state, self.pod, node) for node in feasible]
                assert dict(zip(self.want["feasible"], scores, strict=True)) == recorded
                plugin.normalize_score(self.state, self.pod, feasible, scores)
                assert scores == [entries[node.name]["normalized"][plugin.name] for node in feasible]

    # --- hints ----------------------------------------------------------------------------------------------------

    def check_hints(self) -> None:
        for change, events in zip(self.case.get("hints", ()), self.want.get("hints", ()), strict=True):
            kind = "Node" if change["object"] == "Node" else "Pod"
            old, new = (self.read(change[key], "v1", kind) if key in change else None for key in ("old", "new"))
            asked: Any = new if change["object"] == "TargetPod" else self.pod
            for entry in events:
                for plugin in self.plugins:
                    registered = [r for r in plugin.events_to_register() if _covers(r, entry["event"])]
                    hints: list[Any] = [r.hint for r in registered]
                    answers = [hint(asked, old, new).value for hint in hints]
                    recorded = entry["plugins"].get(plugin.name)
                    assert answers == ([] if recorded is None else [recorded]), (plugin.name, change)


def _covers(registration: ClusterEventWithHint, event: str) -> bool:
    resource, _, actions = registration.event.label.partition("/")
    return event.partition("/")[0] == resource and event.partition("/")[2] in actions.split("|")


def _rows() -> Iterator[Json]:
    for name in ("pod-topology-spread", "inter-pod-affinity"):
        yield from json.loads((RECORDINGS / "cases" / f"{name}.json").read_text(encoding="utf-8"))["cases"]


def _check(case: Json) -> None:
    recorded = Recorded(case)
    recorded.check_filter()
    recorded.check_scores()
    recorded.check_hints()


@pytest.mark.parametrize("case", list(_rows()), ids=lambda case: case["name"])
def test_row(case: Json) -> None:
    _check(case)


@pytest.mark.parametrize("folder", [RECORDINGS, pytest.param(SHARED, marks=pytest.mark.slow)], ids=["some", "all"])
def test_random_cases(folder: Path) -> None:
    if not folder.exists():
        pytest.skip("the recordings are not here")
    with gzip.open(folder / "random.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            _check(json.loads(line))
