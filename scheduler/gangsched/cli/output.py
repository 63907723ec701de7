"""Documents and traces on stdout."""

from __future__ import annotations

import json
from typing import Any

import click
import yaml

from gangsched.api import Engine
from gangsched.engine.report import CycleReport
from gangsched.report.cycle_text import cycle_text


def show_cycles(engine: Engine, *, on_stderr: bool) -> None:
    """Print every cycle the engine will make, step by step; the engine must trace."""

    def show(report: CycleReport) -> None:
        click.echo(cycle_text(report, engine.queue_state()) + "\n", err=on_stderr)

    engine.on_report.append(show)


def print_document(document: Any, output: str) -> None:
    """As ``json`` (indented, keys in the order they were made) or ``yaml``."""
    if output == "json":
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        text = yaml.dump(document, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=10**9)
        click.echo(text.rstrip("\n"))


class _Plain(yaml.SafeDumper):
    """Writes every value out, also one that stands in several places."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
