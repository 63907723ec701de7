"""Tenants: Volcano's Queue, and how its PodGroup names one (spec fair-share.md §3.4 D13, §4.1, K14)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

from gangsched.manifests.amounts import amounts_of
from gangsched.manifests.context import Context
from gangsched.manifests.errors import InputError, describe, found
from gangsched.manifests.fields import Raw, one_of, part
from gangsched.manifests.groups import read_pod_group
from gangsched.manifests.metadata import Metadata
from gangsched_framework.objects import DEFAULT_QUEUE, QUEUE_NAME, PodGroup, Queue

HIERARCHY = "volcano.sh/hierarchy"
HIERARCHY_WEIGHTS = "volcano.sh/hierarchy-weights"
_STATES = ("Open", "Closed", "Closing", "Unknown")
_ROOT = "root"


def read_queue(context: Context, manifest: Raw, meta: Metadata) -> Queue:
    """A Queue. A weight that is unset or 0 counts as 1 (architecture.md §11)."""
    spec: Raw = manifest.get("spec") or {}
    status: Raw = manifest.get("status") or {}
    if context.strict:
        try:
            _validate(spec)
        except InputError as error:
            raise error.under("spec") from None
        part(manifest, "status", lambda raw: one_of(raw, "state", _STATES))
    if spec.get("weight") == 0:
        context.warn_once("Queue weight", "spec.weight: 0 counts as 1, as Volcano's admission makes it")
    amounts = {name: _amounts(spec, name) for name in ("capability", "deserved")}
    return Queue(
        name=meta.name,
        uid=meta.uid,
        weight=spec.get("weight") or 1,
        capability=amounts["capability"],
        guarantee=_amounts(spec.get("guarantee") or {}, "resource"),
        deserved=amounts["deserved"],
        parent=spec.get("parent") or "",
        priority=spec.get("priority") or 0,
        reclaimable=spec.get("reclaimable") is not False,
        state=status.get("state") or "Open",
        annotations=_with_hierarchy(meta.annotations),
        creation_timestamp=meta.creation_timestamp,
    )


def read_volcano_pod_group(context: Context, manifest: Raw, meta: Metadata) -> PodGroup:
    """A PodGroup of scheduling.volcano.sh: a gang of ``minMember``; its ``queue`` becomes the annotation."""
    spec: Raw = manifest.get("spec") or {}
    minimum = spec.get("minMember") or 0
    if context.strict and minimum < 0:
        raise found(describe(minimum), "at least 0", "spec", "minMember")
    for name in ("minResources", "minTaskMember", "networkTopology", "subGroupPolicy"):
        if spec.get(name):
            context.warn_once(f"PodGroup {name}", f"spec.{name}: is not modelled and decides nothing here")
    policy: Raw = {"gang": {"minCount": minimum}} if minimum else {"basic": {}}
    group = {"schedulingPolicy": policy, "priorityClassName": spec.get("priorityClassName")}
    queue = {QUEUE_NAME: spec.get("queue") or DEFAULT_QUEUE}
    identity = Metadata(
        meta.namespace,
        meta.name,
        meta.uid,
        meta.labels,
        {**meta.annotations, **queue},
        meta.creation_timestamp,
        meta.deletion_timestamp,
        meta.generation,
        meta.owner,
    )
    return read_pod_group(context, {"apiVersion": manifest["apiVersion"], "spec": group}, identity)


def _amounts(spec: Raw, name: str) -> Mapping[str, int] | None:
    return part(spec, name, lambda raw: amounts_of(raw, round_up=True))


def _validate(spec: Raw) -> None:
    """What Volcano's webhooks refuse: a negative weight; unless guarantee ≤ deserved ≤ capability (K14)."""
    weight = spec.get("weight") or 0
    if weight < 0:
        raise found(describe(weight), "a whole number of at least 1", "weight")
    amounts = {
        ("guarantee", "resource"): _amounts(spec.get("guarantee") or {}, "resource") or {},
        ("deserved",): _amounts(spec, "deserved") or {},
        ("capability",): _amounts(spec, "capability") or {},
    }
    for (path, lower), (other, upper) in combinations(amounts.items(), 2):
        for resource, amount in lower.items():
            if amount > upper.get(resource, amount):
                raise found(f"more than {other[0]}", f"at most the {resource} of {other[0]}", *path, resource)


def _with_hierarchy(annotations: Mapping[str, str]) -> Mapping[str, str]:
    """The annotations with ``root`` and its weight in front of path and weights where they miss (D13)."""
    path, weights = annotations.get(HIERARCHY), annotations.get(HIERARCHY_WEIGHTS, "")
    if not path:
        if count := weights.count("/"):  # no path counts as one segment
            where = ("metadata", "annotations", HIERARCHY_WEIGHTS)
            raise found(f"{count + 1} weights", f"one, as there is no {HIERARCHY}", *where)
        return annotations
    if path.split("/")[0] != _ROOT:
        path, weights = f"{_ROOT}/{path}", f"1/{weights}"
    _check_hierarchy(path, weights)
    return {**annotations, HIERARCHY: path, HIERARCHY_WEIGHTS: weights}


def _check_hierarchy(path: str, weights: str) -> None:
    names, texts = path.split("/"), weights.split("/")
    if not all(names):
        raise found(describe(path), "names with / between them", "metadata", "annotations", HIERARCHY)
    where = ("metadata", "annotations", HIERARCHY_WEIGHTS)
    if len(texts) != len(names):
        raise found(f"{len(texts)} weights", f"{len(names)}, one for each level of {path}", *where)
    if not all(_is_weight(text) for text in texts):
        raise found(describe(weights), "positive numbers with / between them", *where)


def _is_weight(text: str) -> bool:
    try:
        weight = float(text)
    except ValueError:
        return False
    return weight > 0 and math.isfinite(weight)
