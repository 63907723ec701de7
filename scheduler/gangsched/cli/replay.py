"""``gangsched replay TRACE``: play an event trace on a virtual clock."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import click
from attrs import field, frozen

from gangsched.api import Engine, plugin_registry
from gangsched.cli.inputs import tell_skipped, warn
from gangsched.cli.logs import configure_logging
from gangsched.cli.options import Words, config_option, gates_option, groups_option, verbose_option
from gangsched.cli.output import print_document, show_cycles
from gangsched.cli.progress import Progress
from gangsched.collector import calm_collector
from gangsched.config import FeatureGates, SchedulerConfig, describe, load_config, parse_choices
from gangsched.manifests import Decoder, InputError
from gangsched.manifests.sources import manifests_in
from gangsched.replay.check import CheckFailed
from gangsched.replay.complaints import Complaints
from gangsched.replay.decision_log import OutcomeLog
from gangsched.replay.events import EventSource, TraceHeader
from gangsched.replay.evictions import Fate
from gangsched.replay.explained import Explained
from gangsched.replay.formats import DEFAULT_NODES, FORMATS, Format, open_trace
from gangsched.replay.nodes import named_nodes, read_queues
from gangsched.replay.player import Player, ReplayResult
from gangsched.replay.reading import sha256_of
from gangsched.replay.run_folder import RunFolder
from gangsched.replay.share_series import ShareSeries
from gangsched.replay.times import parse_seconds, parse_span
from gangsched.report.explain_text import moments_document, moments_text
from gangsched.report.replay_summary import ReplaySummary, summarise
from gangsched.report.replay_text import replay_text
from gangsched_framework.errors import ConfigurationError
from gangsched_framework.objects import Node


class Moment(click.ParamType[int]):
    """Seconds since the start of the trace, or a duration such as ``1d12h``; nanoseconds to the command."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return parse_span(value) if value[-1:].isalpha() else parse_seconds(value)
        except ValueError as problem:
            self.fail(f"found {value!r}, allowed seconds or a duration such as 1d12h ({problem})", param, ctx)


class PodKey(click.ParamType[str]):
    """``NAME``, ``NAMESPACE/NAME``, each also after ``pod/``; ``NAMESPACE/NAME`` to the command."""

    name = "POD"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = str(value).removeprefix("pod/").split("/")
        if len(names) > 2 or not all(names):
            self.fail(f"found {value!r}, allowed NAME or NAMESPACE/NAME of a pod", param, ctx)
        return "/".join(names if len(names) == 2 else ("default", *names))


def _known(name: str) -> Format | None:
    return next((each for each in FORMATS if each == name), None)


@frozen
class Options:
    """The options of a replay, apart from those of its output; ``explain``: the key of a pod."""

    trace: str
    format: Format | None = field(converter=_known)
    nodes: str | None
    queues: str | None
    until: int | None
    config: str | None
    gates: str
    groups: str
    lenient: bool
    check: bool
    pod_per_gpu: bool
    evicted: Fate
    grace: int
    explain: str | None
    traced: bool
    verbose: bool
    machine: bool

    def document(self) -> dict[str, Any]:
        """For the run folder: what was asked beyond the defaults."""
        return {
            "trace": self.trace,
            "format": self.format,
            "nodes": self.nodes,
            "queues": self.queues,
            "until_nanoseconds": self.until,
            "config": self.config,
            "feature_gates": self.gates,
            "group_scheduling": self.groups,
            "lenient": self.lenient,
            "pod_per_gpu": self.pod_per_gpu,
            "evicted": self.evicted,
            "grace_nanoseconds": self.grace,
        }


