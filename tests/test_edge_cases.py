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


def test_every_test_that_carries_a_row_number_stands_in_that_row() -> None:
    table = dict(rows())
    for folder in ("tests/queue_room", "tests/cycles"):
        for path in sorted((ROOT / folder).glob("test_*.py")):
            file = path.relative_to(ROOT).as_posix()
            for name in sorted(names_in(file)):
                for number in numbers(name):
                    assert f"{file}::{name}`" in table[number], f"row {number} does not name {file}::{name}"


def numbers(name: str) -> list[int]:
    """Rows in the name of a test: ``test_row_7_…``, ``test_rows_13_and_14_…``, ``test_rows_100_to_103_…``."""
    found = re.match(r"test_rows?_(\d+)(?:_(and|to)_(\d+))?", name)
    if not found:
        return []
    first = int(found[1])
    last = int(found[3]) if found[3] else first
    return list(range(first, last + 1)) if found[2] == "to" else sorted({first, last})
