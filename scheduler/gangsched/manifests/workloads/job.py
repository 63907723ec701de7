"""Job (batch/v1): pods ``NAME-`` or, indexed, ``NAME-INDEX-``, plus five digits; with ``spec.scheduling`` a PodGroup.

The PodGroup bears the name of the job; a real controller appends a hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gangsched.manifests.context import GROUPS
from gangsched.manifests.errors import InputError, Step, missing, not_one_of
from gangsched.manifests.fields import Raw
from gangsched.manifests.groups import read_pod_group
from gangsched.manifests.metadata import Metadata
from gangsched.manifests.workloads.workload import Member, Owner, Workload
from gangsched_framework.errors import path_text
from gangsched_framework.objects import ClusterObject, PodGroup

API_VERSION = "batch/v1"
INDEX = "batch.kubernetes.io/job-completion-index"
_RESTART_POLICIES = ("OnFailure", "Never")


def expand_job(workload: Workload) -> list[ClusterObject]:
    """The pods of a Job and its PodGroup, if it wants one."""
    return expand_job_spec(workload, workload.spec, workload.meta.name, ("spec",))


def expand_job_spec(
    workload: Workload,
    spec: Raw,
    name: str,
    path: tuple[Step, ...],
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> list[ClusterObject]:
    """The pods of the job ``name`` with ``spec``, which stands at ``path`` of the workload.

    ``labels`` and ``annotations`` are added to its pods; ``defaults`` are those of the pod spec.
    """
    pods = _pod_count(workload, spec, path)
    workload.reserve(pods, *path, "parallelism")
    template = spec.get("template") or {}
    if workload.context.strict and template:
        _validate_restart_policy(template, defaults or {}, path)
    if spec.get("suspend"):
        workload.suspended()
        pods = 0
    group = _group(workload, spec, name, pods, path)
    members = _members(spec, name, pods, {**_labels(workload, name), **(labels or {})}, annotations or {})
    owner = Owner(API_VERSION, "Job", name)
    made = workload.pods(
        spec.get("template"),
        (*path, "template"),
        members,
        owner,
        group=group.name if group else "",
        defaults=defaults,
    )
    return [*([group] if group else []), *made]


def _pod_count(workload: Workload, spec: Raw, path: tuple[Step, ...]) -> int:
    """How many pods the job has at once: its parallelism, but no more than it has completions."""
    parallelism = workload.count(spec, "parallelism", 1, *path)
    completions = workload.count(spec, "completions", parallelism, *path)
    mode = spec.get("completionMode") or "NonIndexed"
    if mode not in ("NonIndexed", "Indexed"):
        raise not_one_of(mode, ("NonIndexed", "Indexed"), *path, "completionMode")
    if mode == "Indexed" and spec.get("completions") is None and workload.context.strict:
        raise missing("completions", "a number, as the job is Indexed").under(*path)
    return min(parallelism, completions)


def _members(
    spec: Raw, name: str, pods: int, labels: Mapping[str, str], annotations: Mapping[str, str]
) -> Iterator[Member]:
    for index in range(pods):
        if spec.get("completionMode") == "Indexed":
            number = {INDEX: str(index)}
            yield Member("", f"{name}-{index}-", {**labels, **number}, {**annotations, **number})
        else:
            yield Member("", f"{name}-", labels, annotations)


def _labels(workload: Workload, name: str) -> dict[str, str]:
    """The labels the job controller adds; the uid's signs that no label may have are replaced."""
    uid = workload.meta.uid.replace("|", ".").replace("/", ".").replace("#", ".")[-63:].lstrip("-_.")
    return {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }


def _group(workload: Workload, spec: Raw, name: str, pods: int, path: tuple[Step, ...]) -> PodGroup | None:
    """The group that ``spec.scheduling`` asks for; without it the pods are scheduled one by one."""
    scheduling = spec.get("scheduling")
    if scheduling is None:
        return None
    if not workload.context.groups:
        workload.context.warn_off(GROUPS, path_text((*path, "scheduling")))
        return None
    policy = scheduling.get("schedulingPolicy") or {"basic": {}}
    if policy.get("gang") is not None and policy["gang"].get("minCount") is None:
        policy = {**policy, "gang": {"minCount": max(1, pods)}}  # the default is the parallelism
    template = (spec.get("template") or {}).get("spec") or {}
    group = {
        **{key: value for key, value in scheduling.items() if value is not None},
        "schedulingPolicy": policy,
        "priorityClassName": template.get("priorityClassName"),
        "priority": template.get("priority"),
    }
    meta = workload.meta
    identity = Metadata(
        meta.namespace,
        name,
        workload.context.new_uid("PodGroup", f"{meta.namespace}/{name}"),
        meta.labels,
        meta.annotations,
        meta.creation_timestamp,
        None,
        1,
        ("Job", name),
    )
    try:
        return read_pod_group(workload.context, {"spec": group}, identity)
    except InputError as error:
        error.path = (*path, "scheduling", *error.path[1:])
        raise


def _validate_restart_policy(template: Raw, defaults: Mapping[str, Any], path: tuple[Step, ...]) -> None:
    policy = (template.get("spec") or {}).get("restartPolicy") or defaults.get("restartPolicy") or "Always"
    if policy not in _RESTART_POLICIES:
        raise not_one_of(policy, _RESTART_POLICIES, *path, "template", "spec", "restartPolicy")
