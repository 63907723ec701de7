"""Run the command in this process, as click's runner does."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from gangsched.cli.main import main


def gangsched(*args: str, stdin: str | bytes | None = None) -> Result:
    """The result of ``gangsched ARGS``; an exception other than the exit is raised here."""
    result = CliRunner().invoke(main, list(args), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def gangsched_json(*args: str, code: int = 0) -> Any:
    """The JSON document on the standard output of a command that ends with ``code``."""
    result = gangsched(*args, "-o", "json")
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)
