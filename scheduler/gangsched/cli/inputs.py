"""Manifests for the command line, with what is to be said about them on stderr."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import click

from gangsched.api import Engine
from gangsched.manifests import read_files
from gangsched.replay.nodes import named_nodes
from gangsched_framework.errors import on_one_line


def apply_files(engine: Engine, paths: Sequence[str], nodes: str | None) -> None:
    """Read all manifests, then add ``nodes``, then their objects in file order; what is to be told goes to stderr."""
    decoder = engine.decoder
    made = [] if nodes is None else named_nodes(nodes, decoder)
    loaded = read_files(paths, decoder=decoder, now=engine.now, beside=made)
    warn((*engine.config.warnings, *decoder.warnings))
    tell_skipped(decoder.skipped)
    engine.apply(*made, *loaded.objects)


def warn(warnings: Iterable[str]) -> None:
    """One line a warning."""
    for warning in warnings:
        click.echo(on_one_line(f"warning: {warning}"), err=True)


def tell_skipped(skipped: Mapping[str, int]) -> None:
    """One line for all objects of kinds that are not read."""
    if skipped:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(skipped.items()))
        click.echo(f"skipped objects of other kinds: {kinds}", err=True)
