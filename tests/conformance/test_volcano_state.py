"""What Volcano's plugins knew when a session opened, and its orders, against our maths (``conform --state-only``)."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from gangsched.conform.documents import read_scenarios
from gangsched.conform.runner import play
from gangsched.conform.scenario import Options, Scenario
from gangsched.conform.volcano import compare_state

HERE = Path(__file__).parent
SHARED = HERE.parents[1].parent / "shared" / "conformance" / "volcano"
OPENING = Options(state_only=True)
SCENARIOS = {scenario.name: scenario for scenario in read_scenarios([HERE / "volcano"])}

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_the_opening_of_a_session(name: str) -> None:
    outcome = play(SCENARIOS[name], OPENING)
    assert outcome.verdict == "passed", outcome.differences


@pytest.mark.skipif(not SHARED.exists(), reason="the recordings are not here")
def test_the_whole_set() -> None:
    outcomes = [play(scenario, OPENING) for scenario in read_scenarios([SHARED])]
    assert [outcome.name for outcome in outcomes if outcome.verdict != "passed"] == []
    assert [outcome.name for outcome in outcomes if outcome.reason] == []  # no recorded comparison runs in a circle


def test_sessions_themselves_are_skipped_and_the_reason_names_the_option() -> None:
    outcome = play(SCENARIOS["deserved-p3"], Options())
    assert outcome.verdict == "skipped"
    assert "--state-only" in outcome.reason


def changed(name: str, *path: Any, to: Any) -> Scenario:
    """A recording with one value of the opening of its first session changed."""
    scenario = SCENARIOS[name]
    document = deepcopy(scenario.document)
    place = document["result"]["sessions"][0]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return Scenario(scenario.name, scenario.format, scenario.where, document)


def test_a_difference_names_the_field() -> None:
    scenario = changed("deserved-p3", "open", "proportion", "q1", "deserved", "cpu", to=12001)
    [difference] = play(scenario, OPENING).differences
    assert (difference.field, difference.expected, difference.got) == ("open.proportion.q1.deserved.cpu", 12001, 12000)


def test_the_ninth_digit_is_the_last_that_counts() -> None:
    name = "drf-tie-keeps-cpu"
    recorded = SCENARIOS[name].document["result"]["sessions"][0]["open"]["drf"]
    job = next(iter(recorded))
    share = recorded[job]["share"]
    assert share
    path = ("open", "drf", job, "share")
    assert play(changed(name, *path, to=share * (1 + 1e-10)), OPENING).verdict == "passed"
    assert play(changed(name, *path, to=share * (1 + 1e-8)), OPENING).verdict == "failed"


def test_orders_are_compared() -> None:
    assert play(changed("capacity-share-and-order", "orders", "queues", to=["b", "c", "a"]), OPENING).differences


CIRCLE = {
    "name": "circle",
    "conf": "actions: allocate\ntiers:\n- plugins:\n  - name: drf\n    enableHierarchy: true\n",
    "nodes": [{"name": "n", "allocatable": {"cpu": "10", "pods": "100"}}],
    "queues": [
        {"name": "p", "hierarchy": "root/x/p", "hierarchyWeights": "1/1/1", "created": 1},
        {"name": "q", "hierarchy": "root/x/q", "hierarchyWeights": "1/1/1", "created": 3},
        {"name": "s", "hierarchy": "root/s", "hierarchyWeights": "1/1", "created": 2},
    ],
    "podGroups": [{"name": name, "queue": name, "minMember": 1, "phase": "Inqueue"} for name in "pqs"],
    "pods": [
        {"name": f"{name}-{i}", "group": name, "requests": {"cpu": cpu}}
        | ({"node": "n", "phase": "Running"} if i else {})
        for name, cpu in (("p", "2"), ("q", "1"), ("s", "2"))
        for i in range(2)
    ],
}


def test_queues_whose_comparison_runs_in_a_circle_are_listed_and_not_compared() -> None:
    tasks = {name: [f"{name}-0"] for name in "pqs"}
    orders = {"queues": ["any"], "jobs": {name: [name] for name in "pqs"}, "tasks": tasks}
    document = {"scenario": CIRCLE, "result": {"sessions": [{"open": {}, "orders": orders}]}}
    found, note = compare_state(Scenario("circle", "volcano", "here", document))
    assert "runs in a circle" in note
    assert [difference.field for difference in found if difference.field.startswith("orders")] == []


def test_e66_hierarchical_drf_and_proportion_in_one_tier_are_refused() -> None:
    conf = "actions: allocate\ntiers:\n- plugins:\n  - name: drf\n    enableHierarchy: true\n  - name: proportion\n"
    for text, refused in (
        (conf, True),
        (conf.replace("  - name: proportion", "- plugins:\n  - name: proportion"), False),
    ):
        document = {"scenario": {**CIRCLE, "conf": text}, "result": {"confError": "conflict"}}
        found, _ = compare_state(Scenario("conf", "volcano", "here", document))
        assert (found == []) is refused
