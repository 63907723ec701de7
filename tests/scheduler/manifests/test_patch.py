"""JSON merge patch: the examples of RFC 7386, appendix A."""

from __future__ import annotations

from typing import Any

import pytest

from gangsched.manifests import InputError, apply_merge_patch

EXAMPLES: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize("document, patch, want", EXAMPLES, ids=lambda value: repr(value))
def test_the_examples_of_the_standard(document: Any, patch: Any, want: Any) -> None:
    assert apply_merge_patch(document, patch) == want


def test_neither_argument_changes() -> None:
    document: dict[str, Any] = {"a": {"b": 1}, "c": [1]}
    patch: dict[str, Any] = {"a": {"d": 2}}
    assert apply_merge_patch(document, patch) == {"a": {"b": 1, "d": 2}, "c": [1]}
    assert (document, patch) == ({"a": {"b": 1}, "c": [1]}, {"a": {"d": 2}})


def test_a_patch_without_end_is_refused() -> None:
    patch: dict[str, Any] = {}
    patch["a"] = patch
    with pytest.raises(InputError, match="nested more than 100 deep"):
        apply_merge_patch({}, patch)
