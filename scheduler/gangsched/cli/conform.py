"""``gangsched conform PATH…``: play recorded scenarios and print where the engine differs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from gangsched.cli.options import Words, config_option
from gangsched.config import load_config
from gangsched.conform.documents import read_scenarios
from gangsched.conform.fields import Fields
from gangsched.conform.runner import run, selected
from gangsched.conform.scenario import Difference, Options, Outcome


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…", type=click.Path(path_type=Path))
@click.option(
    "-k", "pattern", default="", metavar="PATTERN", help="Only names that contain PATTERN, or match it (* ? [)."
)
@click.option("--list", "list_only", is_flag=True, help="Print the names of the scenarios and play nothing.")
@config_option
@click.option("--fields", default="", metavar="A,B,-C", help="Compare only fields A and B; leave out C.")
@click.option("--state-only", is_flag=True, help="Of Volcano's sessions: shares and orders when the first one opened.")
@click.option("-o", "--output", type=Words(["text", "json"]), default="text", show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to play in.")
@click.pass_context
def conform(
    context: click.Context,
    paths: tuple[Path, ...],
    pattern: str,
    list_only: bool,
    config: str | None,
    fields: str,
    state_only: bool,
    output: str,
    jobs: int,
) -> None:
    """Play recorded scenarios (files or folders) on the engine and compare with what the real scheduler did.

    Prints one line a difference and ends with the number of passed, failed and skipped scenarios. A scenario recorded
    as deliberately differing passes if and only if it differs. -c stands in for the configuration of kube scenarios
    that bring none. Exit code 0 when all pass, 1 when one fails, 2 for files that are no scenarios.
    """
    if config is not None:
        load_config(config)  # a fault in it is its own, not that of a scenario
    options = Options(Fields.parse(fields), config, state_only)
    scenarios = selected(read_scenarios(paths), pattern)
    if list_only:
        names = [scenario.name for scenario in scenarios]
        click.echo(json.dumps(names, indent=1) if output == "json" else "\n".join(names))
        return
    outcomes = run(scenarios, options, jobs)
    failed = _print_json(outcomes) if output == "json" else _print_text(outcomes)
    context.exit(1 if failed else 0)


def _print_text(outcomes: Iterable[Outcome]) -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    apart: list[Outcome] = []
    for outcome in outcomes:
        counts[outcome.verdict] += 1
        if outcome.differs:
            apart.append(outcome)
        for line in _lines(outcome):
            click.echo(line)
    for outcome in apart:
        verb = "differs, as decided" if outcome.verdict == "passed" else "does not differ, though it should"
        click.echo(f"{outcome.name}: {verb}: {outcome.reason}")
    summary = f"{counts['passed']} passed, {counts['failed']} failed"
    click.echo(summary + (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    return counts["failed"]


def _lines(outcome: Outcome) -> Iterator[str]:
    if outcome.verdict == "skipped":
        yield f"{outcome.name}: skipped: {outcome.reason}"
    elif not outcome.differs:
        if outcome.reason:
            yield f"{outcome.name}: {outcome.reason}"
        for difference in outcome.differences:
            yield f"{outcome.name}: {_place(difference)}: {_versus(difference)}"


def _place(difference: Difference) -> str:
    return difference.field if difference.step is None else f"step {difference.step}: {difference.field}"


def _versus(difference: Difference) -> str:
    return f"expected {_text(difference.expected)}, got {_text(difference.got)}"


def _text(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _print_json(outcomes: Iterable[Outcome]) -> int:
    played = list(outcomes)
    counts = {verdict: sum(o.verdict == verdict for o in played) for verdict in ("passed", "failed", "skipped")}
    click.echo(json.dumps(counts | {"scenarios": [_scenario(outcome) for outcome in played]}, indent=1))
    return counts["failed"]


def _scenario(outcome: Outcome) -> dict[str, Any]:
    found = [{"step": d.step, "field": d.field, "expected": d.expected, "got": d.got} for d in outcome.differences]
    return {
        "name": outcome.name,
        "where": outcome.where,
        "verdict": outcome.verdict,
        "differs": outcome.differs,
        "reason": outcome.reason,
        "differences": found,
    }
