"""Play a small trace and look at what came of it."""

from __future__ import annotations

from typing import Any

from gangsched.api import Engine
from gangsched.engine.report import CycleReport
from gangsched.replay.complaints import Complaints
from gangsched.replay.formats import open_trace
from gangsched.replay.player import Player, ReplayResult
from gangsched_framework.objects import Node

SECOND = 1_000_000_000


def play(path: str, nodes: list[Node] | None = None, *, lenient: bool = False, **options: Any) -> ReplayResult:
    """The result of replaying the trace at ``path``, every binding checked."""
    result, _ = play_with_reports(path, nodes, lenient=lenient, **options)
    return result


def play_with_reports(
    path: str, nodes: list[Node] | None = None, *, lenient: bool = False, **options: Any
) -> tuple[ReplayResult, list[CycleReport]]:
    """The result and the reports of all cycles."""
    complaints = Complaints(path, lenient)
    source = open_trace(complaints)
    engine = Engine(source.header.config, feature_gates=source.header.feature_gates)
    reports: list[CycleReport] = []
    engine.on_report.append(reports.append)
    player = Player(engine, source.header, complaints, check=True, **options)
    return player.play(source.events(), nodes or []), reports


def moments(result: ReplayResult) -> dict[str, tuple[float | None, float | None]]:
    """Pod name -> (bound, finished) in seconds."""
    return {record.pod.name: (_seconds(record.bound), _seconds(record.finished)) for record in result.ledger.all_pods()}


def _seconds(time: int | None) -> float | None:
    return None if time is None else time / SECOND
