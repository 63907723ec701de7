"""Apply each mutation to a copy of the tree and see whether the tests notice: ``python -m tests.mutations.run``.

Writes ``docs/mutations.md`` with ``--write``, where the answers of mutations that were not tried now stay as they were.
The test file which that page says noticed a mutation is asked first. Exit code 1 when a mutation survives, 2 when one
cannot be applied.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from attrs import frozen

from tests.mutations.mutations import MUTATIONS, QUEUE, Mutation

ROOT = Path(__file__).parent.parent.parent
ROOMS = ("scheduler", "framework", "plugins", "queue")
FOLDERS = ("tests/cycles", "tests/queue_room", "tests/scheduler/engine", "tests/properties")
SLOW = ("machine", "costs", "properties", "idle")
"""Words in the names of the test files that are asked last."""
STATISTICS = ("reach_what_they_are_about", "columns_are_used")
"""Tests of the stories themselves, which say nothing about the engine."""
LIMIT = 200
"""Seconds of processor time one test file may take, which is many times what any needs."""
PAGE = ROOT / "docs" / "mutations.md"
NONE = "**none**"
ROW = re.compile(r"\| \d")


@frozen
class Outcome:
    """``by``: the first test that failed, '' when none did."""

    mutation: Mutation
    by: str


def broken(mutation: Mutation, root: Path = ROOT) -> str:
    """Why a mutation cannot be applied, '' when it can."""
    path = root / mutation.file
    if not path.exists():
        return f"{mutation.what}: no file {mutation.file}"
    count = path.read_text(encoding="utf-8").count(mutation.old)
    if count != 1:
        return f"{mutation.what}: {mutation.file} holds its text {count} times, not once"
    return ""


def copy_tree(target: Path) -> None:
    for room in (*ROOMS, "tests"):
        shutil.copytree(ROOT / room, target / room, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
    for file in ("pyproject.toml",):
        shutil.copy(ROOT / file, target / file)


def tests_for(mutation: Mutation, tree: Path) -> list[str]:
    """Test files in the order to be asked: tables of the mutated room, other tables, machines."""
    files = [path for folder in FOLDERS for path in sorted((tree / folder).glob("test_*.py"))]
    own = "queue_room" if mutation.file.startswith(QUEUE) else "cycles"
    names = [file.relative_to(tree).as_posix() for file in files]
    return sorted(names, key=lambda name: (any(word in name for word in SLOW), own not in name))


def noticed_before(page: Path = PAGE) -> dict[str, str]:
    """What is wrong -> the test that noticed it when the page was written, '' when none did."""
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if ROW.match(line)]
    return {what: "" if by == NONE else f"tests/{by.strip('`')}" for _, _, what, by in rows}


def try_mutation(mutation: Mutation, tree: Path, before: Mapping[str, str]) -> Outcome:
    path = tree / mutation.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    likely = before.get(mutation.what, "").split(":")[0]
    try:
        files = sorted(tests_for(mutation, tree), key=lambda name: name != likely)
        return Outcome(mutation, next(filter(None, (_run_tests(tree, name) for name in files)), ""))
    finally:
        path.write_text(text, encoding="utf-8")
        shutil.rmtree(tree / ".hypothesis", ignore_errors=True)  # what failed for one is nothing to the next


def _run_tests(tree: Path, file: str) -> str:
    """The first failing test of a file, '' when all pass. One that runs for too long has noticed the mutation, too."""
    paths = os.pathsep.join(str(tree / room) for room in ROOMS)
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    left_out = " and ".join(f"not {word}" for word in STATISTICS)
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1", "-k", left_out]
    command = [sys.executable, "-m", "pytest", *options, file]
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False, preexec_fn=_limit
    )
    if done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return ""
    if done.returncode == -signal.SIGXCPU:
        return f"{file}: the time limit"
    failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return failed[0].split("[")[0] if failed else f"{file}: exit code {done.returncode}"


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))


def report(outcomes: Sequence[Outcome]) -> str:
    """The text of docs/mutations.md."""
    caught = sum(bool(outcome.by) for outcome in outcomes)
    lines = [
        "# Mutations",
        "",
        f"{len(outcomes)} small wrong changes of queue and engine; {caught} are noticed by the tests. Each is applied",
        "to a copy of the tree (`tests/mutations/mutations.py` holds the texts), then the tests of `queue_room`,",
        "`cycles`, `scheduler/engine` and `properties` run until the first failure.",
        "`python -m tests.mutations.run --write` makes this page anew, `-k TEXT` some rows of it.",
        "",
        "| # | Where | What is wrong | Test that notices |",
        "|---|---|---|---|",
    ]
    for number, outcome in enumerate(outcomes, 1):
        where = outcome.mutation.file.rsplit("/", 1)[1]
        by = f"`{outcome.by.removeprefix('tests/')}`" if outcome.by else NONE
        lines.append(f"| {number} | {where} | {outcome.mutation.what} | {by} |")
    return "\n".join(lines) + "\n"


def write(before: Mapping[str, str], outcomes: Sequence[Outcome]) -> None:
    """The page, with what it said before of mutations that were not tried."""
    known = {**before, **{outcome.mutation.what: outcome.by for outcome in outcomes}}
    kept = [Outcome(mutation, known[mutation.what]) for mutation in MUTATIONS if mutation.what in known]
    PAGE.write_text(report(kept), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", default="", help="only mutations whose words or file contain this text")
    parser.add_argument("--open", action="store_true", help="only mutations that the page does not call noticed")
    parser.add_argument("--write", action="store_true", help="write docs/mutations.md")
    options = parser.parse_args(arguments)
    before = noticed_before()
    chosen = [m for m in MUTATIONS if options.k in f"{m.file}: {m.what}" and not (options.open and before.get(m.what))]
    problems = [problem for mutation in chosen if (problem := broken(mutation))]
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        outcomes: list[Outcome] = []
        for mutation in chosen:
            outcomes.append(try_mutation(mutation, tree, before))
            by = outcomes[-1].by
            print(f"{'caught  ' if by else 'SURVIVED'} {mutation.file}: {mutation.what} ({by})", flush=True)
            if options.write:
                write(before, outcomes)
    survived = sum(not outcome.by for outcome in outcomes)
    print(f"{len(outcomes) - survived} of {len(outcomes)} caught")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
