"""JobSet (jobset.x-k8s.io/v1alpha2): jobs ``SET-REPLICATEDJOB-INDEX``, indexed by default, and their pods."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from gangsched.manifests.errors import InputError, found
from gangsched.manifests.fields import Raw, each, need, unique
from gangsched.manifests.names import DNS_LABEL
from gangsched.manifests.workloads.job import expand_job_spec
from gangsched.manifests.workloads.workload import MAX_PODS, Workload
from gangsched_framework.objects import ClusterObject

_PREFIX = "jobset.sigs.k8s.io/"
_RESTART_POLICY = {"restartPolicy": "OnFailure"}
"""What the webhook of JobSet gives to pod templates without one."""


def expand_job_set(workload: Workload) -> list[ClusterObject]:
    """The pods of all replicas of all replicated jobs, in the order they are listed."""
    spec = workload.spec
    if workload.context.strict:
        _validate(workload, spec)
    for name in ("scheduling", "startupPolicy"):
        if spec.get(name) is not None:
            workload.unmodelled(f"spec.{name}")
    if spec.get("suspend"):
        workload.suspended()
        return []
    replicated: list[Raw] = list(spec.get("replicatedJobs") or ())
    total = sum(workload.count(job, "replicas", 1) for job in replicated)
    if total > MAX_PODS:  # jobs without pods, too, take time
        raise found(f"{total} jobs", f"at most {MAX_PODS}", "spec", "replicatedJobs")
    objects: list[ClusterObject] = []
    first = 0
    for index, job in enumerate(replicated):
        if job.get("dependsOn"):
            workload.unmodelled("spec.replicatedJobs[].dependsOn")
        replicas = workload.count(job, "replicas", 1, "spec", "replicatedJobs", index)
        for replica in range(replicas):
            objects += _job(
                workload, job, index, replica, {"global-replicas": total, "job-global-index": first + replica}
            )
        first += replicas
    return objects


def _job(
    workload: Workload, replicated: Raw, index: int, replica: int, numbers: Mapping[str, int]
) -> list[ClusterObject]:
    meta = workload.meta
    name = f"{meta.name}-{replicated.get('name') or ''}-{replica}"
    own = {
        "jobset-name": meta.name,
        "replicatedjob-name": replicated.get("name") or "",
        "replicatedjob-replicas": replicated.get("replicas") or 1,
        "job-index": replica,
        "job-key": hashlib.sha256(f"{meta.namespace}/{name}".encode()).hexdigest()[:40],
        "group-name": replicated.get("groupName") or "default",
        "restart-attempt": 0,
        **numbers,
    }
    marks = {f"{_PREFIX}{key}": str(value) for key, value in own.items()}
    spec = dict((replicated.get("template") or {}).get("spec") or {})
    if not spec.get("completionMode"):
        spec["completionMode"] = "Indexed"
        spec["completions"] = spec.get("completions") or spec.get("parallelism") or 1
    path = ("spec", "replicatedJobs", index, "template", "spec")
    return expand_job_spec(workload, spec, name, path, labels=marks, annotations=marks, defaults=_RESTART_POLICY)


def _validate(workload: Workload, spec: Raw) -> None:
    try:
        each(spec, "replicatedJobs", lambda job: DNS_LABEL.require(need(job, "name", "a name"), "name"))
        unique(spec, "replicatedJobs", lambda job: job.get("name"), "name")
        each(spec, "replicatedJobs", lambda job: workload.count(job, "replicas", 1))
    except InputError as error:
        raise error.under("spec") from None
