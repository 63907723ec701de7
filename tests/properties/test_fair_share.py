"""Random worlds shared by tenants: what is kept in step equals what is derived anew, under every kind of tiers."""

from __future__ import annotations

import pytest

from gangsched_framework.objects import Pod
from gangsched_framework.status import Status
from gangsched_plugins.fairshare.gate import TenantGate
from tests.properties.cores import small_limits
from tests.properties.fair_story import TIERS, tell_fair_world


@pytest.mark.parametrize("name", TIERS)
def test_shares_and_orders_stay_in_step(name: str) -> None:
    for world in range(2):
        tell_fair_world(1, world, 80, name)


@pytest.mark.parametrize("name", ["proportion", "capacity", "hdrf"])
def test_columns_and_the_oracle_agree_under_tiers(name: str) -> None:
    with small_limits():
        tell_fair_world(2, 0, 80, name, oracle=True)


def test_a_limit_asked_once_a_job_answers_as_one_asked_pod_by_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    status = TenantGate.status

    def both(gate: TenantGate, pod: Pod) -> Status | None:
        answer, reason = status(gate, pod), gate._refusal(pod, tentative=True)
        assert (answer.message if answer is not None else "") == reason
        asked.append(reason)
        return answer

    monkeypatch.setattr(TenantGate, "status", both)
    for world, name in enumerate(("proportion", "capacity", "capacity tree", "proportion first", "hdrf on paper")):
        tell_fair_world(4, world, 80, name)
    assert "" in asked
    assert any("would exceed" in reason for reason in asked)


@pytest.mark.slow
@pytest.mark.parametrize("name", TIERS)
@pytest.mark.parametrize("world", range(100))
def test_shares_and_orders_stay_in_step_for_long(name: str, world: int) -> None:
    tell_fair_world(3, world, 250, name, oracle=world % 4 == 0)


def test_stories_reach_what_they_are_about() -> None:
    counts: dict[str, int] = {}
    for world in range(6):
        for what, count in tell_fair_world(1, world, 100, "proportion").counts.items():
            counts[what] = counts.get(what, 0) + count
    assert counts["cycles"] > 8
    assert counts["bindings"] > 4
