"""``gangsched run -f FILE…``: schedule what manifests describe and show what became of it."""

from __future__ import annotations

import click

from gangsched.api import Engine
from gangsched.cli.inputs import apply_files
from gangsched.cli.logs import configure_logging
from gangsched.cli.options import Words, config_option, gates_option, groups_option, nodes_option, verbose_option
from gangsched.cli.output import print_document, show_cycles
from gangsched.config import FeatureGates, parse_choices
from gangsched.engine.report import CycleReport
from gangsched.report.run_text import run_text
from gangsched.report.run_view import view_run

_OUTPUTS = ("table", "wide", "json", "yaml")


@click.command()
@click.option("-f", "--filename", "files", multiple=True, metavar="FILE", help="File, directory or - (standard input).")
@click.argument("more", nargs=-1, metavar="[FILE]…")
@click.option("--once", is_flag=True, help="One scheduling cycle only.")
@nodes_option
@config_option
@gates_option
@groups_option
@click.option("-o", "--output", type=Words(_OUTPUTS), default="table", show_default=True)
@click.option("--trace", is_flag=True, help="Show every cycle step by step (on stderr with -o json or yaml).")
@verbose_option
@click.pass_context
def run(
    context: click.Context,
    files: tuple[str, ...],
    more: tuple[str, ...],
    once: bool,
    nodes: str | None,
    config: str | None,
    gates: str,
    groups: str,
    output: str,
    trace: bool,
    verbose: bool,
) -> None:
    """Schedule nodes, pods and groups from manifests (YAML or JSON) on a virtual clock.

    Runs until a whole round of attempts changes nothing. Exit code 0 when every pod has a node, 1 when one has none or
    was evicted, 2 for bad input.
    """
    if not files and not more:
        raise click.UsageError("nothing to run: name manifests with -f FILE")
    configure_logging(verbose)
    engine = Engine(
        config,
        feature_gates=FeatureGates.parse(gates),
        group_scheduling=parse_choices(groups),
        tracing=trace,
        logging=verbose,
    )
    apply_files(engine, (*files, *more), nodes)
    machine = output in ("json", "yaml")
    if trace:
        show_cycles(engine, on_stderr=machine)
    reports = _one_cycle(engine) if once else engine.run()
    view = view_run(engine, reports)
    if machine:
        print_document(view.document(), output)
    else:
        click.echo(run_text(view, wide=output == "wide"))
    context.exit(0 if view.all_placed else 1)


def _one_cycle(engine: Engine) -> list[CycleReport]:
    report = engine.step()
    return [] if report is None else [report]
