"""``groupScheduling``: what upstream still debates about groups, as fields, as option text, as a value.

An extension of ours to KubeSchedulerConfiguration; what each choice does stands in docs/choices.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from attrs import evolve

from gangsched.config.model import SchedulerConfig
from gangsched.config.problems import Problem
from gangsched.config.schema import Bool, Fields, OneOf, Shape, read
from gangsched.engine.settings import ChildOrder, Evaluation, ExtraPodPreemption, GroupScheduling
from gangsched_framework.errors import ConfigurationError, on_one_line

SECTION = "groupScheduling"

Values = Mapping[str, str | bool]

_SHAPES: Mapping[str, Shape] = {
    "evaluation": OneOf(get_args(Evaluation)),
    "childOrder": OneOf(get_args(ChildOrder)),
    "preCheck": Bool(),
    "extraPodPreemption": OneOf(get_args(ExtraPodPreemption)),
}
_ATTRIBUTES = {
    "evaluation": "evaluation",
    "childOrder": "child_order",
    "preCheck": "pre_check",
    "extraPodPreemption": "extra_pod_preemption",
}
GROUP_SCHEDULING = Fields(_SHAPES)
"""The shape of the section."""


def fields_of(choices: GroupScheduling) -> dict[str, str | bool]:
    """The choices under the names of the section."""
    return {name: getattr(choices, attribute) for name, attribute in _ATTRIBUTES.items()}


def chosen(values: Values, start: GroupScheduling) -> GroupScheduling:
    """``values``, already checked, laid over ``start``."""
    changes: dict[str, Any] = {_ATTRIBUTES[name]: value for name, value in values.items()}
    return evolve(start, **changes)


def parse_choices(text: str) -> dict[str, str | bool]:
    """Read ``childOrder=smallest,preCheck=false`` ('' chooses nothing). Raises ConfigurationError."""
    values: dict[str, str | bool] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ConfigurationError(on_one_line(f"{SECTION}: found {part!r}, allowed NAME=VALUE"))
        if name in values:
            raise ConfigurationError(on_one_line(f"{SECTION}.{name}: given twice"))
        values[name] = {"true": True, "false": False}.get(value, value)
    return check_choices(values)


def check_choices(values: Mapping[str, Any]) -> dict[str, str | bool]:
    """The values, if they are a section. Raises ConfigurationError for the first that is wrong."""
    problems: list[Problem] = []
    found: dict[str, str | bool] = read(values, GROUP_SCHEDULING, (SECTION,), problems)
    for problem in problems:
        hint = problem.hint or ("" if problem.path[-1] in (*_SHAPES, SECTION) else f"; allowed: {', '.join(_SHAPES)}")
        raise ConfigurationError(on_one_line(f"{problem.text}{hint}"))
    return found


def override(config: SchedulerConfig, values: Values) -> SchedulerConfig:
    """The configuration with some choices made by an option."""
    origins = {**config.origins, **{f"{SECTION}.{name}": "option" for name in values}}
    return evolve(config, group_scheduling=chosen(values, config.group_scheduling), origins=origins)
