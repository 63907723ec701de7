"""LeaderWorkerSet (leaderworkerset.x-k8s.io/v1): groups of a leader ``NAME-G`` and workers ``NAME-G-W``."""

from __future__ import annotations

import hashlib

from attrs import evolve

from gangsched.manifests.errors import Step, describe, found, missing
from gangsched.manifests.workloads.stateful_set import stateful_member
from gangsched.manifests.workloads.workload import Member, Owner, Workload
from gangsched_framework.objects import ClusterObject

_PREFIX = "leaderworkerset.sigs.k8s.io/"
_PATH: tuple[Step, ...] = ("spec", "leaderWorkerTemplate")


def expand_leader_worker_set(workload: Workload) -> list[ClusterObject]:
    """The pods group by group, the leader first. Leaders belong to one StatefulSet, the workers to one a group."""
    spec, name = workload.spec, workload.meta.name
    templates = spec.get("leaderWorkerTemplate")
    if templates is None:
        raise missing("leaderWorkerTemplate", "the templates of leader and workers").under("spec")
    replicas = workload.count(spec, "replicas", 1, "spec")
    size = workload.count(templates, "size", 1, *_PATH)
    if size < 1:
        raise found(describe(size), "at least 1, the leader", *_PATH, "size")
    workload.reserve(replicas * size, "spec", "replicas")
    for field in ("subGroupPolicy", "volumeClaimTemplates"):
        if templates.get(field):
            workload.unmodelled(f"spec.leaderWorkerTemplate.{field}")
    leader_field = "leaderTemplate" if templates.get("leaderTemplate") else "workerTemplate"
    objects: list[ClusterObject] = []
    if templates.get("workerTemplate") is None:
        raise missing("workerTemplate", "a pod template").under(*_PATH)
    for group in range(replicas):
        leader = f"{name}-{group}"
        workers = [_member(leader, number, name, group, size, number) for number in range(1, size)]
        objects += workload.pods(
            templates[leader_field],
            (*_PATH, leader_field),
            [_member(name, group, name, group, size, 0)],
            Owner("apps/v1", "StatefulSet", name),
        )
        owner = Owner("apps/v1", "StatefulSet", leader)
        objects += workload.pods(templates["workerTemplate"], (*_PATH, "workerTemplate"), workers, owner)
    return objects


def _member(stateful_set: str, ordinal: int, name: str, group: int, size: int, worker: int) -> Member:
    key = hashlib.sha256(f"{name}-{group}".encode()).hexdigest()[:40]
    labels = {"name": name, "group-index": str(group), "group-key": key, "worker-index": str(worker)}
    annotations = {"size": str(size), **({"leader-name": f"{name}-{group}"} if worker else {})}
    member = stateful_member(stateful_set, ordinal, {f"{_PREFIX}{key}": value for key, value in labels.items()})
    return evolve(member, annotations={f"{_PREFIX}{key}": value for key, value in annotations.items()})
