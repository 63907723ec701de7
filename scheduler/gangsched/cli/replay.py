"""``gangsched replay TRACE``: play an event trace on a virtual clock."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import click
from attrs import frozen

from gangsched.api import Engine, plugin_registry
from gangsched.cli.inputs import tell_skipped, warn
from gangsched.cli.logs import configure_logging
from gangsched.cli.options import config_option, gates_option, verbose_option
from gangsched.cli.output import print_document, show_cycles
from gangsched.cli.progress import Progress
from gangsched.collector import calm_collector
from gangsched.config import FeatureGates, describe
from gangsched.manifests import Decoder
from gangsched.replay.check import CheckFailed
from gangsched.replay.complaints import Complaints
from gangsched.replay.decision_log import OutcomeLog
from gangsched.replay.evictions import Fate
from gangsched.replay.formats import DEFAULT_NODES, FORMATS, Format, open_trace
from gangsched.replay.nodes import nodes_of, read_nodes
from gangsched.replay.player import Player, ReplayResult
from gangsched.replay.run_folder import RunFolder
from gangsched.replay.times import parse_duration, parse_seconds
from gangsched.report.replay_summary import ReplaySummary, summarise
from gangsched.report.replay_text import replay_text
from gangsched_framework.objects import Node


class Moment(click.ParamType[int]):
    """Seconds since the start of the trace, or a duration such as ``36h``; nanoseconds to the command."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return parse_duration(value) if value[-1:].isalpha() else parse_seconds(value)
        except ValueError as problem:
            self.fail(f"found {value!r}, allowed seconds or a duration such as 36h ({problem})", param, ctx)


@frozen
class Options:
    """The options of a replay, apart from those of its output."""

    trace: str
    format: Format | None
    nodes: str | None
    until: int | None
    config: str | None
    gates: str
    lenient: bool
    check: bool
    pod_per_gpu: bool
    evicted: Fate
    grace: int
    traced: bool
    verbose: bool
    machine: bool

    def document(self) -> dict[str, Any]:
        """For the run folder: what was asked beyond the defaults."""
        return {
            "trace": self.trace,
            "format": self.format,
            "nodes": self.nodes,
            "until_nanoseconds": self.until,
            "config": self.config,
            "feature_gates": self.gates,
            "lenient": self.lenient,
            "pod_per_gpu": self.pod_per_gpu,
            "evicted": self.evicted,
            "grace_nanoseconds": self.grace,
        }


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option("--format", "format_", type=click.Choice(("auto", *FORMATS)), default="auto", show_default=True)
@click.option("--nodes", metavar="FILE|COUNTxSHAPE", help="Nodes at time 0, as manifests or like 80x8gpu.")
@click.option("--until", type=Moment(), help="End after this time: seconds, or like 36h.")
@config_option
@gates_option
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the run folder to DIR.")
@click.option("--lenient", is_flag=True, help="Skip and count bad lines instead of stopping at the first.")
@click.option("--check", is_flag=True, help="Check every binding: no node over-committed, no gang below its minimum.")
@click.option("--pod-per-gpu", is_flag=True, help="Philly: one pod for each GPU instead of one for up to eight.")
@click.option(
    "--evicted",
    type=click.Choice(get_args(Fate)),
    default="restart",
    show_default=True,
    help="What becomes of an evicted pod: it restarts from the beginning, or never comes back.",
)
@click.option(
    "--grace",
    type=Moment(),
    metavar="DURATION",
    default="0s",
    show_default=True,
    help="How long an evicted pod keeps running.",
)
@click.option("--trace", "traced", is_flag=True, help="Show every cycle step by step (on stderr with -o json).")
@verbose_option
@click.pass_context
def replay(
    context: click.Context,
    trace: str,
    format_: str,
    nodes: str | None,
    until: int | None,
    config: str | None,
    gates: str,
    output: str,
    out: Path | None,
    lenient: bool,
    check: bool,
    pod_per_gpu: bool,
    evicted: Fate,
    grace: int,
    traced: bool,
    verbose: bool,
) -> None:
    """Replay a trace of arrivals, changes and departures on a virtual clock and sum up what became of it.

    Exit code 0 when the trace was read to its end, whatever stayed pending; 1 when --check finds a broken promise; 2
    for bad input.
    """
    configure_logging(verbose)
    known: Format | None = next((name for name in FORMATS if name == format_), None)
    machine = output == "json"
    options = Options(
        trace,
        known,
        nodes,
        until,
        config,
        gates,
        lenient,
        check,
        pod_per_gpu,
        evicted,
        grace,
        traced,
        verbose,
        machine,
    )
    folder = RunFolder(out) if out is not None else None
    try:
        engine, result = _play(options, OutcomeLog(folder.decisions) if folder is not None else None)
    except CheckFailed as problem:
        click.echo(f"check failed: {problem}", err=True)
        context.exit(1)
    summary = summarise(result)
    if folder is not None:
        _finish(folder, options, engine, summary)
    if machine:
        print_document({**summary.document(), "bindings": result.bindings}, "json")
    else:
        click.echo(replay_text(summary))


def _play(options: Options, log: OutcomeLog | None) -> tuple[Engine, ReplayResult]:
    complaints = Complaints(options.trace, options.lenient)
    source = open_trace(complaints, options.format, pod_per_gpu=options.pod_per_gpu)
    decoder = source.decoder
    nodes = _nodes(options.nodes if options.nodes is not None else DEFAULT_NODES.get(source.header.format), decoder)
    gates = FeatureGates.parse(options.gates, start=FeatureGates(source.header.feature_gates))
    config = options.config or source.header.config
    engine = Engine(config, feature_gates=gates, tracing=options.traced, logging=options.verbose, idle=True)
    warn(engine.config.warnings)
    if options.traced:
        show_cycles(engine, on_stderr=options.machine)
    progress = Progress()
    player = Player(
        engine,
        source.header,
        complaints,
        options.check,
        options.until,
        log,
        progress,
        options.evicted,
        options.grace,
    )
    try:
        with calm_collector():
            result = player.play(source.events(), nodes)
    finally:
        progress.end()
    warn(decoder.warnings)
    tell_skipped(decoder.skipped)
    return engine, result


def _nodes(text: str | None, decoder: Decoder) -> list[Node]:
    if text is None:
        return []
    made = None if Path(text).exists() else nodes_of(text)
    return read_nodes(text, decoder) if made is None else made


def _finish(folder: RunFolder, options: Options, engine: Engine, summary: ReplaySummary) -> None:
    files = (options.trace, options.config, options.nodes if options.nodes and Path(options.nodes).is_file() else None)
    folder.finish(
        summary.result.ledger,
        inputs=[name for name in files if name is not None],
        options=options.document(),
        version=version("gangsched"),
        config=describe(engine.config, plugin_registry()).as_dict(),
        summary=summary.document(),
    )
