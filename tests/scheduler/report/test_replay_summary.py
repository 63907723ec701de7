"""The summary of a replay: figures one can check by hand."""

from __future__ import annotations

from pathlib import Path

from gangsched.report.replay_summary import summarise
from gangsched.report.replay_text import replay_text
from tests.scheduler.replay.play import SECOND, play
from tests.scheduler.replay.traces import add, delete, group, node, pod, write

GPU = "nvidia.com/gpu"
TRACE = [
    add(0, node("n1", **{GPU: "4"})),
    add(0, group("first", 2)),
    add(0, pod("first-0", in_group="first", duration="10s")),
    add(0, pod("first-1", in_group="first", duration="20s")),
    add(5, pod("plain", cpu="3", duration="10s")),  # waits for first-0, from 5 s to 10 s
    add(10, group("big", 1)),
    add(10, pod("big-0", cpu="9", in_group="big")),
    add(10, group("short", 2)),
    add(10, pod("short-0", in_group="short")),
    add(10, group("lonely", 1, "nobody")),
    add(10, pod("lonely-0", in_group="lonely")),
    add(10, group("left", 1)),
    delete(15, "PodGroup", "left"),
]


def with_gpus() -> list[dict[str, object]]:
    events = [dict(event) for event in TRACE]
    request = {"name": "c", "image": "x", "resources": {"requests": {GPU: "2"}, "limits": {GPU: "2"}}}
    gpu_pod = pod("train", duration="15s")
    gpu_pod["spec"]["containers"] = [request]
    return [*events[:4], add(0, gpu_pod), *events[4:]]


def test_every_figure_by_hand(tmp_path: Path) -> None:
    summary = summarise(play(write(tmp_path / "t.jsonl", with_gpus())))
    document = summary.document()
    assert document["gangs"] == {"submitted": 5, "placed": 1, "finished": 1, "never_placed": 4}
    assert document["pods"] == {"submitted": 7, "placed": 4, "finished": 4}
    assert document["end_seconds"] == 20
    assert document["last_arrival_seconds"] == 15
    # waiting: first 0, train 0, plain 5; completion: first 20, train 15, plain 15
    assert document["waiting_seconds"] == {"count": 3, "mean": 1.666, "p50": 0.0, "p90": 5.0, "p99": 5.0, "max": 5.0}
    assert document["completion_seconds"]["mean"] == 16.666
    # 2 of 4 GPUs for 15 of 20 seconds, and for all 15 until the last arrival
    assert document["gpu_utilisation"] == 0.375
    assert document["gpu_utilisation_until_last_arrival"] == 0.5
    # CPU: first-0 10 s, first-1 20 s, plain 3 × 10 s of 4 × 20 s
    assert document["utilisation"]["cpu"] == 0.75
    assert document["never_placed"] == [
        {"gang": "default/big", "since_seconds": 10, "why": "0/1 nodes are available: 1 Insufficient cpu."},
        {"gang": "default/short", "since_seconds": 10, "why": document["never_placed"][1]["why"]},
        {
            "gang": "default/lonely",
            "since_seconds": 10,
            "why": "incomplete: the group or one of its parents is not there",
        },
        {"gang": "default/left", "since_seconds": 10, "why": "deleted; never tried: 0 pods of 1"},
    ]
    assert document["never_placed"][1]["why"].startswith("gated by GangScheduling")


def test_no_gpu_no_utilisation(tmp_path: Path) -> None:
    summary = summarise(play(write(tmp_path / "t.jsonl", [add(0, node("n1")), add(0, pod("a"))])))
    assert summary.gpu_utilisation is None
    assert "GPU utilisation   - (no node has GPUs)" in replay_text(summary)


def test_useless_retries_do_not_stretch_the_time(tmp_path: Path) -> None:
    events = [
        add(0, node("n1", **{GPU: "4"})),
        add(0, pod("a", duration="11s")),
        add(0, group("big", 1)),
        add(0, pod("big-0", cpu="9", in_group="big")),
    ]
    result = play(write(tmp_path / "t.jsonl", events))
    assert result.end == 11 * SECOND
    assert summarise(result).utilisation["cpu"] == 0.25


def test_the_table_groups_reasons(tmp_path: Path) -> None:
    text = replay_text(summarise(play(write(tmp_path / "t.jsonl", TRACE))))
    lines = [line.split() for line in text.splitlines()]
    assert ["gangs", "5", "1", "1"] in lines
    assert lines[-5] == ["NEVER", "PLACED", "FIRST", "WHY"]
    assert any(line[:2] == ["1", "default/big"] for line in lines)


def test_a_lenient_replay_says_what_it_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [add(0, node("n1")), "nonsense"])
    text = replay_text(summarise(play(path, lenient=True)))
    assert f"skipped           1, first: {path}:3: found no JSON" in text
