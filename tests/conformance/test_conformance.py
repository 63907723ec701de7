"""The engine against the recordings: what is listed as reproduced stays so, and what newly passes gets listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangsched.conform.documents import read_scenarios
from gangsched.conform.runner import play
from gangsched.conform.scenario import Options, Outcome, Scenario

HERE = Path(__file__).parent
SHARED = HERE.parents[1].parent / "shared" / "conformance"
FOLDERS = [HERE / "kube", HERE / "node-plugins"]
EXPECTED = frozenset((HERE / "expected_to_pass.txt").read_text(encoding="utf-8").splitlines())

pytestmark = pytest.mark.conformance


def explain(outcome: Outcome) -> str:
    lines = [f"step {d.step}: {d.field}: expected {d.expected!r}, got {d.got!r}" for d in outcome.differences[:10]]
    return "\n".join([f"{outcome.name} ({outcome.where}) {outcome.verdict}", *lines])


@pytest.mark.parametrize("scenario", list(read_scenarios(FOLDERS)), ids=lambda scenario: scenario.name)
def test_recording(scenario: Scenario) -> None:
    outcome = play(scenario, Options())
    if scenario.name in EXPECTED:
        assert outcome.verdict == "passed", explain(outcome)
    else:
        assert outcome.verdict != "passed", f"{scenario.name} passes now: add it to expected_to_pass.txt"


def test_the_list_names_recordings_only() -> None:
    names = {scenario.name for scenario in read_scenarios(FOLDERS)}
    assert sorted(EXPECTED - names) == []


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the recordings are not here")
@pytest.mark.parametrize("folder", ["kube", "node-plugins"])
def test_the_whole_set(folder: str) -> None:
    failed = [outcome for s in read_scenarios([SHARED / folder]) if (outcome := play(s, Options())).verdict == "failed"]
    assert not failed, "\n".join(explain(outcome) for outcome in failed[:20])
