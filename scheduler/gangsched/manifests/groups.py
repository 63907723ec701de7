"""PodGroup and CompositePodGroup (spec podgroup-scheduling.md §1.2-1.3)."""

from __future__ import annotations

from typing import Any, Literal

from gangsched.manifests.context import GROUPS, Context
from gangsched.manifests.errors import InputError
from gangsched.manifests.fields import Raw, each
from gangsched.manifests.metadata import Metadata
from gangsched.manifests.pod_status import read_condition
from gangsched.manifests.validation.groups import validate_group
from gangsched_framework.objects import CompositePodGroup, PodGroup


def read_pod_group(context: Context, manifest: Raw, meta: Metadata) -> PodGroup:
    """A leaf group; ``gang.minCount`` is its minimum."""
    context.warn_off(GROUPS)
    context.learn_pod_group(manifest.get("apiVersion") or "", f"{meta.namespace}/{meta.name}")
    return PodGroup(**_fields(context, manifest, meta, "minCount"))


def read_composite_pod_group(context: Context, manifest: Raw, meta: Metadata) -> CompositePodGroup:
    """An inner group; ``gang.minGroupCount`` is its minimum."""
    context.warn_off("CompositePodGroup" if context.groups else GROUPS)
    return CompositePodGroup(**_fields(context, manifest, meta, "minGroupCount"))


def _fields(context: Context, manifest: Raw, meta: Metadata, minimum: str) -> dict[str, Any]:
    spec: Raw = manifest.get("spec") or {}
    if context.strict:
        validate_group(manifest, minimum)
    if spec.get("resourceClaims"):
        context.warn_once("group resourceClaims", "spec.resourceClaims: is not modelled and decides nothing here")
    if context.gates and context.groups:
        _name_gated(context, spec)
    gang = (spec.get("schedulingPolicy") or {}).get("gang")
    topology = (spec.get("schedulingConstraints") or {}).get("topology") or ()
    class_name = spec.get("priorityClassName") or ""
    priority = spec.get("priority")
    try:
        known = context.class_of(class_name, priority)
    except InputError as error:
        raise error.under("spec") from None
    if priority is None and known is not None:
        priority = known.value
    status: Raw = manifest.get("status") or {}
    mode: Literal["single", "all"] = "all" if (spec.get("disruptionMode") or {}).get("all") is not None else "single"
    return {
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "minimum": None if gang is None else gang.get(minimum) or 0,
        "parent_name": spec.get("parentCompositePodGroupName") or "",
        "priority": priority,
        "priority_class_name": class_name,
        "preemption_policy": spec.get("preemptionPolicy") or None,
        "disruption_mode": mode,
        "topology_key": (topology[0].get("key") or "") if topology else "",
        "labels": meta.labels,
        "annotations": meta.annotations,
        "creation_timestamp": meta.creation_timestamp,
        "generation": meta.generation,
        "conditions": each(status, "conditions", lambda condition: read_condition(context, condition)),
    }


def _name_gated(context: Context, spec: Raw) -> None:
    if spec.get("preemptionPolicy"):
        context.warn_off("PodGroupPreemptionPolicy", "spec.preemptionPolicy")
    if spec.get("parentCompositePodGroupName"):
        context.warn_off("CompositePodGroup", "spec.parentCompositePodGroupName")
    if (spec.get("schedulingConstraints") or {}).get("topology"):
        context.warn_off("TopologyAwareWorkloadScheduling", "spec.schedulingConstraints.topology")
