"""The syntax of names, labels and keys that the API server asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from attrs import frozen

from gangsched.manifests.errors import describe, found

_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_QUALIFIED_NAME = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_MAX_ANNOTATIONS = 256 * 1024


@frozen
class Syntax:
    """A kind of name: its pattern, greatest length, and how an error describes it."""

    pattern: re.Pattern[str]
    length: int
    allowed: str

    def accepts(self, text: str) -> bool:
        return len(text) <= self.length and self.pattern.fullmatch(text) is not None

    def require(self, text: str, *path: str) -> None:
        """Raise InputError at ``path`` unless ``text`` has this syntax."""
        if not self.accepts(text):
            raise found(describe(text), self.allowed, *path)


DNS_LABEL = Syntax(
    re.compile(_LABEL),
    63,
    "at most 63 lower case letters, digits and '-', a letter or digit at both ends",
)
DNS_SUBDOMAIN = Syntax(
    re.compile(rf"{_LABEL}(?:\.{_LABEL})*"),
    253,
    "at most 253 lower case letters, digits, '-' and '.', a letter or digit at both ends of each part",
)
LABEL_VALUE = Syntax(
    re.compile(f"(?:{_QUALIFIED_NAME})?"),
    63,
    "at most 63 letters, digits, '-', '_' and '.', a letter or digit at both ends",
)
_SIMPLE_NAME = Syntax(re.compile(_QUALIFIED_NAME), 63, LABEL_VALUE.allowed)


def require_qualified(text: str, *path: str) -> None:
    """Raise InputError at ``path`` unless ``text`` is a name with an optional DNS prefix: ``example.com/name``."""
    if not _is_qualified(text):
        raise found(describe(text), f"a name of {LABEL_VALUE.allowed}; before it optionally a domain and '/'", *path)


def validate_labels(labels: Mapping[str, str | None], *path: str) -> None:
    """Keys are qualified names, values label values."""
    for key, value in labels.items():
        if not _is_label(key, value or ""):
            require_qualified(key, *path, key)
            LABEL_VALUE.require(value or "", *path, key)


def validate_annotations(annotations: Mapping[str, str | None], *path: str) -> None:
    """Keys are qualified names whatever their case; together at most 256 KiB."""
    for key in annotations:
        require_qualified(key.lower(), *path, key)
    size = sum(len(key.encode()) + len((value or "").encode()) for key, value in annotations.items())
    if size > _MAX_ANNOTATIONS:
        raise found(f"{size} bytes", f"{_MAX_ANNOTATIONS} bytes", *path)


@lru_cache(maxsize=65536)
def _is_label(key: str, value: str) -> bool:
    return _is_qualified(key) and LABEL_VALUE.accepts(value)


@lru_cache(maxsize=8192)
def _is_qualified(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    return _SIMPLE_NAME.accepts(name) and (not slash or DNS_SUBDOMAIN.accepts(prefix))
