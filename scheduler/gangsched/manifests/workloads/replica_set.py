"""ReplicaSet and ReplicationController: pods ``NAME-`` plus five digits."""

from __future__ import annotations

from gangsched.manifests.workloads.workload import Member, Workload, require_matching_labels
from gangsched_framework.objects import ClusterObject

_PATH = ("spec", "template")


def expand_replica_set(workload: Workload) -> list[ClusterObject]:
    """The pods of a ReplicaSet or ReplicationController."""
    spec = workload.spec
    replicas = workload.count(spec, "replicas", 1, "spec")
    workload.reserve(replicas, "spec", "replicas")
    if workload.context.strict:
        require_matching_labels(spec)
    member = Member(generate_name=f"{workload.meta.name}-")
    return [*workload.pods(spec.get("template"), _PATH, (member for _ in range(replicas)), workload.owner)]
