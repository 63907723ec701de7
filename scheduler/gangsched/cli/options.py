"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gangsched_framework.errors import did_you_mean


class Words(click.Choice[str]):
    """One of some words; for another one the nearest is suggested."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        return super().get_invalid_choice_message(value, ctx).rstrip(".") + did_you_mean(str(value), self.choices)


Command = TypeVar("Command", bound=Callable[..., Any])


def config_option(command: Command) -> Command:
    """``-c FILE``."""
    text = "KubeSchedulerConfiguration v1 (YAML or JSON); without it the product's default."
    return click.option("-c", "--config", metavar="FILE", help=text)(command)


def gates_option(command: Command) -> Command:
    """``--feature-gates Name=true,…``, as text for ``FeatureGates.parse``."""
    text = "Gates to switch, as in kube-scheduler."
    return click.option("--feature-gates", "gates", default="", metavar="NAME=BOOL,…", help=text)(command)


def groups_option(command: Command) -> Command:
    """``--group-scheduling NAME=VALUE,…``, as text for ``parse_choices``."""
    text = "Choices about groups: evaluation, childOrder, preCheck, extraPodPreemption (docs/choices.md)."
    return click.option("--group-scheduling", "groups", default="", metavar="NAME=VALUE,…", help=text)(command)


def nodes_option(command: Command) -> Command:
    """``--nodes FILE|COUNTxSHAPE``, as text for ``named_nodes``."""
    text = "Nodes beside those of the manifests: more manifests, or like 80x8gpu."
    return click.option("--nodes", metavar="FILE|COUNTxSHAPE", help=text)(command)


def verbose_option(command: Command) -> Command:
    """``-v``."""
    text = "Log every stage of every cycle on stderr."
    return click.option("-v", "--verbose", is_flag=True, help=text)(command)
