"""JSON merge patch (RFC 7386), for recorded scenarios and traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsched.manifests.errors import InputError

MAX_DEPTH = 100
"""Deepest patch; deeper than any object of the API."""


def apply_merge_patch(document: Any, patch: Any) -> Any:
    """``document`` changed by ``patch``: objects merge, null removes, everything else replaces, lists as a whole.

    Neither argument is changed; unchanged parts are shared. Raises InputError for a patch nested too deeply.
    """
    return _merged(document, patch, 0)


def _merged(document: Any, patch: Any, depth: int) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    if depth > MAX_DEPTH:
        raise InputError(f"found a patch nested more than {MAX_DEPTH} deep")
    result: dict[str, Any] = dict(document) if isinstance(document, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value, depth + 1)
    return result
