"""The kinds the reader knows, and what becomes of all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from gangsched.manifests.cluster import (
    read_disruption_budget,
    read_namespace,
    read_priority_class,
    read_runtime_class,
    read_selector_owner,
)
from gangsched.manifests.context import Context, RuntimeClass
from gangsched.manifests.errors import closest, describe, found, printable
from gangsched.manifests.fields import Raw
from gangsched.manifests.groups import read_composite_pod_group, read_pod_group
from gangsched.manifests.metadata import Metadata, Scope
from gangsched.manifests.names import DNS_LABEL
from gangsched.manifests.nodes import read_node
from gangsched.manifests.queues import read_queue, read_volcano_pod_group
from gangsched.manifests.workloads.deployment import expand_deployment
from gangsched.manifests.workloads.job import expand_job
from gangsched.manifests.workloads.job_set import expand_job_set
from gangsched.manifests.workloads.leader_worker_set import expand_leader_worker_set
from gangsched.manifests.workloads.replica_set import expand_replica_set
from gangsched.manifests.workloads.stateful_set import expand_stateful_set
from gangsched.manifests.workloads.volcano_job import expand_volcano_job
from gangsched.manifests.workloads.workload import Workload
from gangsched_framework.objects import ClusterObject

Read = Callable[[Context, Raw, Metadata], ClusterObject | RuntimeClass]
Expand = Callable[[Workload], list[ClusterObject]]


@frozen
class Kind:
    """A supported kind: where it lives in the API, its metadata's rules, its shape, and what becomes of it.

    ``read`` gives the object itself, ``expand`` the pods and groups of a workload. Pods have neither: they are read
    apart.
    """

    group: str
    versions: tuple[str, ...]
    scope: Scope
    shape: str
    read: Read | None
    expand: Expand | None

    @property
    def api_versions(self) -> tuple[str, ...]:
        return tuple(f"{self.group}/{version}" if self.group else version for version in self.versions)


def _kind(
    name: str,
    api: str,
    read: Read | None = None,
    expand: Expand | None = None,
    *,
    namespaced: bool = True,
    label: bool = False,
    shape: str = "",
) -> tuple[tuple[str, str], Kind]:
    group, _, versions = api.rpartition("/")
    scope = Scope(name, namespaced, DNS_LABEL) if label else Scope(name, namespaced)
    return (group, name), Kind(group, tuple(versions.split("|")), scope, shape or name, read, expand)


KINDS: Mapping[tuple[str, str], Kind] = dict(
    (
        _kind("Pod", "v1"),
        _kind("Node", "v1", read_node, namespaced=False),
        _kind("PodGroup", "scheduling.k8s.io/v1beta1|v1alpha3", read_pod_group),
        _kind("CompositePodGroup", "scheduling.k8s.io/v1alpha3", read_composite_pod_group),
        _kind("PriorityClass", "scheduling.k8s.io/v1", read_priority_class, namespaced=False),
        _kind("PodDisruptionBudget", "policy/v1", read_disruption_budget),
        _kind("Namespace", "v1", read_namespace, namespaced=False, label=True),
        _kind("RuntimeClass", "node.k8s.io/v1", read_runtime_class, namespaced=False),
        _kind("Service", "v1", read_selector_owner, label=True),
        _kind("ReplicationController", "v1", read_selector_owner, expand_replica_set),
        _kind("ReplicaSet", "apps/v1", read_selector_owner, expand_replica_set),
        _kind("StatefulSet", "apps/v1", read_selector_owner, expand_stateful_set),
        _kind("Deployment", "apps/v1", None, expand_deployment),
        _kind("Job", "batch/v1", None, expand_job),
        _kind("JobSet", "jobset.x-k8s.io/v1alpha2", None, expand_job_set),
        _kind("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", None, expand_leader_worker_set),
        _kind("Job", "batch.volcano.sh/v1alpha1", None, expand_volcano_job, shape="VolcanoJob"),
        _kind("Queue", "scheduling.volcano.sh/v1beta1", read_queue, namespaced=False),
        _kind("PodGroup", "scheduling.volcano.sh/v1beta1", read_volcano_pod_group, shape="VolcanoPodGroup"),
    )
)
"""(API group, kind) -> what is known about it."""

KIND_NAMES = tuple(dict.fromkeys(name for _, name in KINDS))
"""What may stand under ``kind`` of an object that is read."""

_BY_API = {(api, kind.scope.kind): kind for kind in KINDS.values() for api in kind.api_versions}

CLASS_KINDS = frozenset({"PriorityClass", "RuntimeClass"})
"""Kinds that other objects refer to; they are made known before the objects of the same read."""

_OTHERS: Mapping[str, tuple[str, ...]] = {
    "": (
        *("Binding", "ComponentStatus", "ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolume"),
        *("PersistentVolumeClaim", "PodTemplate", "ResourceQuota", "Secret", "ServiceAccount"),
    ),
    "apps": ("ControllerRevision", "DaemonSet"),
    "batch": ("CronJob",),
    "node.k8s.io": (),
    "policy": (),
    "scheduling.k8s.io": ("Workload",),
}
"""The other kinds of the API groups we read from: a kind that is in neither is a mistake."""

_DECIDING = frozenset(
    {
        *("CronJob", "DaemonSet", "HyperNode", "Job", "JobSet", "LeaderWorkerSet", "LimitRange"),
        *("PersistentVolumeClaim", "PodGroup", "Queue", "ResourceClaim", "ResourceClaimTemplate", "Workload"),
    }
)
"""Kinds that would change decisions in a real cluster: skipping them is worth a warning."""


def kind_of(context: Context, manifest: Raw) -> Kind | None:
    """The kind of a manifest; None when it is one to skip, which is counted. Raises InputError for no kind at all."""
    try:
        known = _BY_API.get((manifest.get("apiVersion"), manifest.get("kind")))  # type: ignore[arg-type]
    except TypeError:
        known = None
    if known is not None:
        return known
    for field in ("kind", "apiVersion"):
        value = manifest.get(field)
        if not isinstance(value, str) or not value:
            raise found(describe(value) if value is not None else "nothing", "text", field)
    name, api = manifest["kind"], manifest["apiVersion"]
    group, _, _ = api.rpartition("/")
    other = KINDS.get((group, name))
    if other is not None:
        raise found(describe(api), " or ".join(other.api_versions), "apiVersion")
    if group in _OTHERS and name not in _OTHERS[group]:
        raise _unknown_kind(group, name)
    context.skipped[name] = context.skipped.get(name, 0) + 1
    if name in _DECIDING:
        context.warn_once(f"kind {api} {name}", f"{name} of {api} is not read, its objects are skipped")
    return None


def _unknown_kind(group: str, name: str) -> Exception:
    homes = [
        api for (other, kind), known in KINDS.items() if kind == name and other != group for api in known.api_versions
    ]
    if homes:
        return found(f"{name} of {group or 'v1'}", f"{name} of {' or '.join(homes)}", "apiVersion")
    words = [kind for other, kind in KINDS if other == group] + list(_OTHERS[group])
    return found(f'"{printable(name)}"', f"a kind of {group or 'v1'}", "kind", hint=closest(name, words))
