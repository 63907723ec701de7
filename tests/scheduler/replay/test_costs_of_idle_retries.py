"""What waiting costs a replay, in attempts carried out and in rows looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangsched.api import Engine
from gangsched.replay.complaints import Complaints
from gangsched.replay.formats import open_trace
from gangsched.replay.nodes import nodes_of
from gangsched.replay.player import Player
from gangsched_framework.queue_state import QueueState
from gangsched_queue.scheduling_queue import SchedulingQueue

FIRST_PENALTIES = 5
"""Attempts until the penalty of 10 s is reached: at 0, 2, 5, 10 and 19 s; from then on a tree sleeps."""


def _play(path: Path, rows: list[str], nodes: str) -> tuple[Player, int]:
    trace = path / "trace.csv"
    trace.write_text("\n".join(("submit_s,duration_s,num_gpus,vc", *rows)) + "\n")
    complaints = Complaints(str(trace), lenient=False)
    engine = Engine(None, idle=True)
    player = Player(engine, (source := open_trace(complaints)).header, complaints)
    result = player.play(source.events(), nodes_of(nodes) or [])
    assert all(gang.finished is not None for gang in result.ledger.all_gangs())
    return player, result.tries


@pytest.mark.parametrize("gangs", [20, 80])
def test_a_tree_that_sleeps_is_tried_when_its_turn_brings_something(tmp_path: Path, gangs: int) -> None:
    """One node, used by one gang at a time for ten minutes while the others wait, half of them of another kind."""
    rows = [f"0,600,{8 - at % 2},a" for at in range(gangs)]
    rows.append("1000000,1,1,a")  # something lies ahead all the time: else everybody is looked at

    player, tries = _play(tmp_path, rows, "1x8gpu")

    assert tries > 25 * gangs * gangs
    assert player.tries < (FIRST_PENALTIES + 4) * gangs


def test_what_happens_on_a_node_costs_one_look_for_each_kind_of_pod(tmp_path: Path) -> None:
    """Fifty nodes are full of pods of one GPU that end one after the other while a gang waits for a whole node."""
    full = [f"0,{1000 + at},1,a" for at in range(400)]
    waiting = [f"1,60,{gpus},a" for gpus in (16, 24, 32)]

    player, tries = _play(tmp_path, [*full, *waiting], "50x8gpu")

    memo = player.engine.core._tools.memo
    assert memo is not None
    looks = sum(watch.looked for watch in memo._watches.values())
    assert tries > 500
    assert looks < 50 * len(memo._watches) + 3 * (len(full) + 4 * len(waiting))


def test_the_queue_is_looked_through_only_when_nothing_lies_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    plain = SchedulingQueue.state

    def counted(queue: SchedulingQueue) -> QueueState:
        looked.append(len(queue.dormant))
        return plain(queue)

    monkeypatch.setattr(SchedulingQueue, "state", counted)
    rows = [f"{7 * at},600,8,a" for at in range(60)]

    _play(tmp_path, [*rows, "1000000,1,1,a"], "1x8gpu")

    assert len(looked) <= 3
