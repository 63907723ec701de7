"""StatefulSet: pods ``NAME-ORDINAL``."""

from __future__ import annotations

from gangsched.manifests.workloads.workload import Member, Workload, require_matching_labels
from gangsched_framework.objects import ClusterObject

_PATH = ("spec", "template")


def expand_stateful_set(workload: Workload) -> list[ClusterObject]:
    """The pods of a StatefulSet, all of them, whatever its ``podManagementPolicy``."""
    spec, name = workload.spec, workload.meta.name
    replicas = workload.count(spec, "replicas", 1, "spec")
    first = workload.count(spec.get("ordinals") or {}, "start", 0, "spec", "ordinals")
    workload.reserve(replicas, "spec", "replicas")
    if workload.context.strict:
        require_matching_labels(spec)
    if spec.get("volumeClaimTemplates"):
        workload.unmodelled("spec.volumeClaimTemplates")
    members = (stateful_member(name, ordinal) for ordinal in range(first, first + replicas))
    return [*workload.pods(spec.get("template"), _PATH, members, workload.owner)]


def stateful_member(name: str, ordinal: int, labels: dict[str, str] | None = None) -> Member:
    """The pod of a StatefulSet ``name`` with that ordinal."""
    pod = f"{name}-{ordinal}"
    own = {"statefulset.kubernetes.io/pod-name": pod, "apps.kubernetes.io/pod-index": str(ordinal)}
    return Member(pod, labels={**own, **(labels or {})})
