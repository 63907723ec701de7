"""Annotations of this product: which there are, on which kind each is read, and a warning for all others."""

from __future__ import annotations

from collections.abc import Mapping

from gangsched.manifests.context import Context
from gangsched.manifests.errors import Step, closest, printable
from gangsched_framework.errors import path_text

PREFIX = "gangsched.dev/"

DURATION = f"{PREFIX}duration"
"""Annotation of a pod: it succeeds that long after it is bound. Without it a pod runs for ever."""

DELETE_WHEN_FINISHED = f"{PREFIX}delete-when-finished"
"""Annotation ``"true"`` of a PodGroup: when all its pods have succeeded, the group and its pods are deleted."""

_READ_ON = {DURATION: ("Pod",), DELETE_WHEN_FINISHED: ("PodGroup", "Job", "JobSet")}
"""The kinds; jobs hand theirs on to the group they make."""


def warn_of_unread(context: Context, kind: str, annotations: Mapping[str, object], *path: Step) -> None:
    """Warn about annotations of ours that nobody reads on an object of ``kind``: misspelt, or of another kind.

    ``path`` leads to the metadata.
    """
    for key in annotations:
        if not key.startswith(PREFIX) or kind in _READ_ON.get(key, ()):
            continue
        if key in _READ_ON:
            why = f", only that of a {_READ_ON[key][0]} is read"
        else:
            meant = closest(key.removeprefix(PREFIX), [known.removeprefix(PREFIX) for known in _READ_ON])
            why = f"; did you mean {PREFIX}{meant}?" if meant else ""
        where = path_text((*path, "metadata", "annotations", printable(key)))
        context.warn_once(f"annotation {kind} {key}", f"{where}: decides nothing{why}")
