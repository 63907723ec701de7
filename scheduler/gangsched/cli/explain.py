"""``gangsched explain pod/NAME -f FILE…``: why a pod is where it is, or why it waits, node by node."""

from __future__ import annotations

import click

from gangsched.api import Engine
from gangsched.cli.inputs import apply_files
from gangsched.cli.options import Words, config_option, gates_option, groups_option
from gangsched.cli.output import print_document
from gangsched.config import FeatureGates, parse_choices
from gangsched.report.explain_text import explain_document, explain_text
from gangsched_framework.errors import GangschedError

_OUTPUTS = ("table", "json", "yaml")
_KINDS = ("pod", "pods", "po")


@click.command()
@click.argument("what", metavar="pod/NAME")
@click.option("-f", "--filename", "files", multiple=True, metavar="FILE", help="File, directory or - (standard input).")
@click.argument("more", nargs=-1, metavar="[FILE]…")
@click.option("-n", "--namespace", default="default", show_default=True, help="Namespace of the pod.")
@click.option("--no-run", is_flag=True, help="Explain the state the files describe, before any cycle.")
@config_option
@gates_option
@groups_option
@click.option("-o", "--output", type=Words(_OUTPUTS), default="table", show_default=True)
def explain(
    what: str,
    files: tuple[str, ...],
    more: tuple[str, ...],
    namespace: str,
    no_run: bool,
    config: str | None,
    gates: str,
    groups: str,
    output: str,
) -> None:
    """Schedule what the manifests describe, as run does, then explain one pod.

    Shows for each node the first plugin that refuses the pod, or every plugin's raw → normalized×weight score and the
    total; for a waiting pod also why it waits. The pod is tried alone on the cluster as it stands then; one that has a
    node is looked at as if it were not there.

    Exit code 0, also for a pod that waits; 2 for bad input and for a pod that is not known or was evicted.
    """
    key = _key(what, namespace)
    if not files and not more:
        raise click.UsageError("nothing to explain: name manifests with -f FILE")
    engine = Engine(config, feature_gates=FeatureGates.parse(gates), group_scheduling=parse_choices(groups))
    apply_files(engine, (*files, *more))
    if not no_run:
        engine.run()
    if key in engine.evicted:
        raise GangschedError(f"pod {key} was evicted for {engine.evicted[key]}; --no-run explains it before that")
    explanation = engine.explain(key)
    if output == "table":
        click.echo(explain_text(explanation))
    else:
        print_document(explain_document(explanation), output)


def _key(what: str, namespace: str) -> str:
    """``namespace/name`` of ``NAME``, ``pod/NAME`` or, as the other verbs show it, ``pod/NAMESPACE/NAME``."""
    kind, *names = what.split("/") if "/" in what else ("pod", what)
    if kind.lower() not in _KINDS or len(names) > 2:
        raise click.UsageError(f"only pods can be explained: pod/NAME or pod/NAMESPACE/NAME, found {what}")
    return "/".join(names if len(names) == 2 else (namespace, *names))
