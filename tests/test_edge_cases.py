"""docs/edge-cases.md names a test for each of the 194 edge cases, and each named test exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "edge-cases.md"
ROW = re.compile(r"^\| (\d+) \| (.*) \|$")
LINK = re.compile(r"`([\w/]+\.py)::(\w+)`")
COUNT = 194
WAITING = (91, 92)


def rows() -> Iterator[tuple[int, str]]:
    for line in TABLE.read_text().splitlines():
        found = ROW.match(line)
        if found:
            yield int(found[1]), found[2]


def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_edge_case_has_a_row() -> None:
    assert [number for number, _ in rows()] == list(range(1, COUNT + 1))


def test_every_row_names_a_test_but_those_that_wait() -> None:
    assert [number for number, text in rows() if not LINK.search(text)] == list(WAITING)


def test_every_named_test_exists() -> None:
    known: dict[str, set[str]] = {}
    for number, text in rows():
        for file, name in LINK.findall(text):
            if file not in known:
                known[file] = names_in(file)
            assert name in known[file], f"row {number}: {file} has no test {name}"
