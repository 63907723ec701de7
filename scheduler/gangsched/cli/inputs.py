"""Manifests for the command line, with what is to be said about them on stderr."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import click

from gangsched.api import Engine
from gangsched.manifests import read_files
from gangsched_framework.errors import on_one_line


def apply_files(engine: Engine, paths: Sequence[str]) -> None:
    """Read all manifests, then add their objects in file order; warnings and skipped kinds go to stderr."""
    loaded = read_files(paths, decoder=engine.decoder, now=engine.now)
    warn((*engine.config.warnings, *loaded.warnings))
    tell_skipped(loaded.skipped)
    engine.apply(*loaded.objects)


def warn(warnings: Iterable[str]) -> None:
    """One line a warning."""
    for warning in warnings:
        click.echo(on_one_line(f"warning: {warning}"), err=True)


def tell_skipped(skipped: Mapping[str, int]) -> None:
    """One line for all objects of kinds that are not read."""
    if skipped:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(skipped.items()))
        click.echo(f"skipped objects of other kinds: {kinds}", err=True)
