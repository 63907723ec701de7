"""The README's embedding example works as printed."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_embedding_example_prints_what_the_readme_says() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(_block("python"), "README.md", "exec"), {})

    assert printed.getvalue() == _block("text")


def test_the_embedding_example_has_at_most_ten_lines() -> None:
    assert len([line for line in _block("python").splitlines() if line.strip()]) <= 10
