"""What the kinds share: an owner with a pod template, and the pods made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field, frozen

from gangsched.manifests.context import Context
from gangsched.manifests.errors import InputError, Step, describe, found, missing
from gangsched.manifests.fields import Raw, texts
from gangsched.manifests.metadata import Metadata, Scope, read_metadata
from gangsched.manifests.own_annotations import warn_of_unread
from gangsched.manifests.pods import PodReader
from gangsched_framework.objects import Pod

MAX_PODS = 100_000
"""Most pods of one object: a slip of the finger must not fill the memory."""

_POD = Scope("Pod", namespaced=True)


@frozen
class Member:
    """One pod to make: its name, or the prefix of a numbered one, and what it has beyond the template."""

    name: str = ""
    generate_name: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


@frozen
class Owner:
    """The controller of pods."""

    api_version: str
    kind: str
    name: str


@define
class Workload:
    """An object of a workload kind that is being expanded."""

    context: Context
    reader: PodReader
    manifest: Raw
    meta: Metadata
    now: int
    _pods: int = field(default=0, init=False)

    @property
    def spec(self) -> Raw:
        spec = self.manifest.get("spec")
        if spec is None:
            raise missing("spec", "a spec")
        return spec  # type: ignore[no-any-return]

    @property
    def owner(self) -> Owner:
        """The object itself as the controller of its pods."""
        return Owner(self.manifest["apiVersion"], self.manifest["kind"], self.meta.name)

    def pods(
        self,
        template: Raw | None,
        path: tuple[Step, ...],
        members: Iterable[Member],
        owner: Owner,
        *,
        group: str = "",
        defaults: Mapping[str, Any] | None = None,
    ) -> list[Pod]:
        """The pods of ``members``, of the template that stands at ``path``; ``group`` is their PodGroup, if any.

        ``defaults`` are fields of the pod spec for a template that does not set them. A template is checked even when
        it makes no pod. Raises InputError.
        """
        if template is None:
            raise missing("template", "a pod template").under(*path[:-1])
        spec = {
            **(defaults or {}),
            **{name: value for name, value in (template.get("spec") or {}).items() if value is not None},
        }
        if group and not spec.get("schedulingGroup"):
            spec["schedulingGroup"] = {"podGroupName": group}
        meta = template.get("metadata") or {}
        labels, annotations = texts(meta, "labels"), texts(meta, "annotations")
        if annotations:
            warn_of_unread(self.context, "Pod", annotations, *path)
        reference = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": self.meta.uid}
        shared = {"namespace": self.meta.namespace, "ownerReferences": [{**reference, "controller": True}]}
        try:
            self.reader.check_spec(spec)
            return [
                self._pod(
                    spec,
                    {
                        **shared,
                        **({"name": member.name} if member.name else {"generateName": member.generate_name}),
                        "labels": {**labels, **member.labels},
                        "annotations": {**annotations, **member.annotations},
                    },
                )
                for member in members
            ]
        except InputError as error:
            raise error.under(*path) from None

    def _pod(self, spec: Raw, metadata: Raw) -> Pod:
        manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        return self.reader.read(manifest, read_metadata(self.context, _POD, manifest, self.now, None), self.now, None)

    def count(self, raw: Raw, name: str, default: int, *path: Step) -> int:
        """A number of replicas: ``raw[name]``, at least 0; ``path`` leads to ``raw``."""
        value = raw.get(name)
        if value is None:
            return default
        if value < 0:
            raise found(describe(value), "at least 0", *path, name)
        return int(value)

    def reserve(self, pods: int, *path: Step) -> None:
        """Refuse more than ``MAX_PODS`` pods altogether, before any is made."""
        self._pods += pods
        if self._pods > MAX_PODS:
            raise found(f"{self._pods} pods", f"at most {MAX_PODS} of one object", *path)

    def unmodelled(self, field_path: str) -> None:
        """Name a field that decides in a real cluster and nothing here."""
        self.context.warn_once(
            f"{self.manifest['kind']} {field_path}", f"{field_path}: is not modelled and decides nothing here"
        )

    def suspended(self) -> None:
        """Say that the object asks for no pods now."""
        self.context.warn_once(f"suspended {self.context.label}", "spec.suspend: is true, so no pods are created")


def require_matching_labels(spec: Raw) -> None:
    """The labels of the template must satisfy the selector's ``matchLabels``."""
    template = spec.get("template")
    if template is None:
        raise missing("template", "a pod template").under("spec")
    labels = (template.get("metadata") or {}).get("labels") or {}
    selector = spec.get("selector") or {}
    for key, value in (selector.get("matchLabels", selector) or {}).items():
        if isinstance(value, str) and labels.get(key) != value:
            allowed = f"{value}, as the selector says"
            raise found(describe(labels.get(key) or ""), allowed, "spec", "template", "metadata", "labels", key)
