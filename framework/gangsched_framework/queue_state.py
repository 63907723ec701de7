"""What a user may see of the queue at one moment: frozen values (field names of the conformance format)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from gangsched_framework.objects import EntityKey


@frozen
class EntityState:
    """One waiting entity. ``ts`` and ``expires`` in engine nanoseconds; ``heap`` is 'entity' or 'error' in backoff.

    ``members`` maps leaf keys to pod names in the order they will be tried (empty for a plain pod); ``rejected_by``
    maps ``namespace/name`` to plugin names, sorted, pending ones last as ``pending:NAME``. ``reason`` is the gate's
    text.
    """

    key: EntityKey
    ts: int
    attempts: int = 0
    unschedulable: int = 0
    errors: int = 0
    members: Mapping[EntityKey, tuple[str, ...]] = {}
    gated_by: str = ""
    reason: str = ""
    rejected_by: Mapping[str, tuple[str, ...]] = {}
    expires: int | None = None
    heap: str = ""


@frozen
class QueueState:
    """Every container of spec §2.1."""

    active: tuple[EntityState, ...] = ()
    backoff: tuple[EntityState, ...] = ()
    parked: tuple[EntityState, ...] = ()
    incomplete: Mapping[EntityKey, tuple[str, ...]] = {}
    pending: Mapping[EntityKey, tuple[str, ...]] = {}
    in_flight: tuple[str, ...] = ()
