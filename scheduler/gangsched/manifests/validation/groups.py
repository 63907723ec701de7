"""Validation of PodGroups and CompositePodGroups (spec podgroup-scheduling.md §1.2-1.3)."""

from __future__ import annotations

from gangsched.manifests.errors import InputError, describe, found, missing
from gangsched.manifests.fields import Raw, each, need, one_of
from gangsched.manifests.names import DNS_LABEL, DNS_SUBDOMAIN, require_qualified
from gangsched_framework.words import PREEMPTION_POLICIES

MAX_USER_PRIORITY = 1_000_000_000
"""Highest priority a user may give; above are the built-in classes (spec §1.2.7)."""


def validate_group(manifest: Raw, minimum: str) -> None:
    """Refuse what the API server refuses. ``minimum``: ``minCount``, or ``minGroupCount`` of composite groups."""
    spec = manifest.get("spec")
    if spec is None:
        raise missing("spec", "a group spec")
    try:
        _validate_spec(spec, minimum)
    except InputError as error:
        raise error.under("spec") from None


def _validate_spec(spec: Raw, minimum: str) -> None:
    composite = minimum == "minGroupCount"
    gang = _validate_policy(spec, minimum)
    disruption = spec.get("disruptionMode")
    if disruption is not None:
        modes = [name for name in ("single", "all") if disruption.get(name) is not None]
        if len(modes) != 1:
            raise found(" and ".join(modes) or "neither", "exactly one of single and all", "disruptionMode")
        if modes == ["all"] and not gang and not composite:
            raise found("all with the basic policy", "all with the gang policy", "disruptionMode")
    topology = (spec.get("schedulingConstraints") or {}).get("topology") or ()
    if len(topology) > 1:
        raise found(f"{len(topology)} constraints", "at most one", "schedulingConstraints", "topology")
    for index, constraint in enumerate(topology):
        path = ("schedulingConstraints", "topology", index)
        try:
            require_qualified(need(constraint, "key", "a node label key"), "key")
        except InputError as error:
            raise error.under(*path) from None
    _validate_links(spec, composite)
    if spec.get("priorityClassName"):
        DNS_SUBDOMAIN.require(spec["priorityClassName"], "priorityClassName")
    priority = spec.get("priority")
    if priority is not None and priority > MAX_USER_PRIORITY and not spec.get("priorityClassName"):
        raise found(describe(priority), f"at most {MAX_USER_PRIORITY}", "priority")
    one_of(spec, "preemptionPolicy", PREEMPTION_POLICIES)
    each(spec, "resourceClaims", lambda claim: need(claim, "name", "a name"))


def _validate_policy(spec: Raw, minimum: str) -> bool:
    """Whether the policy is ``gang``."""
    policy = spec.get("schedulingPolicy")
    if policy is None:
        raise missing("schedulingPolicy", "exactly one of basic and gang")
    kinds = [name for name in ("basic", "gang") if policy.get(name) is not None]
    if len(kinds) != 1:
        raise found(" and ".join(kinds) or "neither", "exactly one of basic and gang", "schedulingPolicy")
    if kinds == ["basic"]:
        return False
    count = policy["gang"].get(minimum)
    if count is None or count < 1:
        what = "nothing" if count is None else describe(count)
        raise found(what, "a whole number of at least 1", "schedulingPolicy", "gang", minimum)
    return True


def _validate_links(spec: Raw, composite: bool) -> None:
    parent, workload = spec.get("parentCompositePodGroupName"), spec.get("workloadRef")
    if parent is not None:
        if not parent:
            raise found("empty text", "the name of a CompositePodGroup", "parentCompositePodGroupName")
        DNS_SUBDOMAIN.require(parent, "parentCompositePodGroupName")
    if workload is None:
        if parent is not None or composite:
            reason = "as the group has a parent" if parent is not None else "as every CompositePodGroup has one"
            raise missing("workloadRef", f"a workloadRef, {reason}")
        return
    for name, syntax in (("workloadName", DNS_SUBDOMAIN), ("templateName", DNS_LABEL)):
        try:
            syntax.require(need(workload, name, "a name"), name)
        except InputError as error:
            raise error.under("workloadRef") from None