@click.command()
@click.argument("trace", metavar="TRACE")
@click.option("--format", type=Words(("auto", *FORMATS)), default="auto", show_default=True)
@click.option("--nodes", metavar="FILE|COUNTxSHAPE", help="Nodes at time 0, as manifests or like 80x8gpu.")
@click.option("--queues", metavar="FILE", help="Queues at time 0, as manifests; then shares are reported, too.")
@click.option("--until", type=Moment(), help="End after this time: seconds, or like 1d12h.")
@config_option
@gates_option
@groups_option
@click.option("-o", "--output", type=Words(["table", "json"]), default="table", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the run folder to DIR.")
@click.option("--lenient", is_flag=True, help="Skip and count bad lines instead of stopping at the first.")
@click.option("--check", is_flag=True, help="Check every binding: no node over-committed, no gang below its minimum.")
@click.option("--pod-per-gpu", is_flag=True, help="Philly: one pod for each GPU instead of one for up to eight.")
@click.option(
    "--evicted",
    type=Words(get_args(Fate)),
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
@click.option(
    "--explain",
    type=PodKey(),
    metavar="POD",
    help="Explain a pod when it is tried first and when it gets a node: each node's refusal or scores.",
)
@click.option("--trace", "traced", is_flag=True, help="Show every cycle step by step (on stderr with -o json).")
@verbose_option
@click.pass_context
def replay(context: click.Context, /, output: str, out: Path | None, **asked: Any) -> None:
    """Replay TRACE, a file or - (standard input), on a virtual clock and sum up what became of it.

    Exit code 0 when the trace was read to its end, whatever stayed pending; 1 when --check finds a broken promise; 2
    for bad input.
    """
    options = Options(**asked, machine=output == "json")
    configure_logging(options.verbose)
    folder = RunFolder(out) if out is not None else None
    try:
        played = _play(options, OutcomeLog(folder.decisions) if folder is not None else None)
    except CheckFailed as problem:
        click.echo(f"check failed: {problem}", err=True)
        context.exit(1)
    summary = summarise(played.result, played.series)
    if folder is not None:
        _finish(folder, options, played, summary)
    moments = played.explained.moments if played.explained is not None else None
    if options.machine:
        document = {**summary.document(), "bindings": played.result.bindings}
        print_document(document if moments is None else {**document, "explained": moments_document(moments)}, "json")
        return
    if moments:
        click.echo(moments_text(moments) + "\n")
    click.echo(replay_text(summary))


@frozen
class _Played:
    """A replay at its end."""

    engine: Engine
    source: EventSource
    result: ReplayResult
    series: ShareSeries | None
    explained: Explained | None


def _play(options: Options, log: OutcomeLog | None) -> _Played:
    complaints = Complaints(options.trace, options.lenient)
    source = open_trace(complaints, options.format, pod_per_gpu=options.pod_per_gpu)
    decoder = source.decoder
    nodes = _nodes(options.nodes if options.nodes is not None else DEFAULT_NODES.get(source.header.format), decoder)
    engine = _engine(options, source.header, complaints)
    decoder.heed_gates(engine.gates)
    warn(engine.config.warnings)
    if options.traced:
        show_cycles(engine, on_stderr=options.machine)
    explained = Explained(engine, options.explain) if options.explain is not None else None
    progress = Progress()
    queues = read_queues(options.queues, decoder) if options.queues is not None else []
    shared = options.queues is not None or engine.shares_fairly
    series = ShareSeries(engine) if shared else None
    player = Player(
        engine,
        source.header,
        complaints,
        options.check,
        options.until,
        log,
        progress if series is None else _both(progress, series),
        options.evicted,
        options.grace,
        declare_queues=shared and source.header.format != "native",
    )
    try:
        with calm_collector():
            result = player.play(source.events(), (*queues, *nodes))
    finally:
        progress.end()
    warn(decoder.warnings)
    tell_skipped(decoder.skipped)
    if explained is not None and not explained.moments:
        warn([f"--explain: pod {explained.pod} was never tried"])
    return _Played(engine, source, result, series, explained)


def _both(progress: Progress, series: ShareSeries) -> Callable[[Player], None]:
    def watch(player: Player) -> None:
        progress(player)
        series(player)

    return watch


def _engine(options: Options, header: TraceHeader, complaints: Complaints) -> Engine:
    """What the header asks for; options of the command go before it. Raises GangschedError."""
    FeatureGates.parse(options.gates)  # what is wrong by itself is no fault of the trace
    choices = parse_choices(options.groups)
    try:
        gates = FeatureGates.parse(options.gates, start=FeatureGates(header.feature_gates))
        config: str | SchedulerConfig | None = options.config
        if config is None and header.config is not None:
            config = load_config(header.config, gates, plugin_registry())
    except ConfigurationError as problem:
        raise complaints.at(1, InputError(str(problem))) from None
    return Engine(
        config,
        feature_gates=gates,
        group_scheduling=choices,
        tracing=options.traced,
        logging=options.verbose,
        idle=True,
    )


def _nodes(text: str | None, decoder: Decoder) -> list[Node]:
    return [] if text is None else named_nodes(text, decoder)


def _finish(folder: RunFolder, options: Options, played: _Played, summary: ReplaySummary) -> None:
    named = [name for name in (options.config, options.nodes, options.queues) if name is not None]
    files = [file for name in named for file in _files(name)]
    folder.finish(
        summary.result.ledger,
        inputs={options.trace: played.source.sha256(), **{file: sha256_of(file) for file in files}},
        options=options.document(),
        version=version("gangsched"),
        config=describe(played.engine.config, plugin_registry()).as_dict(),
        summary=summary.document(),
        series=played.series,
    )


def _files(name: str) -> list[str]:
    """The files behind an option: none where it does not name a file, but nodes of a shape."""
    return manifests_in(name) if Path(name).is_dir() else [name] if Path(name).is_file() else []
