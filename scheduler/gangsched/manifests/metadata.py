"""``metadata``: identity, labels, times, the controlling owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attrs import frozen

from gangsched.manifests.context import Context
from gangsched.manifests.errors import InputError, describe, found, missing
from gangsched.manifests.fields import Raw, each, need, texts
from gangsched.manifests.names import (
    DNS_LABEL,
    DNS_SUBDOMAIN,
    Syntax,
    require_qualified,
    validate_annotations,
    validate_labels,
)
from gangsched.manifests.shapes import shape
from gangsched.manifests.times import SECOND

DEFAULT_NAMESPACE = "default"
_SELECTOR_OWNERS = {"ReplicationController": "v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1"}


class Metadata(NamedTuple):  # the cheapest value to make, and every pod makes one
    """The metadata of an object; times in engine nanoseconds. ``namespace`` is empty for cluster-wide kinds."""

    namespace: str
    name: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    creation_timestamp: int
    deletion_timestamp: int | None
    generation: int
    owner: tuple[str, str] | None


@frozen
class Scope:
    """What the metadata of a kind must look like."""

    kind: str
    namespaced: bool
    name_syntax: Syntax = DNS_SUBDOMAIN


def read_metadata(context: Context, scope: Scope, manifest: Raw, now: int, current: object | None) -> Metadata:
    """Decode ``manifest["metadata"]``; ``current`` is the stored object that the manifest replaces, if any.

    Raises InputError with paths from the manifest down.
    """
    raw = manifest.get("metadata")
    try:
        if raw is None:
            raise missing("name", "a name")
        shape("ObjectMeta").check(raw)
        return _decoded(context, scope, raw, now, current)
    except InputError as error:
        raise error.under("metadata") from None


def _decoded(context: Context, scope: Scope, raw: Raw, now: int, current: object | None) -> Metadata:
    namespace = (raw.get("namespace") or DEFAULT_NAMESPACE) if scope.namespaced else ""
    name = raw.get("name") or ""
    if not name:
        prefix = raw.get("generateName")
        if not prefix:
            raise found(describe(raw.get("name")) if "name" in raw else "nothing", "a name", "name")
        name = context.numbered(scope.kind, namespace, prefix)
    if context.strict:
        _validate(scope, raw, namespace, name)
    uid = raw.get("uid") or getattr(current, "uid", "")
    created, deleted = raw.get("creationTimestamp"), raw.get("deletionTimestamp")
    owners, generation = raw.get("ownerReferences"), raw.get("generation")
    return Metadata(
        namespace,
        name,
        uid or context.new_uid(scope.kind, f"{namespace}/{name}" if namespace else name),
        texts(raw, "labels"),
        texts(raw, "annotations"),
        context.engine_time(created) if created else getattr(current, "creation_timestamp", now // SECOND * SECOND),
        context.engine_time(deleted) if deleted else None,
        generation if generation else getattr(current, "generation", 1),
        _controller(owners) if owners else None,
    )


def _controller(owners: list[Raw]) -> tuple[str, str] | None:
    for owner in owners:
        if owner.get("controller"):
            kind, version = owner.get("kind") or "", owner.get("apiVersion")
            # a kind of that name in another API is another kind, whose selector nobody reads (spec §7.9.1)
            foreign = version != _SELECTOR_OWNERS.get(kind, version)
            return f"{version}/{kind}" if foreign else kind, owner.get("name") or ""
    return None


def _validate(scope: Scope, raw: Raw, namespace: str, name: str) -> None:
    scope.name_syntax.require(name, "name" if raw.get("name") else "generateName")
    if scope.namespaced:
        if namespace != DEFAULT_NAMESPACE:
            DNS_LABEL.require(namespace, "namespace")
    elif raw.get("namespace"):
        raise found(describe(raw["namespace"]), f"nothing: a {scope.kind} has no namespace", "namespace")
    labels, annotations = raw.get("labels"), raw.get("annotations")
    if labels:
        validate_labels(labels, "labels")
    if annotations:
        validate_annotations(annotations, "annotations")
    if raw.get("ownerReferences"):
        each(raw, "ownerReferences", _validate_owner)
        if sum(bool(owner.get("controller")) for owner in raw["ownerReferences"]) > 1:
            raise found("two controllers", "at most one", "ownerReferences")
    if raw.get("finalizers"):
        each(raw, "finalizers", require_qualified)


def _validate_owner(owner: Raw) -> None:
    for name in ("apiVersion", "kind", "name", "uid"):
        need(owner, name, "text")
