"""The tables of docs name a test for each edge case of the cycle and of fair sharing, and each named test exists."""

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

SHARES = ROOT / "docs" / "fairshare-cases.md"
SHARES_ROW = re.compile(r"^\| ([A-Z]+\d+[ab]?) \| (.*) \|$")
SHARES_NUMBERS = [
    *(f"DE{n}" for n in range(1, 11)),
    *(f"HE{n}" for n in range(1, 12)),
    *(f"HR{n}" for n in range(1, 7)),
    *(f"P{n}" for n in (*range(1, 6), "6a", "6b", *range(7, 20))),
    *(f"PF{n}" for n in range(1, 11)),
    *(f"E{n}" for n in (*range(1, 20), *range(20, 23), *range(46, 91))),
]
NOT_OURS = ["E18", "E51", "E83", "E84", "E88"]
"""Of actions and sessions of Volcano's that are not here."""


def rows() -> Iterator[tuple[int, str]]:
    for line in TABLE.read_text().splitlines():
        found = ROW.match(line)
        if found:
            yield int(found[1]), found[2]


def shares_rows() -> Iterator[tuple[str, str]]:
    for line in SHARES.read_text().splitlines():
        found = SHARES_ROW.match(line)
        if found:
            yield found[1], found[2]


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


# --- fair sharing -----------------------------------------------------------------------------------------------------


def test_every_example_and_edge_case_of_fair_sharing_has_a_row() -> None:
    assert [number for number, _ in shares_rows()] == SHARES_NUMBERS


def test_rows_of_fair_sharing_name_tests_but_where_it_is_not_ours() -> None:
    assert [number for number, text in shares_rows() if not LINK.search(text)] == NOT_OURS


def test_the_named_tests_of_fair_sharing_exist_and_know_their_number() -> None:
    known: dict[str, set[str]] = {}
    for number, text in shares_rows():
        for file, name in LINK.findall(text):
            if file not in known:
                known[file] = names_in(file)
            assert name in known[file], f"{number}: {file} has no test {name}"
            if number != "E67":  # P1 to P19
                mentioned = re.compile(rf"(?<![A-Za-z0-9]){number}(?![0-9a-z])", re.IGNORECASE)
                assert mentioned.search((ROOT / file).read_text()), f"{number} is not to be found in {file}"
