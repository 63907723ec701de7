"""Classes, budgets, namespaces and the owners that default spread constraints read."""

from __future__ import annotations

from gangsched.manifests.amounts import amounts_of
from gangsched.manifests.context import Context, RuntimeClass
from gangsched.manifests.fields import Raw, part, texts
from gangsched.manifests.metadata import Metadata
from gangsched.manifests.selectors import label_selector, match_labels
from gangsched.manifests.validation.cluster import (
    validate_disruption_budget,
    validate_priority_class,
    validate_runtime_class,
    validate_selector_owner,
)
from gangsched_framework.objects import (
    PREEMPT_LOWER_PRIORITY,
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    SelectorOwner,
)
from gangsched_framework.pod_spec import LabelSelector


def read_priority_class(context: Context, manifest: Raw, meta: Metadata) -> PriorityClass:
    """A priority class; known to the objects that follow."""
    if context.strict:
        validate_priority_class(manifest)
    known = PriorityClass(
        meta.name,
        manifest.get("value") or 0,
        bool(manifest.get("globalDefault")),
        manifest.get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY,
    )
    context.learn_priority_class(known)
    return known


def read_runtime_class(context: Context, manifest: Raw, meta: Metadata) -> RuntimeClass:
    """A runtime class; known to the pods that follow."""
    if context.strict:
        validate_runtime_class(manifest)
    overhead: Raw = manifest.get("overhead") or {}
    scheduling: Raw = manifest.get("scheduling") or {}
    round_up = context.defaults.api_defaulting
    known = RuntimeClass(
        meta.name,
        part(overhead, "podFixed", lambda raw: amounts_of(raw, round_up=round_up)) or {},
        texts(scheduling, "nodeSelector"),
        tuple(scheduling.get("tolerations") or ()),
    )
    context.runtime_classes[known.name] = known
    return known


def read_disruption_budget(context: Context, manifest: Raw, meta: Metadata) -> PodDisruptionBudget:
    """A budget; its controller's ``status.disruptionsAllowed`` is taken as it stands, absent = 0."""
    if context.strict:
        validate_disruption_budget(manifest)
    status: Raw = manifest.get("status") or {}
    if status.get("disruptionsAllowed") is None:
        context.warn_once("disruptionsAllowed", "status.disruptionsAllowed: is absent and counts as 0")
    return PodDisruptionBudget(
        meta.namespace,
        meta.name,
        part(manifest.get("spec") or {}, "selector", label_selector),
        max(0, status.get("disruptionsAllowed") or 0),
        frozenset(status.get("disruptedPods") or ()),
    )


def read_namespace(_context: Context, _manifest: Raw, meta: Metadata) -> Namespace:
    """A namespace and its labels."""
    return Namespace(meta.name, meta.labels)


def read_selector_owner(context: Context, manifest: Raw, meta: Metadata) -> SelectorOwner:
    """A Service, ReplicationController, ReplicaSet or StatefulSet: its selector (spec node-plugins.md §7.9.1)."""
    kind = manifest["kind"]
    if context.strict:
        validate_selector_owner(manifest)
    plain = kind in ("Service", "ReplicationController")
    spec: Raw = manifest.get("spec") or {}
    selector = part(spec, "selector", _plain_selector if plain else label_selector)
    if kind == "ReplicationController" and selector is None and spec.get("template"):
        labels = (spec["template"].get("metadata") or {}).get("labels")  # what the API server fills in
        selector = LabelSelector(match_labels(labels))
    return SelectorOwner(kind, meta.namespace, meta.name, selector)


def _plain_selector(raw: Raw) -> LabelSelector:
    return LabelSelector(match_labels(raw))
