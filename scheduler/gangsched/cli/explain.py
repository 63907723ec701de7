"""``gangsched explain pod/NAME|podgroup/NAME -f FILE…``: why a pod is where it is, or why it or its group waits."""

from __future__ import annotations

import click

from gangsched.api import Engine
from gangsched.cli.inputs import apply_files
from gangsched.cli.options import Words, config_option, gates_option, groups_option, nodes_option
from gangsched.cli.output import print_document
from gangsched.config import FeatureGates, parse_choices
from gangsched.report.explain_text import explain_document, explain_text
from gangsched.report.tree_text import view_tree
from gangsched_framework.entity_key import COMPOSITE_POD_GROUP, POD, POD_GROUP, EntityKey
from gangsched_framework.errors import GangschedError

_OUTPUTS = ("table", "json", "yaml")
_KINDS = {
    POD: ("pod", "pods", "po"),
    POD_GROUP: ("podgroup", "podgroups", "pg"),
    COMPOSITE_POD_GROUP: ("compositepodgroup", "compositepodgroups", "cpg"),
}


@click.command()
@click.argument("what", metavar="pod/NAME|podgroup/NAME")
@click.option("-f", "--filename", "files", multiple=True, metavar="FILE", help="File, directory or - (standard input).")
@click.argument("more", nargs=-1, metavar="[FILE]…")
@click.option("-n", "--namespace", default="default", show_default=True, help="Namespace of the pod or group.")
@click.option("--no-run", is_flag=True, help="Explain the state the files describe, before any cycle.")
@nodes_option
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
    nodes: str | None,
    config: str | None,
    gates: str,
    groups: str,
    output: str,
) -> None:
    """Schedule what the manifests describe, as run does, then explain one pod or the tree of one group.

    Shows for each node the first plugin that refuses the pod, or every plugin's raw → normalized×weight score and the
    total; for a waiting pod also why it waits. The pod is tried alone on the cluster as it stands then; one that has a
    node is looked at as if it were not there. Of a group (podgroup/NAME, compositepodgroup/NAME) shows its tree and
    pods as run -o wide does. Both end with the steps that an attempt of what waits would take now.

    Exit code 0, also for what waits; 2 for bad input, and for what is not known or was evicted.
    """
    subject = _subject(what, namespace)
    if not files and not more:
        raise click.UsageError("nothing to explain: name manifests with -f FILE")
    engine = Engine(config, feature_gates=FeatureGates.parse(gates), group_scheduling=parse_choices(groups))
    apply_files(engine, (*files, *more), nodes)
    reports = [] if no_run else engine.run()
    if subject.kind != POD:
        tree = view_tree(engine, reports, subject)
        click.echo(tree.text()) if output == "table" else print_document(tree.document(), output)
        return
    key = subject.full_name
    if key in engine.evicted:
        raise GangschedError(f"pod {key} was evicted for {engine.evicted[key]}; --no-run explains it before that")
    explanation = engine.explain(key)
    if output == "table":
        click.echo(explain_text(explanation))
    else:
        print_document(explain_document(explanation), output)


def _subject(what: str, namespace: str) -> EntityKey:
    """The key of ``NAME``, ``KIND/NAME`` or, as the other verbs show it, ``KIND/NAMESPACE/NAME``."""
    given, *names = what.split("/") if "/" in what else (POD, what)
    kind = next((kind for kind, words in _KINDS.items() if given.lower() in words), None)
    if kind is None or len(names) > 2:
        allowed = "pod/NAME, podgroup/NAME and compositepodgroup/NAME, also with NAMESPACE/ before NAME"
        raise click.UsageError(f"only pods and groups can be explained: {allowed}; found {what}")
    return EntityKey.of(kind, *(names if len(names) == 2 else (namespace, *names)))
