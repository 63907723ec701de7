"""What the configuration tests share: the recordings, and a registry that serves exactly the recorded points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gangsched_framework.profile import POINTS
from gangsched_framework.registry import Registry

RECORDINGS = Path(__file__).resolve().parents[4] / "shared" / "conformance" / "node-plugins"

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}

# Spec node-plugins.md §1.1, as facts.json has it for all group gates; GangScheduling without Permit (DIV-9).
SERVES = {
    "SchedulingGates": "preEnqueue",
    "PrioritySort": "queueSort",
    "NodeName": "preFilter filter",
    "NodeUnschedulable": "preFilter filter",
    "TaintToleration": "preFilter filter preScore score",
    "NodeAffinity": "preFilter filter preScore score",
    "NodePorts": "preFilter filter",
    "NodeResourcesFit": "preFilter filter preScore score placementScore",
    "VolumeRestrictions": "preFilter filter",
    "NodeVolumeLimits": "preFilter filter",
    "VolumeBinding": "preFilter filter preScore score reserve preBind",
    "VolumeZone": "preFilter filter",
    "PodTopologySpread": "preFilter filter preScore score",
    "InterPodAffinity": "preFilter filter preScore score",
    "DynamicResources": "preEnqueue preFilter filter postFilter podGroupPostFilter score reserve preBind",
    "DefaultPreemption": "preEnqueue postFilter podGroupPostFilter",
    "NodeResourcesBalancedAllocation": "preScore score",
    "ImageLocality": "score",
    "DefaultBinder": "bind",
    "NodeDeclaredFeatures": "preFilter filter",
    "GangScheduling": "preEnqueue placementFeasible",
    "TopologyPlacementGenerator": "placementGenerate",
    "PodGroupPodsCount": "placementScore",
    # Not of the default profile.
    "Packer": "score",
    "OtherSort": "queueSort",
    "OtherBinder": "bind",
}


def _plugin(name: str, points: str) -> type[Any]:
    methods = {method: (lambda self, *_: None) for point in points.split() for method in POINTS[point]}
    return type(name, (), {"name": name, **methods})


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry({name: _plugin(name, points) for name, points in SERVES.items()})


def recording(name: str) -> dict[str, Any]:
    """A file of the recordings; {} when they are not there."""
    path = RECORDINGS / name
    if not path.exists():
        return {}
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
