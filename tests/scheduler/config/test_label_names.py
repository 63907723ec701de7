"""Label keys and values in Kubernetes' judgement."""

from __future__ import annotations

import pytest

from gangsched.config.label_names import label_key_problems, label_value_problems

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
    "a" * 64: ["name part must be no more than 63 characters"],
    "A.com/x": ["prefix part a lowercase RFC 1123 subdomain must consist of"],
    "a_b/x": ["prefix part a lowercase RFC 1123 subdomain must consist of"],
    "a" * 254 + "/x": ["prefix part must be no more than 253 characters"],
    "a/b/c": ["a qualified name must consist of"],
}
VALUES = {
    "": [],
    "a": [],
    "A_b.c-9": [],
    "a b": ["a valid label must be an empty string or consist of"],
    "_a": ["a valid label must be an empty string or consist of"],
    "a" * 64: ["must be no more than 63 characters"],
}


@pytest.mark.parametrize("key", KEYS)
def test_keys(key: str) -> None:
    problems = label_key_problems(key)

    assert [text[: len(want)] for text, want in zip(problems, KEYS[key], strict=True)] == KEYS[key]


@pytest.mark.parametrize("value", VALUES)
def test_values(value: str) -> None:
    problems = label_value_problems(value)

    assert [text[: len(want)] for text, want in zip(problems, VALUES[value], strict=True)] == VALUES[value]
