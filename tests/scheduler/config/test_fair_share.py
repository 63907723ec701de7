"""Tiers of a dynamic queueSort in a configuration: what they bring, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import field, frozen

from gangsched.config import ConfigFileError, SchedulerConfig, load_config
from tests.scheduler.config.conftest import HEAD


def load(*profiles: dict[str, Any]) -> SchedulerConfig:
    return load_config({**HEAD, "profiles": list(profiles)})


def profile(*tiers: str, args: dict[str, dict[str, Any]] | None = None, **points: Any) -> dict[str, Any]:
    config = [{"name": name, "args": each} for name, each in (args or {}).items()]
    enabled = {"enabled": [{"name": tier} for tier in tiers]}
    return {"plugins": {"queueSort": enabled, **points}, "pluginConfig": config}


def at(config: SchedulerConfig, point: str) -> list[str]:
    return [ref.name for ref in config.profiles[0].points.get(point, ())]


def test_tiers_stand_in_their_order_in_place_of_priority_sort() -> None:
    config = load(profile("Priority", "Gang", "DRF", "Proportion"))
    assert at(config, "queueSort") == ["Priority", "Gang", "DRF", "Proportion"]


def test_one_tier_alone_is_dynamic_too() -> None:
    assert at(load(profile("DRF")), "queueSort") == ["DRF"]


@pytest.mark.parametrize("tier", ["Proportion", "Capacity"])
def test_what_limits_tenants_is_asked_inside_the_cycle_too(tier: str) -> None:
    assert at(load(profile("DRF", tier)), "preFilter")[-1] == tier
    assert "DRF" not in at(load(profile("DRF", tier)), "preFilter")


def test_it_is_not_where_it_is_disabled_and_not_twice_where_it_is_enabled() -> None:
    disabled = load(profile("Proportion", preFilter={"disabled": [{"name": "Proportion"}]}))
    assert "Proportion" not in at(disabled, "preFilter")
    enabled = load(profile("Proportion", preFilter={"enabled": [{"name": "Proportion"}]}))
    assert at(enabled, "preFilter").count("Proportion") == 1


def test_a_profile_without_tiers_is_as_it_was() -> None:
    config = load({})
    assert at(config, "queueSort") == ["PrioritySort"]
    assert "Proportion" not in at(config, "preFilter")


def test_arguments_have_defaults() -> None:
    config = load(profile("HDRF"))
    assert config.profiles[0].args["HDRF"] == {"mode": "upstream"}
    config = load(profile("Capacity", args={"Capacity": {"hierarchical": True}}))
    assert config.profiles[0].args["Capacity"] == {"hierarchical": True}


@frozen
class Refused:
    name: str
    profiles: list[dict[str, Any]] = field()
    want: str = ""


REFUSED = [
    Refused(
        "a static plugin beside a tier",
        [profile("PrioritySort", "DRF")],
        "only one queue sort plugin can be enabled",
    ),
    Refused(
        "a static plugin by multiPoint beside a tier",
        [{"plugins": {"multiPoint": {"enabled": [{"name": "PrioritySort"}, {"name": "DRF"}]}}}],
        'queueSort plugins "PrioritySort" and "DRF" cannot be combined',
    ),
    Refused(
        "two that say what a tenant may take",
        [profile("Proportion", "Capacity")],
        'queueSort plugins "Proportion" and "Capacity" cannot be combined: both say what a tenant may take',
    ),
    Refused("two that order jobs alike", [profile("DRF", "HDRF")], 'queueSort plugins "DRF" and "HDRF" cannot be'),
    Refused(
        "a misspelt tier", [profile("DRF", "proportion")], '"proportion" does not exist; did you mean "Proportion"?'
    ),
    Refused("a tier twice", [profile("DRF", "DRF")], 'plugin "DRF" already registered'),
    Refused(
        "an unknown mode",
        [profile("HDRF", args={"HDRF": {"mode": "papre"}})],
        'Unsupported value: "papre": supported values: "upstream", "paper"',
    ),
    Refused("arguments where there are none", [profile("DRF", args={"DRF": {"x": 1}})], 'unknown field "'),
    Refused(
        "an argument of another type", [profile("Capacity", args={"Capacity": {"hierarchical": 1}})], "hierarchical"
    ),
    Refused(
        "profiles with other tiers",
        [
            {"schedulerName": "one", **profile("DRF", "Proportion")},
            {"schedulerName": "two", **profile("Proportion", "DRF")},
        ],
        "must be the same for all profiles",
    ),
    Refused(
        "profiles with other arguments of a tier",
        [
            {"schedulerName": "one", **profile("HDRF")},
            {"schedulerName": "two", **profile("HDRF", args={"HDRF": {"mode": "paper"}})},
        ],
        "must be the same for all profiles",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_is_refused(case: Refused) -> None:
    with pytest.raises(ConfigFileError) as refusal:
        load(*case.profiles)
    assert case.want in str(refusal.value)
    assert ".md" not in str(refusal.value)
