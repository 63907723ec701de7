"""``gangsched top queues|jobs -f FILE…``: who deserves, holds and asks for what, and how that came about."""

from __future__ import annotations

import click

from gangsched.api import Engine
from gangsched.cli.inputs import apply_files
from gangsched.cli.options import Words, config_option, gates_option, nodes_option
from gangsched.cli.output import print_document
from gangsched.config import FeatureGates
from gangsched.report.share_metrics import metrics_text
from gangsched.report.shares_text import jobs_text, queues_text, shares_document

_OUTPUTS = ("table", "wide", "json", "yaml", "metrics")


@click.command()
@click.argument("what", type=Words(["queues", "jobs"]), metavar="queues|jobs")
@click.option("-f", "--filename", "files", multiple=True, metavar="FILE", help="File, directory or - (standard input).")
@click.argument("more", nargs=-1, metavar="[FILE]…")
@click.option("--no-run", is_flag=True, help="Show the state the files describe, before any cycle.")
@nodes_option
@config_option
@gates_option
@click.option("-o", "--output", type=Words(_OUTPUTS), default="table", show_default=True)
def top(
    what: str,
    files: tuple[str, ...],
    more: tuple[str, ...],
    no_run: bool,
    nodes: str | None,
    config: str | None,
    gates: str,
    output: str,
) -> None:
    """Schedule what the manifests describe, as run does, then show the shares of queues or of jobs.

    A queue's share is what it holds by what it deserves, of the worst resource; a job's is its dominant share of the
    cluster. -o wide adds limits, the rounds of water-filling, and the tree of hierarchical DRF; -o metrics gives both
    as Prometheus reads them, under Volcano's names. Under a configuration without fair sharing the shares are measured
    and decide nothing. -o metrics needs the extra gangsched[metrics].

    Exit code 0, whoever waits; 2 for bad input.
    """
    if not files and not more:
        raise click.UsageError("nothing to show: name manifests with -f FILE")
    engine = Engine(config, feature_gates=FeatureGates.parse(gates))
    apply_files(engine, (*files, *more), nodes)
    if not no_run:
        engine.run()
    if output == "metrics":
        click.echo(metrics_text(engine.shares), nl=False)
        return
    view = engine.shares()
    if output in ("json", "yaml"):
        print_document(shares_document(view, what), output)
    elif what == "jobs":
        click.echo(jobs_text(view, wide=output == "wide"))
    else:
        click.echo(queues_text(view, wide=output == "wide"))
