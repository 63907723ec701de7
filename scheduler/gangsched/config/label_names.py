"""Which texts Kubernetes takes as label keys and values; its own words for the others."""

from __future__ import annotations

import re

_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_QUALIFIED_RULE = (
    "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    f"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}') "
    "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_is_name = re.compile(_NAME).fullmatch
_is_subdomain = re.compile(_SUBDOMAIN).fullmatch


def label_key_problems(key: str) -> list[str]:
    """What is wrong with a label key or resource name, ``[prefix/]name``; empty when nothing is."""
    parts = key.split("/")
    if len(parts) > 2:
        return [_QUALIFIED_RULE]
    problems: list[str] = []
    if len(parts) == 2:
        prefix = parts[0]
        if not prefix:
            problems.append("prefix part must be non-empty")
        else:
            if len(prefix) > 253:
                problems.append("prefix part must be no more than 253 characters")
            if not _is_subdomain(prefix):
                problems.append(f"prefix part {_SUBDOMAIN_RULE}")
    name = parts[-1]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name) > 63:
        problems.append("name part must be no more than 63 characters")
    if not _is_name(name):
        problems.append(f"name part {_NAME_RULE}")
    return problems


def label_value_problems(value: str) -> list[str]:
    """What is wrong with a label value; empty when nothing is."""
    problems = []
    if len(value) > 63:
        problems.append("must be no more than 63 characters")
    if value and not _is_name(value):
        problems.append(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
            "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
            f"for validation is '({_NAME})?')"
        )
    return problems
