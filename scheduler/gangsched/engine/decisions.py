"""Decisions: what the core wants done, as frozen values. The host carries them out and reports back as events."""

from __future__ import annotations

from typing import ClassVar

from gangsched_framework.objects import Condition, EntityKey
from gangsched_framework.values import value


@value
class Bind:
    """Bind a pod (``namespace/name``) to a node. The host answers with ``bound`` and the update, or ``bind_failed``.

    In a report it is the verdict of its pod as well, with what a refusal shows.
    """

    pod: str
    uid: str
    node: str
    status: ClassVar[None] = None
    nominated: ClassVar[str] = ""
    plugins: ClassVar[tuple[str, ...]] = ()


@value
class Nominate:
    """Write ``status.nominatedNodeName`` of a pod ('' clears it), apart from a condition."""

    pod: str
    node: str


@value
class Evict:
    """Delete a victim. ``by`` is the key of the preemptor (a pod or a root group), ``node`` where it makes room
    (``cluster`` for groups)."""

    pod: str
    uid: str
    by: EntityKey
    by_uid: str
    node: str


@value
class SetCondition:
    """Write a condition of a pod (``namespace/name``), in one API write with a nomination if that is not None.

    ``condition`` None = only the nomination changes.
    """

    pod: str
    condition: Condition | None
    nominated_node: str | None = None


@value
class SetGroupCondition:
    """Write a condition of a PodGroup or CompositePodGroup."""

    group: EntityKey
    condition: Condition


_SURELY_SHORT = 256
"""Characters that fit into 1024 bytes whatever they are."""


def event_note(text: str) -> str:
    """Cut to 1024 bytes with `` ...`` as the API does (spec §7.4)."""
    if len(text) > _SURELY_SHORT and len(raw := text.encode()) > 1024:
        return raw[:1020].decode(errors="ignore") + " ..."
    return text


@value
class RecordEvent:
    """An event as in Kubernetes: ``TYPE REASON regarding: note`` (``regarding`` = ``namespace/name`` of the pod).

    A note that may be long is what ``event_note`` makes of it.
    """

    type: str
    reason: str
    regarding: str
    note: str


Decision = Bind | Nominate | Evict | SetCondition | SetGroupCondition | RecordEvent
