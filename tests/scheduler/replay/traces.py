"""Small traces for tests: manifests as dicts, traces as files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HEADER = {"gangsched_trace": 1, "name": "test"}


def node(name: str, cpu: str = "4", **more: str) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "110", **more}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": amounts}}


def group(name: str, minimum: int | None, parent: str = "", **annotations: str) -> dict[str, Any]:
    policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    spec: dict[str, Any] = {"schedulingPolicy": policy}
    if parent:
        spec |= {"parentCompositePodGroupName": parent, "workloadRef": {"workloadName": "w", "templateName": name}}
    meta = {"name": name, "annotations": annotations}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec}


def composite(name: str, minimum: int, parent: str = "", **spec: Any) -> dict[str, Any]:
    spec |= {
        "schedulingPolicy": {"gang": {"minGroupCount": minimum}},
        "workloadRef": {"workloadName": "w", "templateName": name},
    }
    if parent:
        spec["parentCompositePodGroupName"] = parent
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "CompositePodGroup",
        "metadata": {"name": name},
        "spec": spec,
    }


def pod(name: str, cpu: str = "1", in_group: str = "", duration: str = "", **spec: Any) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name}
    if duration:
        meta["annotations"] = {"gangsched.dev/duration": duration}
    spec["containers"] = [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]
    if in_group:
        spec["schedulingGroup"] = {"podGroupName": in_group}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def add(time: float, obj: dict[str, Any]) -> dict[str, Any]:
    return {"t": time, "add": obj}


def update(time: float, obj: dict[str, Any]) -> dict[str, Any]:
    return {"t": time, "update": obj}


def delete(time: float, kind: str, name: str) -> dict[str, Any]:
    where = {} if kind == "Node" else {"namespace": "default"}
    return {"t": time, "delete": {"kind": kind, **where, "name": name}}


def write(path: Path, events: Iterable[dict[str, Any] | str], header: dict[str, Any] | str = HEADER) -> str:
    """Write a trace, one line an item (texts as they stand), and return its name."""
    lines = [item if isinstance(item, str) else json.dumps(item) for item in (header, *events)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)
