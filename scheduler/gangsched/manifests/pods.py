"""Pods: manifest to :class:`~gangsched_framework.objects.Pod`.

Hot: a file may hold 100,000 of them. What pods of one template share is read once (templates.py); per pod there is the
metadata and a handful of fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define

from gangsched.manifests.context import GROUPS, Context
from gangsched.manifests.errors import InputError, describe, found, missing, unknown_field
from gangsched.manifests.fields import Raw
from gangsched.manifests.metadata import Metadata
from gangsched.manifests.names import DNS_SUBDOMAIN
from gangsched.manifests.pod_status import read_status
from gangsched.manifests.shapes import shape
from gangsched.manifests.templates import Template, Templates
from gangsched.manifests.unsupported import consequence
from gangsched_framework.objects import PREEMPT_LOWER_PRIORITY, Pod, PodStatus
from gangsched_framework.pod_requests import pod_level_requests

_FIELDS = ("apiVersion", "kind", "metadata", "spec", "status")
_PENDING = PodStatus()
_GROUP_NAME = "scheduling.k8s.io/group-name"
"""Annotation by which pods name a PodGroup of Volcano."""
_GROUP_FIELD = f'metadata.annotations["{_GROUP_NAME}"]'
_PER_POD = ("nodeName", "schedulingGroup", "hostname", "subdomain")
"""Fields of a spec that pods of one template do not share."""


@define
class PodReader:
    """Reads pods; keeps the templates."""

    context: Context
    templates: Templates

    def read(self, manifest: Raw, meta: Metadata, now: int, current: object | None) -> Pod:
        """The pod of ``manifest``. Raises InputError with paths from the manifest down."""
        for name in manifest:
            if name not in _FIELDS:
                raise unknown_field(name, "Pod", _FIELDS)
        raw = manifest.get("spec")
        if raw is None:
            raise missing("spec", "a pod spec")
        try:
            bare, node_name, group_name = self._per_pod(raw)
            template = self.templates.template(bare)
            spec = self.templates.spec_for(template, meta.labels)
            priority, preemption_policy = self._priority(template)
            if node_name and template.scheduling_gates and self.context.strict:
                raise found(describe(node_name), "nothing as long as there are schedulingGates", "nodeName")
        except InputError as error:
            raise error.under("spec") from None
        for name in template.unsupported:
            self.context.warn_once(name, consequence(name))
        group_name = group_name or meta.annotations.get(_GROUP_NAME, "")
        if group_name and not self.context.groups:
            self.context.warn_off(GROUPS, "spec.schedulingGroup" if raw.get("schedulingGroup") else _GROUP_FIELD)
            group_name = ""
        status = _PENDING
        if manifest.get("status") or node_name:
            pod_level = bool(pod_level_requests(spec))
            status = read_status(self.context, manifest.get("status"), node_name, now, current, pod_level=pod_level)
        return Pod(
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            spec=spec,
            labels=meta.labels,
            annotations=meta.annotations,
            creation_timestamp=meta.creation_timestamp,
            deletion_timestamp=meta.deletion_timestamp,
            generation=meta.generation,
            scheduler_name=template.scheduler_name,
            priority=priority,
            preemption_policy=preemption_policy,
            scheduling_gates=template.scheduling_gates,
            group_name=group_name,
            node_name=node_name,
            owner=meta.owner,
            status=status,
        )

    def check_spec(self, raw: Raw) -> None:
        """Raise InputError, below ``spec``, for a pod spec that is refused."""
        try:
            bare, _, _ = self._per_pod(raw)
            self.templates.template(bare)
        except InputError as error:
            raise error.under("spec") from None

    def _per_pod(self, raw: Raw) -> tuple[dict[str, Any], str, str]:
        """(the rest of the spec, nodeName, podGroupName)."""
        if not isinstance(raw, Mapping):
            raise found(describe(raw), "an object")
        bare = dict(raw)
        own = {name: bare.pop(name) for name in _PER_POD if name in bare}
        if not own:
            return bare, "", ""
        shape("PodSpec").check(own)
        node_name, group = own.get("nodeName") or "", own.get("schedulingGroup")
        group_name = "" if group is None else group.get("podGroupName") or ""
        if self.context.strict:
            if group is not None and not group_name:
                raise missing("podGroupName", "the name of a PodGroup").under("schedulingGroup")
            if group_name:
                DNS_SUBDOMAIN.require(group_name, "schedulingGroup", "podGroupName")
            if node_name:
                DNS_SUBDOMAIN.require(node_name, "nodeName")
        return bare, node_name, group_name

    def _priority(self, template: Template) -> tuple[int, str]:
        """Priority and preemption policy, with what the pod's class says (spec §3.1.6-7)."""
        known = self.context.class_of(template.priority_class_name, template.priority)
        priority = template.priority
        if priority is None:
            priority = known.value if known else 0
        policy = template.preemption_policy or (known.preemption_policy if known else PREEMPT_LOWER_PRIORITY)
        return priority, policy
