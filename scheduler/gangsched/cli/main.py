"""The command ``gangsched``: a lazy table of verbs, and what becomes of errors."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from gangsched_framework.errors import GangschedError, on_one_line

VERBS = {
    "run": "gangsched.cli.run:run",
    "explain": "gangsched.cli.explain:explain",
    "top": "gangsched.cli.top:top",
    "replay": "gangsched.cli.replay:replay",
    "conform": "gangsched.cli.conform:conform",
    "bench": "gangsched.cli.bench:bench",
    "config": "gangsched.cli.config:config",
}
"""Verb -> ``module:command``. A module is imported when its verb is asked for, so each verb pays for itself alone."""


_LONGEST = 1000
"""Characters of an error line."""

_READER_LEFT = 141
"""Exit code when whoever reads our output has had enough: what a shell reports of a command that SIGPIPE ended. None of
a verb's own codes would be true, as its work was cut off.
"""


class Gangsched(click.Group):
    """The group of all verbs. A user's error is one line on stderr and exit code 2; only bugs show a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module, _, name = VERBS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> None:
        """Run a command line and leave the process with its exit code."""
        extra["standalone_mode"] = False
        sys.exit(self._run(args, prog_name, extra))

    def _run(self, args: Sequence[str] | None, prog_name: str | None, extra: dict[str, Any]) -> int:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # where an encoding lacks a sign, its escape
        try:
            code = super().main(args, prog_name, **extra)
            if sys.stdout is not None:  # None: it was closed before we began (``>&-``)
                sys.stdout.flush()
        except GangschedError as problem:
            _complain(str(problem))
            return 2
        except click.UsageError as problem:
            command = problem.ctx.command_path if problem.ctx else "gangsched"
            text = problem.format_message().rstrip(".").replace("\n\t", " ")
            _complain(f"{command}: {text}; see {command} --help")
            return problem.exit_code
        except click.ClickException as problem:
            _complain(f"gangsched: {problem.format_message()}")
            return problem.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("interrupted", err=True)
            return 130
        except (BrokenPipeError, SystemExit):  # click leaves by SystemExit then, and only then
            _give_up_stdout()
            return _READER_LEFT
        except OSError as problem:
            _complain(f"gangsched: {problem.strerror or problem}")
            _give_up_stdout()
            return 2
        return code if isinstance(code, int) else 0


def _complain(text: str) -> None:
    """One line on stderr; of a very long one (a field name may have any length) the beginning and the end."""
    line = on_one_line(text)
    click.echo(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 200]} … {line[-197:]}", err=True)


def _give_up_stdout() -> None:
    """What is still buffered must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=Gangsched,
    name="gangsched",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="gangsched")
@click.pass_context
def main(context: click.Context) -> None:
    """Gang scheduling for PodGroups and CompositePodGroups, as kube-scheduler does it."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
