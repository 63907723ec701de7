"""``gangsched bench [CASE…]``: how fast this machine schedules, in cases named as scheduler_perf names its own."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gangsched.bench.cases import AnyCase, find
from gangsched.bench.data_items import data_items
from gangsched.bench.measure import ORACLE_WORK, Figures, measure
from gangsched.cli.options import Words
from gangsched.cli.output import print_document
from gangsched.report.columns import columns

_OUTPUTS = ("table", "json", "dataitems")
_MORE_ORACLE = 10


@click.command()
@click.argument("names", nargs=-1, metavar="[CASE]…")
@click.option("--list", "only_list", is_flag=True, help="Name the cases and stop.")
@click.option("--nodes", type=click.IntRange(1), metavar="N", help="Another number of nodes in every scheduling case.")
@click.option("--oracle", is_flag=True, help="Let the per-node form run ten times as many pods.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Runs whose median is taken.")
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Seconds after which a run is stopped.",
)
@click.option("-o", "--output", type=Words(_OUTPUTS), default="table", show_default=True)
@click.pass_context
def bench(
    context: click.Context,
    names: tuple[str, ...],
    only_list: bool,
    nodes: int | None,
    oracle: bool,
    rounds: int,
    limit: float,
    output: str,
) -> None:
    """Run benchmark cases: by name, family (SchedulingBasic) or glob; without a name all of them.

    Timed from the arrival of the pods (the nodes are there) to the last confirmed binding, all nodes scored, medians
    of the rounds. The oracle ratio is the CPU time per pod of the plugins' per-node form by that of the columns. Exit
    code 1 when the two forms place a pod differently.
    """
    cases = find(names or ["*"], nodes)
    if only_list and output != "table":
        print_document([{"case": case.name, "about": case.about} for case in cases], "json")
        return
    if only_list:
        click.echo(columns([("CASE", "ABOUT"), *((case.name, case.about) for case in cases)]))
        return
    work = ORACLE_WORK * (_MORE_ORACLE if oracle else 1)
    measured = [_measured(case, rounds, limit, work) for case in cases]
    if output == "json":
        print_document([figures.document() for figures in measured], "json")
    elif output == "dataitems":
        print_document(data_items(measured), "json")
    else:
        click.echo(_table(measured))
    differing = [figures.case for figures in measured if not figures.oracle_agrees]
    for name in differing:
        click.echo(f"{name}: columns and the per-node form place pods differently", err=True)
    context.exit(1 if differing else 0)


def _measured(case: AnyCase, rounds: int, limit: float, oracle_work: int) -> Figures:
    click.echo(f"running {case.name}", err=True)
    return measure(case, rounds=rounds, limit=limit, oracle_work=oracle_work)


def _table(measured: Sequence[Figures]) -> str:
    rows = [("CASE", "PODS", "PODS/S", "US/POD", "CPU US/POD", "PEAK MB", "ORACLE RATIO"), *map(_row, measured)]
    return columns(rows, right=range(1, 7))


def _row(figures: Figures) -> tuple[str, ...]:
    return (
        figures.case,
        f"{figures.pods:,}{'' if figures.complete else ' (stopped)'}",
        f"{figures.pods_per_second:,.0f}",
        f"{figures.us_per_pod:,.1f}",
        f"{figures.cpu_us_per_pod:,.1f}",
        f"{figures.peak_memory_mb:,.0f}",
        "-" if figures.oracle_ratio is None else f"{figures.oracle_ratio:,.1f}",
    )
