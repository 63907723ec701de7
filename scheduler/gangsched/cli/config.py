"""``gangsched config view``: the effective configuration and where each value came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from gangsched.api import plugin_registry
from gangsched.cli.inputs import warn
from gangsched.cli.options import Words, config_option, gates_option, groups_option
from gangsched.cli.output import print_document
from gangsched.config import (
    Description,
    FeatureGates,
    PluginRow,
    default_config,
    describe,
    load_config,
    override,
    parse_choices,
)
from gangsched.report.columns import columns


@click.group(invoke_without_command=True)
@click.pass_context
def config(context: click.Context) -> None:
    """Look at scheduler configurations."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@config.command()
@config_option
@gates_option
@groups_option
@click.option("-o", "--output", type=Words(["table", "json", "yaml"]), default="table", show_default=True)
def view(config: str | None, gates: str, groups: str, output: str) -> None:
    """Print the effective configuration: settings, gates, plugins with points, weights, arguments, origins.

    Exit code 0, 2 for bad input.
    """
    registry = plugin_registry()
    switched = FeatureGates.parse(gates)
    effective = default_config(switched, registry) if config is None else load_config(config, switched, registry)
    effective = override(effective, parse_choices(groups))
    warn(effective.warnings)
    description = describe(effective, registry)
    if output == "table":
        click.echo(_table(description))
    else:
        print_document(description.as_dict(), output)


def _table(description: Description) -> str:
    settings: list[tuple[str, ...]] = [("SETTING", "VALUE", "FROM")]
    settings += [(s.name, _text(s.value), s.origin) for s in description.settings]
    gates: list[tuple[str, ...]] = [("FEATURE GATE", "VALUE", "FROM")]
    gates += [(g.name, _text(g.value), g.origin) for g in description.gates]
    plugins: list[tuple[str, ...]] = [("PROFILE", "PLUGIN", "POINTS", "WEIGHT", "ARGUMENTS", "FROM")]
    plugins += [_plugin(row) for row in description.plugins]
    return "\n\n".join(columns(rows) for rows in (settings, gates, plugins))


def _plugin(row: PluginRow) -> tuple[str, ...]:
    weights = list(dict.fromkeys(str(weight) for weight in row.weights.values()))
    return (
        row.profile,
        row.plugin,
        ",".join(row.points) or "(off)",
        "/".join(weights) or "-",
        _arguments(row.arguments),
        ", ".join(row.origins) or "-",
    )


def _arguments(arguments: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_text(value)}" for name, value in arguments.items()) or "-"


def _text(value: object) -> str:
    """A value as YAML would write it on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{name}:{_text(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_text(item) for item in value) + "]"
    return "null" if value is None else str(value)
