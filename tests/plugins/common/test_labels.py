"""Label keys and values in Kubernetes' judgement."""

from __future__ import annotations

import pytest

from gangsched_plugins.common.labels import label_key_errors, label_value_errors

KEYS = {
    "a": [],
    "nvidia.com/gpu": [],
    "A_b.c-9": [],
    "a" * 63: [],
    "a.b-c/d": [],
    "": ["name part must be non-empty", "name part must consist of"],
    "a/": ["name part must be non-empty", "name part must consist of"],
    "/a": ["prefix part must be non-empty"],
    "a b": ["name part must consist of"],
    "-a": ["name part must consist of"],
    "a.": ["name part must consist of"],
    "a\n": ["name part must consist of"],
    "ä": ["name part must consist of"],
    "a" * 64: ["name part must be no more than 63 bytes"],
    "A.com/x": ["prefix part a lowercase RFC 1123 subdomain must consist of"],
    "a_b/x": ["prefix part a lowercase RFC 1123 subdomain must consist of"],
    "a" * 254 + "/x": ["prefix part must be no more than 253 bytes"],
    "a/b/c": ["a valid label key must consist of"],
}
VALUES = {
    "": [],
    "a": [],
    "A_b.c-9": [],
    "a b": ["a valid label must be an empty string or consist of"],
    "_a": ["a valid label must be an empty string or consist of"],
    "a" * 64: ["must be no more than 63 bytes"],
    "a" * 64 + "!": ["must be no more than 63 bytes", "a valid label must be an empty string or consist of"],
}


@pytest.mark.parametrize("key", KEYS)
def test_keys(key: str) -> None:
    errors = label_key_errors(key)

    assert [text[: len(want)] for text, want in zip(errors, KEYS[key], strict=True)] == KEYS[key]


@pytest.mark.parametrize("value", VALUES)
def test_values(value: str) -> None:
    errors = label_value_errors(value)

    assert [text[: len(want)] for text, want in zip(errors, VALUES[value], strict=True)] == VALUES[value]
