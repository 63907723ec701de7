"""The engine's log: one structlog event per stage, with cycle and entity bound, and silence unless asked."""

from __future__ import annotations

import pytest
import structlog
from structlog.testing import capture_logs

from gangsched.api import Engine
from gangsched_framework.testing import make_node, make_pod, make_pod_group


@pytest.fixture(autouse=True)
def _as_a_fresh_process() -> None:
    structlog.reset_defaults()  # a verb tested before may have configured silence


def _run(*, logging: bool) -> list[dict[str, object]]:
    with capture_logs() as logs:
        engine = Engine(logging=logging)
        engine.apply(
            make_node("n1").capacity(cpu=2, memory="4Gi", pods=10).obj(), make_pod_group("g").min_count(2).obj()
        )
        engine.apply(*(make_pod(f"p{i}").requests(cpu=1).in_group("g").obj() for i in range(2)))
        engine.apply(make_pod("big").requests(cpu=4).obj())
        engine.run_ready()
    return [dict(entry) for entry in logs]


def test_a_library_user_hears_nothing_unless_he_asks() -> None:
    assert _run(logging=False) == []


def test_each_stage_of_a_cycle_is_one_event_with_cycle_and_entity_bound() -> None:
    logs = _run(logging=True)

    assert [(e["event"], e["cycle"], e["entity"]) for e in logs] == [
        ("popped", 1, "pod/default/big"),
        ("decided", 1, "pod/default/big"),
        ("submitted", 1, "pod/default/big"),
        ("popped", 2, "podgroup/default/g"),
        ("reconciled", 2, "podgroup/default/g"),
        ("decided", 2, "podgroup/default/g"),
        ("completed", 2, "podgroup/default/g"),
        ("submitted", 2, "podgroup/default/g"),
        ("requeued", 2, "podgroup/default/g"),
    ]
