"""Every mutation can still be applied (``python -m tests.mutations.run`` tries them, docs/mutations.md)."""

from __future__ import annotations

import ast

import pytest

from tests.mutations.mutations import MUTATIONS, Mutation
from tests.mutations.run import ROOT, broken


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.what)
def test_its_text_is_there_and_its_result_is_python(mutation: Mutation) -> None:
    assert not broken(mutation)
    text = (ROOT / mutation.file).read_text(encoding="utf-8")
    ast.parse(text.replace(mutation.old, mutation.new))


def test_there_are_enough() -> None:
    assert len(MUTATIONS) >= 40
    assert len({mutation.what for mutation in MUTATIONS}) == len(MUTATIONS)
