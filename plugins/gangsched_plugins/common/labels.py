"""Syntax of label keys and values, with the real scheduler's complaints (they show up in statuses and in events)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_NAME_PATTERN = re.compile(_NAME)
_SUBDOMAIN_PATTERN = re.compile(_SUBDOMAIN)
_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    f"regex used for validation is '({_NAME})?')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_MAX_NAME, _MAX_SUBDOMAIN = 63, 253


def label_key_errors(key: str) -> list[str]:
    """What is wrong with ``key`` as a qualified name ``[prefix/]name``; empty when nothing is."""
    parts = key.split("/")
    errors: list[str] = []
    if len(parts) > 2:
        tail = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_NAME_RULE} {tail}"]
    if len(parts) == 2:
        prefix = parts[0]
        if not prefix:
            errors.append("prefix part must be non-empty")
        else:
            errors += _too_long(prefix, _MAX_SUBDOMAIN, "prefix part ")
            if not _SUBDOMAIN_PATTERN.fullmatch(prefix):
                errors.append(f"prefix part {_SUBDOMAIN_RULE}")
    name = parts[-1]
    if not name:
        errors.append("name part must be non-empty")
    errors += _too_long(name, _MAX_NAME, "name part ")
    if not _NAME_PATTERN.fullmatch(name):
        errors.append(f"name part {_NAME_RULE}")
    return errors


def label_value_errors(value: str) -> list[str]:
    """What is wrong with ``value`` as a label value; empty when nothing is."""
    errors = _too_long(value, _MAX_NAME, "")
    if value and not _NAME_PATTERN.fullmatch(value):
        errors.append(_VALUE_RULE)
    return errors


def _too_long(text: str, limit: int, part: str) -> list[str]:
    return [f"{part}must be no more than {limit} bytes"] if len(text.encode()) > limit else []


def invalid(path: str, value: str | int | Sequence[str], detail: str) -> str:
    """``path: Invalid value: value: detail``; texts are quoted, lists print as JSON, an empty list as ``null``."""
    plain = value if isinstance(value, int | str) else list(value) or None
    shown = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return f"{path}: Invalid value: {shown}: {detail}"


def not_supported(path: str, value: str, supported: Iterable[str]) -> str:
    """``path: Unsupported value: "value": supported values: "a", "b"``."""
    allowed = ", ".join(f'"{name}"' for name in supported)
    return f'{path}: Unsupported value: "{value}": supported values: {allowed}'


def joined(errors: Sequence[str]) -> str:
    """Several complaints as one text: each once, in brackets when they are two or more."""
    distinct = list(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
