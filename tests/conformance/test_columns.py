"""Every recorded scenario leads to the same records with and without columns, whatever the recording says."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangsched.conform.documents import read_scenarios
from gangsched.conform.errors import NotBuilt
from gangsched.conform.kube import KubePlayer
from gangsched.conform.scenario import Scenario

HERE = Path(__file__).parent
SHARED = HERE.parents[1].parent / "shared" / "conformance" / "kube"

pytestmark = pytest.mark.conformance


def check(scenario: Scenario) -> None:
    """Traced, and untraced: only then refusals are remembered."""
    if scenario.format == "kube":
        for tracing in (True, False):
            _compare(scenario, tracing=tracing)


def _compare(scenario: Scenario, *, tracing: bool) -> None:
    config = scenario.document["config"]
    try:
        oracle = KubePlayer(config, tracing=tracing, oracle=True)
        expected = [oracle.play(step) for step in scenario.document["steps"]]
    except NotBuilt:
        return
    fast = KubePlayer(config, tracing=tracing)
    for number, step in enumerate(scenario.document["steps"]):
        assert fast.play(step) == expected[number], f"{scenario.name}: step {number}"


def test_some_recordings_are_the_same_with_and_without_columns() -> None:
    for scenario in list(read_scenarios([HERE / "kube"]))[::10]:
        check(scenario)


@pytest.mark.slow
def test_the_recordings_here_are_the_same_with_and_without_columns() -> None:
    for scenario in read_scenarios([HERE / "kube"]):
        check(scenario)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the recordings are not here")
def test_every_recording_is_the_same_with_and_without_columns() -> None:
    for scenario in read_scenarios([SHARED]):
        check(scenario)
