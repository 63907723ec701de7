"""Nodes (spec node-plugins.md §3.6)."""

from __future__ import annotations

from functools import lru_cache

from gangsched.manifests.amounts import amounts_of
from gangsched.manifests.context import Context
from gangsched.manifests.fields import Raw, each, part
from gangsched.manifests.metadata import Metadata
from gangsched.manifests.validation.cluster import validate_node
from gangsched_framework.objects import ContainerImage, Node, Taint
from gangsched_framework.pod_requests import resources_from_amounts
from gangsched_framework.resources import Resources


def read_node(context: Context, manifest: Raw, meta: Metadata) -> Node:
    """A node; ``allocatable`` absent reads as ``capacity`` (spec §3.1.2)."""
    if context.strict:
        validate_node(manifest)
    spec: Raw = manifest.get("spec") or {}
    status: Raw = manifest.get("status") or {}
    field = "allocatable"
    if context.defaults.api_defaulting and status.get(field) is None:
        field = "capacity"
    round_up = context.defaults.api_defaulting
    amounts = part(status, field, lambda raw: tuple(amounts_of(raw, round_up=round_up).items())) or ()
    return Node(
        name=meta.name,
        uid=meta.uid,
        labels=meta.labels,
        annotations=meta.annotations,
        creation_timestamp=meta.creation_timestamp,
        allocatable=_resources(amounts),
        written_allocatable=_written(amounts),
        unschedulable=bool(spec.get("unschedulable")),
        taints=each(spec, "taints", _taint),
        images=each(status, "images", _image),
        conditions=each(status, "conditions", lambda c: (c.get("type") or "", c.get("status") or "")),
        declared_features=tuple(status.get("declaredFeatures") or ()),
    )


@lru_cache(maxsize=1024)
def _resources(amounts: tuple[tuple[str, int], ...]) -> Resources:
    """One vector for all nodes of a type."""
    return resources_from_amounts(dict(amounts))


@lru_cache(maxsize=1024)
def _written(amounts: tuple[tuple[str, int], ...]) -> dict[str, int]:
    return dict(amounts)


def _taint(raw: Raw) -> Taint:
    return Taint(raw.get("key") or "", raw.get("value") or "", raw.get("effect") or "")


def _image(raw: Raw) -> ContainerImage:
    return ContainerImage(tuple(raw.get("names") or ()), raw.get("sizeBytes") or 0)
