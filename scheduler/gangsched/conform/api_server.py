"""A stand-in for the API server: stores manifests, applies defaults and patches, and tells what became visible.

Rules: conformance README §3. Changes made by a scenario step are delivered at once; what the scheduler writes during a
cycle is stored at once and becomes visible with ``publish``, pods first, then groups, each by ``namespace/name``.
"""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from attrs import frozen

from gangsched.conform.errors import ConformError
from gangsched.manifests.patch import apply_merge_patch
from gangsched_framework.objects import DEFAULT_SCHEDULER, Condition

Manifest = dict[str, Any]
CLUSTER_WIDE = frozenset({"Node", "PriorityClass", "Namespace"})
SECOND = 1_000_000_000
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
_PUBLISH_ORDER = {"Pod": 0, "PodGroup": 1, "CompositePodGroup": 2}


@frozen
class Identity:
    """Kind, namespace (empty for cluster-wide kinds) and name."""

    kind: str
    namespace: str
    name: str

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@frozen
class Event:
    """A change as the scheduler sees it. ``manifest`` is the new state, for a deletion the last one."""

    verb: Literal["add", "update", "delete"]
    identity: Identity
    manifest: Manifest


class NotFound(Exception):
    """The object of a write is gone; the text is the API server's."""


class ApiServer:
    """The object store of one scenario. ``deliver`` is called for each event that becomes visible."""

    def __init__(self, now: Callable[[], int], deliver: Callable[[Event], None]) -> None:
        self._now = now
        self._deliver = deliver
        self._objects: dict[Identity, Manifest] = {}
        self._created: dict[Identity, int] = {}
        self._unseen: list[Event] = []

    # --- steps of a scenario ----------------------------------------------------------------------------------------

    def create(self, manifest: Mapping[str, Any]) -> None:
        """Store a new object with the defaults of README §3."""
        stored = copy.deepcopy(dict(manifest))
        kind = str(stored.get("kind"))
        _check_shape(kind, stored)
        meta = stored.setdefault("metadata", {})
        if kind not in CLUSTER_WIDE:
            meta.setdefault("namespace", "default")
        identity = _identity(kind, meta.get("namespace"), meta.get("name"))
        if identity in self._objects:
            raise ConformError(f"{kind} {identity.full_name} is created twice")
        number = self._created[identity] = self._created.get(identity, 0) + 1
        meta.setdefault("uid", f"{kind}|{identity.full_name}#{number}")
        meta.setdefault("creationTimestamp", rfc3339(self._now() // SECOND * SECOND))
        meta.setdefault("generation", 1)
        if kind == "Pod":
            self._default_pod(stored)
        elif kind in _PUBLISH_ORDER:
            self._resolve_priority(stored.setdefault("spec", {}))
        self._objects[identity] = stored
        self._deliver(Event("add", identity, stored))

    def _default_pod(self, pod: Manifest) -> None:
        spec, status = pod.setdefault("spec", {}), pod.setdefault("status", {})
        spec.setdefault("schedulerName", DEFAULT_SCHEDULER)
        self._resolve_priority(spec)
        spec.setdefault("priority", 0)
        status.setdefault("phase", "Pending")
        if spec.get("nodeName"):
            status.setdefault("startTime", rfc3339(self._now()))

    def _resolve_priority(self, spec: Manifest) -> None:
        name = spec.get("priorityClassName")
        known = self._objects.get(Identity("PriorityClass", "", name)) if name else None
        if known is not None and spec.get("priority") is None:
            spec["priority"] = known["value"]

    def patch(self, kind: str, namespace: str | None, name: str, patch: Mapping[str, Any]) -> None:
        """JSON merge patch on the whole object; a patch of the spec raises the generation."""
        identity = _identity(kind, namespace, name)
        stored = apply_merge_patch(self._get(identity), patch)
        _check_shape(kind, stored)
        if "spec" in patch:
            stored["metadata"]["generation"] += 1
        self._objects[identity] = stored
        self._deliver(Event("update", identity, stored))

    def delete(self, kind: str, namespace: str | None, name: str, *, graceful: bool) -> None:
        """Remove the object, or only mark it as being deleted."""
        identity = _identity(kind, namespace, name)
        if graceful:
            self._deliver(self._mark_deleting(identity))
        else:
            stored = self._get(identity)
            del self._objects[identity]
            self._deliver(Event("delete", identity, stored))

    def _mark_deleting(self, identity: Identity) -> Event:
        stored = self._change(identity)
        stored["metadata"].setdefault("deletionTimestamp", rfc3339(self._now()))
        return Event("update", identity, stored)

    # --- writes of the scheduler ------------------------------------------------------------------------------------

    def bind(self, full_name: str, uid: str, node_name: str) -> None:
        """The binding subresource. Raises NotFound when the pod has gone or is another one by now."""
        identity = _pod(full_name)
        if identity not in self._objects or self._objects[identity]["metadata"]["uid"] != uid:
            raise NotFound(f'pods "{identity.name}" not found')
        pod = self._change(identity)
        pod["spec"]["nodeName"] = node_name
        pod["status"]["startTime"] = rfc3339(self._now())
        _set_condition(pod, {"type": "PodScheduled", "status": "True", "lastTransitionTime": rfc3339(self._now())})
        self._unseen.append(Event("update", identity, pod))

    def write_status(self, identity: Identity, condition: Condition | None, nominated_node: str | None) -> None:
        """Set a condition and (unless None) the nomination in one write; nothing happens when the object is gone."""
        if identity not in self._objects:
            return
        stored = self._change(identity)
        if condition is not None:
            _set_condition(stored, _condition_manifest(condition))
        if nominated_node is not None:
            stored.setdefault("status", {})["nominatedNodeName"] = nominated_node
        self._unseen.append(Event("update", identity, stored))

    def evict(self, full_name: str, uid: str, *, at_once: bool) -> None:
        """Delete a pod for the scheduler; nothing happens when it is gone or being deleted already."""
        identity = _pod(full_name)
        stored = self._objects.get(identity)
        if stored is None or stored["metadata"]["uid"] != uid:
            return
        if at_once:
            del self._objects[identity]
            self._unseen.append(Event("delete", identity, stored))
        else:
            self._unseen.append(self._mark_deleting(identity))

    def publish(self) -> None:
        """Make the writes since the last call visible (README §3, step 7)."""
        events, self._unseen = self._unseen, []
        for event in sorted(events, key=lambda e: (_PUBLISH_ORDER[e.identity.kind], e.identity.full_name)):
            self._deliver(event)

    # --- reading ----------------------------------------------------------------------------------------------------

    def objects(self, kind: str) -> Iterator[tuple[str, Manifest]]:
        """(``namespace/name``, manifest) of every stored object of a kind, in order of that text."""
        found = [(identity.full_name, stored) for identity, stored in self._objects.items() if identity.kind == kind]
        return iter(sorted(found, key=lambda item: item[0]))

    def uid(self, identity: Identity) -> str | None:
        stored = self._objects.get(identity)
        return stored["metadata"]["uid"] if stored is not None else None

    def _get(self, identity: Identity) -> Manifest:
        stored = self._objects.get(identity)
        if stored is None:
            raise ConformError(f"{identity.kind} {identity.full_name} does not exist")
        return stored

    def _change(self, identity: Identity) -> Manifest:
        """A fresh copy of a stored object, in its place: what was delivered before keeps its value."""
        stored = self._objects[identity] = copy.deepcopy(self._get(identity))
        return stored


def rfc3339(nanoseconds: int) -> str:
    """Engine time as the API writes it; fractions of a second only where there are some."""
    seconds, rest = divmod(nanoseconds, SECOND)
    text = (START + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{rest:09d}".rstrip("0") + "Z" if rest else f"{text}Z"


def _check_shape(kind: str, stored: Manifest) -> None:
    """What this store itself relies on; the decoder checks the rest."""
    for part in ("metadata", "spec", "status"):
        if part in stored and not isinstance(stored[part], dict):
            raise ConformError(f"{kind}: {part}: found {stored[part]!r}, expected an object")
    priority_class = stored.get("spec", {}).get("priorityClassName", "")
    if not isinstance(priority_class, str):
        raise ConformError(f"{kind}: spec.priorityClassName: found {priority_class!r}, expected a text")


def _identity(kind: str, namespace: object, name: object) -> Identity:
    if not isinstance(name, str) or not name:
        raise ConformError(f"{kind}: metadata.name: found {name!r}, expected a text")
    return Identity(kind, "" if kind in CLUSTER_WIDE else str(namespace or "default"), name)


def _pod(full_name: str) -> Identity:
    namespace, name = full_name.split("/", 1)
    return Identity("Pod", namespace, name)


def _condition_manifest(condition: Condition) -> Manifest:
    written: Manifest = {"type": condition.type, "status": condition.status}
    written |= {"reason": condition.reason} if condition.reason else {}
    written |= {"message": condition.message} if condition.message else {}
    written["lastTransitionTime"] = rfc3339(condition.last_transition_time)
    if condition.observed_generation:
        written["observedGeneration"] = condition.observed_generation
    return written


def _set_condition(stored: Manifest, condition: Manifest) -> None:
    conditions = stored.setdefault("status", {}).setdefault("conditions", [])
    for index, known in enumerate(conditions):
        if known["type"] == condition["type"]:
            conditions[index] = condition
            return
    conditions.append(condition)
