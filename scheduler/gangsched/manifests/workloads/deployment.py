"""Deployment: one ReplicaSet ``NAME-HASH`` and its pods.

The hash of a real cluster depends on how Go prints the template; here it is one of the template's JSON.
"""

from __future__ import annotations

import hashlib
import json

from gangsched.manifests.fields import Raw
from gangsched.manifests.selectors import label_selector
from gangsched.manifests.validation.cluster import validate_selector
from gangsched.manifests.workloads.workload import Member, Owner, Workload, require_matching_labels
from gangsched_framework.objects import ClusterObject, SelectorOwner
from gangsched_framework.pod_spec import LabelSelector

HASH_LABEL = "pod-template-hash"
_PATH = ("spec", "template")


def expand_deployment(workload: Workload) -> list[ClusterObject]:
    """The ReplicaSet, as an owner with a selector, and its pods."""
    spec, meta = workload.spec, workload.meta
    replicas = workload.count(spec, "replicas", 1, "spec")
    workload.reserve(replicas, "spec", "replicas")
    if workload.context.strict:
        validate_selector(spec)
        require_matching_labels(spec)
    template = spec.get("template") or {}
    digest = _hash(template)
    name = f"{meta.name}-{digest}"
    member = Member(generate_name=f"{name}-", labels={HASH_LABEL: digest})
    owner = Owner("apps/v1", "ReplicaSet", name)
    pods = workload.pods(spec.get("template"), _PATH, (member for _ in range(replicas)), owner)
    selector = label_selector(spec.get("selector") or {})
    labels = tuple(sorted((*selector.match_labels, (HASH_LABEL, digest))))
    chosen = LabelSelector(labels, selector.match_expressions)
    return [SelectorOwner("ReplicaSet", meta.namespace, name, chosen), *pods]


def _hash(template: Raw) -> str:
    text = json.dumps(template, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
