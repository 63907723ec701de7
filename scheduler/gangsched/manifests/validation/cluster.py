"""Validation of nodes, classes, budgets and selector owners."""

from __future__ import annotations

import re

from gangsched.manifests.errors import InputError, describe, found, missing
from gangsched.manifests.fields import Raw, each, need, one_of, part, unique
from gangsched.manifests.names import LABEL_VALUE, require_qualified, validate_labels
from gangsched.manifests.validation.groups import MAX_USER_PRIORITY
from gangsched.manifests.validation.pods import validate_toleration
from gangsched.manifests.validation.resources import require_whole
from gangsched.manifests.validation.selectors import validate_label_selector
from gangsched_framework.words import EFFECTS, PREEMPTION_POLICIES

_SYSTEM = "system-"
_BUILT_IN = ("system-node-critical", "system-cluster-critical")
_AMOUNTS = ("capacity", "allocatable")
_PERCENTAGE = re.compile(r"(\d{1,2}|100)%", re.ASCII)


def validate_node(manifest: Raw) -> None:
    """Taints, resource names, whole numbers of pods and devices."""
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    part(manifest, "spec", lambda _: each(spec, "taints", _validate_taint))
    part(manifest, "spec", lambda _: unique(spec, "taints", lambda taint: (taint.get("key"), taint.get("effect"))))
    for field in _AMOUNTS:
        for name in status.get(field) or {}:
            require_qualified(name, "status", field, name)
    part(manifest, "status", _require_whole_amounts)


def validate_priority_class(manifest: Raw) -> None:
    """The value, which only the built-in classes may have above a thousand million."""
    if manifest.get("value") is None:
        raise missing("value", "a whole number")
    name, value = (manifest.get("metadata") or {}).get("name") or "", manifest["value"]
    if name.startswith(_SYSTEM) and name not in _BUILT_IN:
        raise found(describe(name), f"no name with the reserved prefix {_SYSTEM}", "metadata", "name")
    if value > MAX_USER_PRIORITY and name not in _BUILT_IN:
        raise found(describe(value), f"at most {MAX_USER_PRIORITY}", "value")
    one_of(manifest, "preemptionPolicy", PREEMPTION_POLICIES)


def validate_runtime_class(manifest: Raw) -> None:
    """The handler and what it adds to pods."""
    need(manifest, "handler", "the name of a handler")
    scheduling = manifest.get("scheduling") or {}
    part(manifest, "scheduling", lambda _: each(scheduling, "tolerations", validate_toleration))
    if scheduling.get("nodeSelector"):
        validate_labels(scheduling["nodeSelector"], "scheduling", "nodeSelector")


def validate_disruption_budget(manifest: Raw) -> None:
    """At most one of the two bounds, each a count or a percentage."""
    spec = manifest.get("spec") or {}
    bounds = [name for name in ("minAvailable", "maxUnavailable") if spec.get(name) is not None]
    if len(bounds) > 1:
        raise found(" and ".join(bounds), "at most one of them", "spec")
    for name in bounds:
        bound = spec[name]
        if bound < 0 if isinstance(bound, int) else not _PERCENTAGE.fullmatch(bound):
            raise found(describe(bound), "a whole number of at least 0 or a percentage such as 50%", "spec", name)
    part(manifest, "spec", lambda _: part(spec, "selector", validate_label_selector))
    allowed = (manifest.get("status") or {}).get("disruptionsAllowed")
    if allowed is not None and allowed < 0:
        raise found(describe(allowed), "at least 0", "status", "disruptionsAllowed")


def validate_selector_owner(manifest: Raw) -> None:
    """The selector: labels, or a label selector that must be there for controllers."""
    spec = manifest.get("spec") or {}
    if manifest["kind"] in ("Service", "ReplicationController"):
        if spec.get("selector"):
            validate_labels(spec["selector"], "spec", "selector")
        return
    validate_selector(spec)


def validate_selector(spec: Raw) -> None:
    """The label selector a controller must have."""
    if not spec.get("selector"):
        raise missing("selector", "a label selector").under("spec")
    try:
        part(spec, "selector", validate_label_selector)
    except InputError as error:
        raise error.under("spec") from None


def _require_whole_amounts(status: Raw) -> None:
    for field in _AMOUNTS:
        part(status, field, require_whole)


def _validate_taint(raw: Raw) -> None:
    require_qualified(need(raw, "key", "a name"), "key")
    LABEL_VALUE.require(raw.get("value") or "", "value")
    need(raw, "effect", ", ".join(EFFECTS))
    one_of(raw, "effect", EFFECTS)
