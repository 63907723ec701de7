"""What the annotations of a trace's objects say about the replay; whatever is wrong is named by its object."""

from __future__ import annotations

from gangsched.manifests.errors import InputError, describe, found
from gangsched.manifests.own_annotations import DELETE_WHEN_FINISHED, DURATION
from gangsched.replay.events import Identity
from gangsched.replay.times import parse_duration
from gangsched_framework.objects import Group, Pod


def at(identity: Identity, problem: InputError) -> InputError:
    """``problem``, naming the object it was found in."""
    problem.label = str(identity)
    return problem


def check_group(identity: Identity, group: Group) -> None:
    """Raise InputError for a ``delete-when-finished`` that is neither true nor false."""
    text = group.annotations.get(DELETE_WHEN_FINISHED, "false")
    if text not in ("true", "false"):
        fault = found(describe(text), '"true" or "false"', "metadata", "annotations", DELETE_WHEN_FINISHED)
        raise at(identity, fault)


def tidied(group: Group) -> bool:
    """Whether the group and its pods are deleted when all of them have succeeded."""
    return group.annotations.get(DELETE_WHEN_FINISHED) == "true"


def duration_of(identity: Identity, pod: Pod) -> int | None:
    """How long the pod runs, in nanoseconds; None = for ever. Raises InputError."""
    text = pod.annotations.get(DURATION)
    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError as problem:
        fault = found(describe(text), f"a duration such as 300s ({problem})", "metadata", "annotations", DURATION)
        raise at(identity, fault) from None
