"""Victims of a replay: they restart or are lost, at once or after a grace period, and what the summary says of it."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gangsched.api import Engine
from gangsched.replay.complaints import Complaints
from gangsched.replay.decision_log import OutcomeLog
from gangsched.replay.formats import open_trace
from gangsched.replay.player import Player, ReplayResult
from gangsched.report.replay_summary import summarise
from gangsched.report.replay_text import replay_text
from tests.scheduler.cli.command import gangsched_json
from tests.scheduler.replay.play import SECOND, play
from tests.scheduler.replay.traces import HEADER, add, composite, delete, group, node, pod, update, write

GPU = "nvidia.com/gpu"


def ranked(name: str, minimum: int, priority: int, *, whole: bool = False, tidy: bool = False) -> dict[str, Any]:
    """A gang of a priority; ``whole`` = it is evicted as one, ``tidy`` = deleted when finished."""
    made = group(name, minimum, **({"gangsched.dev/delete-when-finished": "true"} if tidy else {}))
    made["spec"] |= {"priority": priority, "disruptionMode": {"all" if whole else "single": {}}}
    return made


def with_gpus(manifest: dict[str, Any], count: int) -> dict[str, Any]:
    amounts = {GPU: str(count)}
    manifest["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    return manifest


Run = tuple[str, float, float | None, float | None, float | None]
"""Pod, created, bound, finished, gone."""


def runs(result: ReplayResult) -> list[Run]:
    """Every run of every pod, in seconds, by pod and time."""

    def at(time: int | None) -> float | None:
        return None if time is None else time / SECOND

    return sorted(
        (
            (each.pod.name, each.created / SECOND, at(each.bound), at(each.finished), at(each.gone))
            for each in result.ledger.all_pods()
        ),
        key=lambda run: run[:2],
    )


DUEL = [
    add(0, node("n1", "1")),
    add(0, pod("low", duration="10s", priority=1)),
    add(4, pod("high", duration="5s", priority=9)),
]
GANG = [
    add(0, node("n1", "2")),
    add(0, ranked("g", 2, 1, whole=True)),
    *(add(0, pod(f"g-{n}", in_group="g", duration="10s", priority=1)) for n in range(2)),
    add(4, pod("high", duration="5s", priority=9)),
]

CASES: dict[str, tuple[list[dict[str, Any]], dict[str, Any], list[Run]]] = {
    "a victim restarts from the beginning": (
        DUEL,
        {},
        # the victim's new run is tried first, but the room is nominated
        [("high", 4, 4, 9, None), ("low", 0, 0, None, 4), ("low", 4, 9, 19, None)],
    ),
    "a victim may be lost": (
        DUEL,
        {"evicted": "lost"},
        [("high", 4, 4, 9, None), ("low", 0, 0, None, 4)],
    ),
    "a victim keeps its room until the grace period ends": (
        DUEL,
        {"grace": 3 * SECOND},
        [("high", 4, 7, 12, None), ("low", 0, 0, None, 7), ("low", 7, 12, 22, None)],
    ),
    "a victim that finishes within its grace period has finished": (
        DUEL,
        {"grace": 30 * SECOND},
        [("high", 4, 10, 15, None), ("low", 0, 0, 10, None)],
    ),
    "a victim that finishes when its grace period ends has finished": (
        DUEL,
        {"grace": 6 * SECOND},
        [("high", 4, 10, 15, None), ("low", 0, 0, 10, None)],
    ),
    "a gang of mode all leaves as a whole and restarts as a whole": (
        GANG,
        {},
        [
            ("g-0", 0, 0, None, 4),
            ("g-0", 4, 9, 19, None),
            ("g-1", 0, 0, None, 4),
            ("g-1", 4, 9, 19, None),
            ("high", 4, 4, 9, None),
        ],
    ),
    "a gang of mode all leaves as a whole after its grace period": (
        GANG,
        {"grace": 2 * SECOND, "evicted": "lost"},
        [("g-0", 0, 0, None, 6), ("g-1", 0, 0, None, 6), ("high", 4, 6, 11, None)],
    ),
    "a pod that the trace deletes in its grace period does not restart": (
        [*DUEL, delete(5, "Pod", "low")],
        {"grace": 3 * SECOND},
        [("high", 4, 5, 10, None), ("low", 0, 0, None, 5)],
    ),
    "an update in the grace period does not save the victim": (
        [*DUEL, update(5, pod("low", duration="10s", priority=1))],
        {"grace": 3 * SECOND, "evicted": "lost"},
        [("high", 4, 7, 12, None), ("low", 0, 0, None, 7)],
    ),
    "a lost pod exists for the trace until it is deleted": (
        [
            *DUEL,
            update(5, pod("low", duration="10s", priority=1)),
            delete(20, "Pod", "low"),
            add(30, pod("low", duration="1s")),
        ],
        {"evicted": "lost"},
        [("high", 4, 4, 9, None), ("low", 0, 0, None, 4), ("low", 30, 30, 31, None)],
    ),
    "a restarted pod may be deleted by its name": (
        [*DUEL, delete(6, "Pod", "low")],
        {},
        [("high", 4, 4, 9, None), ("low", 0, 0, None, 4), ("low", 4, None, None, 6)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_victims(tmp_path: Path, case: str) -> None:
    events, options, expected = CASES[case]
    assert runs(play(write(tmp_path / "t.jsonl", events), **options)) == expected


@pytest.mark.parametrize("changes", [[], [update(5, pod("low", duration="10s", priority=1))]], ids=["alone", "updated"])
def test_a_victim_is_marked_until_its_grace_period_ends(tmp_path: Path, changes: list[dict[str, Any]]) -> None:
    result = play(write(tmp_path / "t.jsonl", [*DUEL, *changes]), grace=3 * SECOND, until=6 * SECOND)
    low = result.evictions.engine.core.pod("default/low")
    assert low is not None
    assert (low.node_name, low.deletion_timestamp) == ("n1", 7 * SECOND)
    marked = low.condition("DisruptionTarget")
    assert marked is not None
    assert marked.reason == "PreemptionByScheduler"


def test_a_restarted_pod_bears_no_traces_of_its_first_run(tmp_path: Path) -> None:
    seen = update(2, pod("low", duration="10s", priority=1))  # by now it shows its node, its start and a condition
    result = play(write(tmp_path / "t.jsonl", [*DUEL[:2], seen, DUEL[2]]), until=5 * SECOND)
    low = result.evictions.engine.core.pod("default/low")
    assert low is not None
    assert (low.node_name, low.deletion_timestamp, low.creation_timestamp) == ("", None, 4 * SECOND)
    assert low.status.start_time is None
    assert [condition.type for condition in low.status.conditions] == ["PodScheduled"]  # its own refusal
    assert low.uid != result.evictions.victims[0].record.pod.uid


# --- gangs and the summary --------------------------------------------------------------------------------------------


def _loses_one() -> list[dict[str, Any]]:
    """A gang of three 2-GPU pods that are evicted one by one; at 4 s one of them is."""
    pods = [with_gpus(pod(f"g-{n}", in_group="g", duration="10s", priority=1), 2) for n in range(3)]
    return [
        add(0, node("n1", **{GPU: "6"})),
        add(0, ranked("g", 2, 1, tidy=True)),
        *(add(0, each) for each in pods),
        add(4, with_gpus(pod("high", duration="5s", priority=9), 2)),
    ]


def test_a_gang_keeps_its_time_of_placement_and_finishes_with_its_restarted_pod(tmp_path: Path) -> None:
    result = play(write(tmp_path / "t.jsonl", _loses_one()))
    (gang,) = result.ledger.all_gangs()
    assert (gang.placed, gang.finished, gang.gone) == (0, 19 * SECOND, 19 * SECOND)


def test_a_victim_that_restarts_as_the_rest_of_its_gang_finishes_holds_the_gang_open(tmp_path: Path) -> None:
    # at 6 s the victim vanishes, then the other succeeds, which is the last one but for the restart
    events = [
        add(0, node("n1", "2")),
        add(0, ranked("g", 1, 1, tidy=True)),
        add(0, pod("g-1", in_group="g", duration="6s", priority=1)),
        add(1, pod("g-0", in_group="g", duration="10s", priority=1)),  # the youngest is the victim
        add(4, pod("high", duration="50s", priority=9)),
    ]
    result = play(write(tmp_path / "t.jsonl", events), grace=2 * SECOND)
    assert runs(result)[:3] == [("g-0", 1, 1, None, 6), ("g-0", 6, 6, 16, None), ("g-1", 0, 0, 6, None)]
    (gang,) = result.ledger.all_gangs()
    assert (gang.placed, gang.finished) == (0, 16 * SECOND)


def test_a_gang_that_lost_a_pod_never_finishes(tmp_path: Path) -> None:
    summary = summarise(play(write(tmp_path / "t.jsonl", _loses_one()), evicted="lost"))
    assert (summary.gangs_placed, summary.gangs_finished, summary.never_placed) == (1, 0, ())
    assert (summary.pods_submitted, summary.pods_finished) == (4, 3)


def test_a_restarted_pod_is_one_pod_from_its_first_arrival_to_its_end(tmp_path: Path) -> None:
    summary = summarise(play(write(tmp_path / "t.jsonl", DUEL)))
    assert (summary.pods_submitted, summary.pods_placed, summary.pods_finished) == (2, 2, 2)
    assert (summary.waiting.count, summary.waiting.maximum) == (2, 0)
    assert (summary.completion.count, summary.completion.maximum) == (2, 19 * SECOND)


def test_preemptions_are_summed_up(tmp_path: Path) -> None:
    events = [
        add(0, node("n1", **{GPU: "6"})),
        add(0, ranked("g", 2, 3, whole=True)),
        *(add(0, with_gpus(pod(f"g-{n}", in_group="g", duration="10s", priority=3), 2)) for n in range(2)),
        add(0, with_gpus(pod("plain", duration="10s", priority=-1), 2)),
        add(2.5, with_gpus(pod("mid", duration="5s", priority=2), 2)),  # evicts plain
        add(4, with_gpus(pod("high", duration="5s", priority=9), 6)),  # evicts g and mid
    ]
    summary = summarise(play(write(tmp_path / "t.jsonl", events), evicted="lost"))
    # plain 2.5 s × 2, g 2 × 4 s × 2, mid 1.5 s × 2
    expected = {
        "cycles": 2,
        "victims": 4,
        "finished": 0,
        "lost_gpu_seconds": 24,
        "victims_by_priority": {"-1": 1, "2": 1, "3": 2},
    }
    assert summary.document()["preemption"] == expected
    assert "preemption" in summary.document()["definitions"]
    assert [line.split() for line in replay_text(summary).split("\n\n")[3].splitlines()] == [
        ["preemptions", "2"],
        ["victims", "4"],
        ["of", "priority", "-1", "1"],
        ["of", "priority", "2", "1"],
        ["of", "priority", "3", "2"],
        ["lost", "GPU", "time", "24", "GPU", "seconds"],
    ]


def test_the_priority_of_a_victim_is_that_of_the_highest_group_that_goes_as_a_whole(tmp_path: Path) -> None:
    root, leaf = composite("root", 1, disruptionMode={"all": {}}, priority=4), group("g", 1, "root")
    leaf["spec"] |= {"priority": 2}
    events = [
        add(0, node("n1", "1")),
        add(0, root),
        add(0, leaf),
        # comes with its node: priorities that differ in a tree are never scheduled
        add(0, pod("g-0", in_group="g", duration="10s", priority=2, nodeName="n1")),
        add(4, pod("high", duration="5s", priority=9)),
    ]
    header = HEADER | {"feature_gates": {"CompositePodGroup": True}}
    result = play(write(tmp_path / "t.jsonl", events, header))
    assert [victim.priority for victim in result.evictions.victims] == [4]


def test_only_what_was_not_finished_is_lost(tmp_path: Path) -> None:
    summary = summarise(play(write(tmp_path / "t.jsonl", _loses_one()), grace=6 * SECOND))
    preemption = summary.document()["preemption"]
    assert (preemption["victims"], preemption["finished"], preemption["lost_gpu_seconds"]) == (1, 1, 0)
    assert "1 (1 finished within their grace)" in replay_text(summary)


def test_nothing_is_said_of_preemption_when_nobody_was_evicted(tmp_path: Path) -> None:
    summary = summarise(play(write(tmp_path / "t.jsonl", DUEL[:2])))
    assert "preemption" not in summary.document()
    assert "preemption" not in summary.document()["definitions"]
    assert "preemption" not in replay_text(summary)


def test_the_command_has_both_options(tmp_path: Path) -> None:
    path, out = write(tmp_path / "t.jsonl", DUEL), tmp_path / "out"
    assert gangsched_json("replay", path)["pods"]["finished"] == 2
    document = gangsched_json("replay", path, "--evicted", "lost", "--grace", "3s", "--out", str(out))
    assert (document["pods"]["finished"], document["end_seconds"]) == (1, 12)
    options = (out / "run.json").read_text(encoding="utf-8")
    assert '"evicted": "lost"' in options
    assert '"grace_nanoseconds": 3000000000' in options


# --- determinism ------------------------------------------------------------------------------------------------------


def _contest(seed: int) -> list[dict[str, Any]]:
    """Gangs and pods of four priorities that take a few nodes from each other, with silences between."""
    rng = Random(seed)
    events = [add(0, node(f"n{n}", "4")) for n in range(2)]
    time = 0
    for number in range(24):
        time += rng.choice((0, 1, 2, 17, 90))
        priority, length = rng.randrange(4), f"{rng.choice((3, 30, 200))}s"
        if rng.random() < 0.3:
            events.append(add(time, pod(f"p{number}", rng.choice("123"), duration=length, priority=priority)))
            continue
        size, whole = rng.randrange(1, 5), rng.random() < 0.5
        events.append(add(time, ranked(f"g{number}", size, priority, whole=whole, tidy=rng.random() < 0.5)))
        for member in range(size):
            made = pod(f"g{number}-{member}", rng.choice("12"), f"g{number}", length, priority=priority)
            events.append(add(time, made))
    return events


def _play(trace: str, *, idle: bool, **options: Any) -> tuple[dict[str, object], int]:
    complaints = Complaints(trace, False)
    source = open_trace(complaints)
    engine = Engine(idle=idle)
    log = io.StringIO()
    player = Player(engine, source.header, complaints, check=True, log=OutcomeLog(log), **options)
    result = player.play(source.events())
    engine.core._check()
    found = {
        "hash": result.decisions_hash,
        "runs": runs(result),
        "cycles": result.tries,
        "end": result.end,
        "log": sorted(log.getvalue().splitlines()),
        "preemption": summarise(result).document().get("preemption"),
    }
    return found, len(result.evictions.victims)


@pytest.mark.parametrize("options", [{}, {"grace": 4 * SECOND}, {"evicted": "lost"}], ids=str)
def test_idle_retries_leave_evictions_as_they_are(tmp_path: Path, options: dict[str, Any]) -> None:
    evicted = 0
    for seed in range(3):
        trace = write(tmp_path / f"{seed}.jsonl", _contest(seed))
        skipped, _ = _play(trace, idle=True, **options)
        carried_out, victims = _play(trace, idle=False, **options)
        for part, value in carried_out.items():
            assert skipped[part] == value, (seed, part)
        evicted += victims
    assert evicted > 0
