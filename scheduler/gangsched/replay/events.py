"""The stream of events every trace format is read into (architecture.md §8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

from attrs import frozen

from gangsched.manifests import Decoder
from gangsched_framework.objects import ClusterObject, SelectorOwner

CLUSTER_WIDE = frozenset({"Node", "PriorityClass", "Namespace", "Queue"})
"""Kinds without a namespace."""


@frozen(order=True)
class Identity:
    """Kind, namespace (empty for cluster-wide kinds) and name: what an event is about."""

    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, obj: ClusterObject) -> Identity:
        kind = obj.kind if isinstance(obj, SelectorOwner) else type(obj).__name__
        return cls(kind, getattr(obj, "namespace", ""), obj.name)

    def __str__(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}" if self.namespace else f"{self.kind}/{self.name}"


@frozen
class TraceEvent:
    """One event. ``time`` in engine nanoseconds, ``line`` where it stands. A deletion carries no object."""

    time: int
    line: int
    verb: Literal["add", "update", "delete"]
    identity: Identity
    obj: ClusterObject | None = None


@frozen
class TraceHeader:
    """What a trace says about itself. ``config`` is a KubeSchedulerConfiguration document or None."""

    format: str
    name: str = ""
    start: str = ""
    config: Mapping[str, Any] | None = None
    feature_gates: Mapping[str, bool] = {}


class EventSource(Protocol):
    """A trace being read. Times never decrease; events of one time stand in the order of the file."""

    @property
    def header(self) -> TraceHeader: ...
    @property
    def decoder(self) -> Decoder:
        """Reads the manifests that belong to the trace; it knows where the clock starts."""
        ...

    def sha256(self) -> str:
        """SHA-256 of all bytes of the trace as they came; to be asked after the last event."""
        ...

    def events(self) -> Iterator[TraceEvent]:
        """Every event, read as it is asked for; once only."""
        ...
