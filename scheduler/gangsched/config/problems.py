"""Why a configuration is refused, in the words of kube-scheduler, with the place in our file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from attrs import evolve, frozen

from gangsched_framework.errors import ConfigurationError, did_you_mean, on_one_line
from gangsched_framework.yaml_lines import ValuePath, line_of

Stage = Literal["decode", "validate", "build"]
"""Where the real scheduler would stop: reading the file, checking its values, building the profiles."""


@frozen
class Source:
    """Where a configuration was read. ``text`` is None when it came as a mapping, which has no lines."""

    name: str
    text: str | None = None

    def line(self, path: ValuePath) -> int | None:
        return None if self.text is None else line_of(self.text, 0, path)


@frozen
class Problem:
    """One complaint: the place, the text, which begins with the place, and what may help (``; did you mean …?``)."""

    path: ValuePath
    text: str
    hint: str = ""

    def under(self, base: ValuePath) -> Problem:
        """The complaint about a part, as one about the whole that has the part at ``base``."""
        return evolve(self, path=(*base, *self.path), text=f"{dotted(base)}.{self.text}")


class ConfigFileError(ConfigurationError):
    """A refused configuration: ``FILE:LINE: what``, several complaints as ``[a, b]`` with the line of the first.

    ``message`` is the text without place and hint, as the real scheduler words it; ``stage`` says when it would stop.
    """

    def __init__(self, source: Source, stage: Stage, problems: Sequence[Problem], line: int | None = None) -> None:
        texts = list(dict.fromkeys(problem.text for problem in problems))
        self.stage: Stage = stage
        self.line = line or source.line(problems[0].path)
        self.message = texts[0] if len(texts) == 1 else ", ".join(texts)
        if len(texts) > 1 and stage != "decode":
            self.message = f"[{self.message}]"
        self.message = on_one_line(self.message)
        hint = next((problem.hint for problem in problems if problem.hint), "")
        place = source.name if self.line is None else f"{source.name}:{self.line}"
        super().__init__(f"{place}: {self.message}{hint}")


def dotted(path: Sequence[str | int]) -> str:
    """``profiles[0].pluginConfig[1].args`` for the path of that value."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def shown(value: object) -> str:
    """A value as it stands in a message: JSON, cut when long."""
    text = json.dumps(value, default=str, separators=(",", ":"))
    return text if len(text) <= 60 else text[:57] + "..."


# --- the sentences of k8s.io/apimachinery's field errors ----------------------------------------------------------


def invalid(path: ValuePath, value: object, why: str) -> Problem:
    return Problem(path, f"{dotted(path)}: Invalid value: {shown(value)}: {why}")


def required(path: ValuePath, why: str = "") -> Problem:
    return Problem(path, f"{dotted(path)}: Required value{': ' + why if why else ''}")


def duplicate(path: ValuePath, value: object, hint: str = "") -> Problem:
    return Problem(path, f"{dotted(path)}: Duplicate value: {shown(value)}", hint)


def forbidden(path: ValuePath, why: str) -> Problem:
    return Problem(path, f"{dotted(path)}: Forbidden: {why}")


def unsupported(path: ValuePath, value: str, allowed: Sequence[str]) -> Problem:
    values = ", ".join(f'"{word}"' for word in allowed)
    text = f"{dotted(path)}: Unsupported value: {shown(value)}: supported values: {values}"
    return Problem(path, text, did_you_mean(value, allowed))
