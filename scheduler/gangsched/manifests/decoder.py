"""One manifest to framework objects: shape, validation, defaulting, reading, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsched.manifests.context import BUILT_IN_CLASSES, Context, Defaults, RuntimeClass
from gangsched.manifests.errors import InputError, describe, found, missing, printable
from gangsched.manifests.fields import Raw
from gangsched.manifests.kinds import CLASS_KINDS, Kind, kind_of
from gangsched.manifests.metadata import Metadata, read_metadata
from gangsched.manifests.own_annotations import warn_of_unread
from gangsched.manifests.pods import PodReader
from gangsched.manifests.shapes import shape
from gangsched.manifests.templates import Templates
from gangsched.manifests.workloads.workload import Workload
from gangsched_framework.objects import ClusterObject, CompositePodGroup, PodGroup

_LIST_FIELDS = ("apiVersion", "kind", "metadata", "items")


class Decoder:
    """Turns manifests into objects; remembers what one needs to know of the others.

    It counts the objects of each kind and key (their uids are ``Kind|ns/name#n``), numbers ``generateName``, knows the
    priority and runtime classes read so far, and shares one ``PodSpec`` between pods of equal specs. ``strict`` refuses
    what the API server refuses; without it only wrong types, unknown fields and unreadable amounts are errors, as
    recorded scenarios hold objects no API server would take.
    """

    def __init__(self, defaults: Defaults | None = None, *, strict: bool = True) -> None:
        self._context = Context(defaults or Defaults(), strict)
        self._templates = Templates(self._context)
        self._pods = PodReader(self._context, self._templates)

    def heed_gates(self, gates: Mapping[str, bool]) -> None:
        """From now on, warn about what decides nothing because its feature gate is off.

        Without GenericWorkload groups are no objects, and pods belong to none.
        """
        self._context.gates = gates
        self._templates.forget()

    @property
    def groups(self) -> bool:
        """Whether there are groups, by the gates it heeds."""
        return self._context.groups

    def tell(self, warning: str) -> None:
        """Add a warning about objects that were read together."""
        self._context.tell(warning)

    @property
    def warnings(self) -> list[str]:
        """Deciding fields and kinds that are not modelled, references that led nowhere: each once, counted."""
        return self._context.warnings

    @property
    def skipped(self) -> dict[str, int]:
        """How many objects of kinds that are not read were skipped, by kind."""
        return self._context.skipped

    def decode(
        self, manifest: Mapping[str, Any], *, where: str = "", now: int = 0, current: ClusterObject | None = None
    ) -> list[ClusterObject]:
        """The objects of one manifest: one, none for skipped kinds and classes of runtimes, many for a ``List``.

        ``where`` names the place in errors and warnings; ``now`` is the engine time in nanoseconds, the creation time
        of objects that give none. ``current`` is the stored object the manifest replaces: its uid, creation time,
        generation and start time stand where the manifest is silent. Raises InputError.
        """
        self._context.where = where
        try:
            return self._decode(manifest, now, current)
        except InputError as error:
            error.where = error.where or where
            raise

    def learn(self, manifest: Mapping[str, Any], *, where: str = "") -> None:
        """Make the priority and runtime classes in ``manifest`` known, so that objects before them may name them."""
        self._context.where = where
        try:
            for steps, item in _with_classes(manifest):
                try:
                    self._decode(item, 0, None)
                except InputError as error:
                    raise error.under(*steps) from None
        except InputError as error:
            error.where = error.where or where
            raise

    def forget(self, kind: str, name: str) -> None:
        """An object was deleted: a priority class cannot be named any more."""
        if kind == "PriorityClass" and name not in (known.name for known in BUILT_IN_CLASSES):
            self._context.forget_priority_class(name)

    def _decode(self, manifest: Raw, now: int, current: ClusterObject | None) -> list[ClusterObject]:
        if not isinstance(manifest, Mapping):
            raise found(describe(manifest), "an object with apiVersion and kind")
        name = manifest.get("kind")
        self._context.label = ""
        try:
            if isinstance(name, str) and name.endswith("List") and ("items" in manifest or name == "List"):
                return self._items(manifest, name, now)
            kind = kind_of(self._context, manifest)
            return [] if kind is None else self._object(kind, manifest, now, current)
        except InputError as error:
            error.label = error.label or label_of(manifest)
            raise

    def _object(self, kind: Kind, manifest: Raw, now: int, current: ClusterObject | None) -> list[ClusterObject]:
        if kind.read is None and kind.expand is None:
            meta = read_metadata(self._context, kind.scope, manifest, now, current)
            self._context.label = f"Pod/{meta.name}"
            if meta.annotations:
                warn_of_unread(self._context, "Pod", meta.annotations)
            return [self._pods.read(manifest, meta, now, current)]
        shape(kind.shape).check(manifest)
        meta = read_metadata(self._context, kind.scope, manifest, now, current)
        self._context.label = f"{kind.scope.kind}/{meta.name}"
        if meta.annotations:
            warn_of_unread(self._context, kind.scope.kind, meta.annotations)
        objects: list[ClusterObject] = []
        if kind.read is not None:
            read = kind.read(self._context, manifest, meta)
            if isinstance(read, RuntimeClass):
                self._templates.forget()
            elif self._context.groups or not isinstance(read, PodGroup | CompositePodGroup):
                objects.append(read)
        if kind.expand is not None and self._expands(kind, manifest, meta):
            objects += kind.expand(Workload(self._context, self._pods, manifest, meta, now))
        return objects

    def _expands(self, kind: Kind, manifest: Raw, meta: Metadata) -> bool:
        """Whether the object's pods are to be made: not when a controller has made them already."""
        if manifest["metadata"].get("uid") or meta.owner:
            about = f"{kind.scope.kind} of a cluster"
            self._context.warn_once(about, "was read from a cluster, so its pods are expected as objects of their own")
            return False
        return self._context.strict or kind.read is None or "template" in (manifest.get("spec") or {})

    def _items(self, manifest: Raw, name: str, now: int) -> list[ClusterObject]:
        objects: list[ClusterObject] = []
        for index, item in enumerate(_checked_items(manifest, name)):
            try:
                objects += self._decode(item, now, None)
            except InputError as error:
                raise error.under("items", index) from None
        return objects


def label_of(manifest: object) -> str:
    """``kind/name`` of a manifest that may be wrong in any way."""
    if not isinstance(manifest, Mapping):
        return ""
    kind, meta = manifest.get("kind"), manifest.get("metadata")
    name = (meta.get("name") or meta.get("generateName")) if isinstance(meta, Mapping) else None
    parts = [printable(part) for part in (kind, name) if isinstance(part, str) and part]
    return "/".join(parts)


def _checked_items(manifest: Raw, name: str) -> list[Any]:
    """The items of a list; those of a typed one (``PodList``) need not repeat apiVersion and kind."""
    for field in manifest:
        if field not in _LIST_FIELDS:
            raise InputError(f"found an unknown field, allowed {', '.join(_LIST_FIELDS)}", printable(field))
    if name == "List" and manifest.get("apiVersion") != "v1":
        given = manifest.get("apiVersion")
        raise found("nothing" if given is None else describe(given), "v1", "apiVersion")
    if "items" not in manifest:
        raise missing("items", "a list")
    items = manifest["items"]
    if items is None:
        return []
    if not isinstance(items, list | tuple):
        raise found(describe(items), "a list", "items")
    api, kind = manifest.get("apiVersion"), name.removesuffix("List")
    checked: list[Any] = []
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise found(describe(item), "an object with apiVersion and kind", "items", index)
        if "items" in item and str(item.get("kind")).endswith("List"):
            raise found("a list of objects", "an object", "items", index)
        checked.append({"apiVersion": api, "kind": kind, **item} if kind and "kind" not in item else item)
    return checked


def _with_classes(manifest: object) -> list[tuple[tuple[str | int, ...], Raw]]:
    """The class manifests in ``manifest``, itself or its items, with their paths. Whatever is wrong is found later."""
    if not isinstance(manifest, Mapping):
        return []
    kind, items = manifest.get("kind"), manifest.get("items")
    if isinstance(kind, str) and kind in CLASS_KINDS:
        return [((), manifest)]
    if not isinstance(items, list | tuple):
        return []
    classes = [(index, item) for index, item in enumerate(items) if isinstance(item, Mapping)]
    return [(("items", index), item) for index, item in classes if str(item.get("kind")) in CLASS_KINDS]
