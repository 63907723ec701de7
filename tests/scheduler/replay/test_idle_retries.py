"""Retries that pass without being carried out leave what carrying them out would have left."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched.api import Engine
from gangsched.replay.complaints import Complaints
from gangsched.replay.decision_log import OutcomeLog
from gangsched.replay.formats import open_trace
from gangsched.replay.nodes import nodes_of
from gangsched.replay.player import Player
from tests.scheduler.replay.traces import add, composite, delete, group, pod, update, write


def _trace(path: Path, seed: int) -> str:
    """A few dozen gangs that compete for a few nodes, with bursts and long silences."""
    rng = Random(seed)
    lines = ["submit_s,duration_s,num_gpus,vc"]
    time = 0
    for _ in range(40):
        time += rng.choice((0, 0, 1, 3, 17, 100, 700))
        lines.append(f"{time},{rng.choice((5, 60, 900, 2500))},{rng.choice((1, 2, 4, 8, 12, 16))},a")
    file = path / f"trace-{seed}.csv"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def _play(trace: str, *, idle: bool, nodes: str = "2x8gpu", **choices: bool) -> dict[str, object]:
    complaints = Complaints(trace, False)
    source = open_trace(complaints, None, pod_per_gpu=False)
    engine = Engine(source.header.config, idle=idle, group_scheduling=choices)
    log = io.StringIO()
    player = Player(engine, source.header, complaints, check=True, log=OutcomeLog(log))
    result = player.play(source.events(), (nodes_of(nodes) if nodes else None) or [])
    engine.core._check()
    return {
        "hash": result.decisions_hash,
        "cycles": result.tries,
        "end": result.end,
        "queue": result.waiting,
        "log": sorted(log.getvalue().splitlines()),
        "conditions": {key: pod.status.conditions for key, pod in engine.core.world.pods.items()},
        "groups": {group.key: group.conditions for group in engine.core.world.forest.groups()},
        "reasons": {gang.group.key: gang.why for gang in result.ledger.all_gangs()},
    }


@pytest.mark.parametrize("seed", range(4))
def test_a_replay_that_skips_idle_retries_ends_like_one_that_carries_them_out(tmp_path: Path, seed: int) -> None:
    trace = _trace(tmp_path, seed)

    skipped, carried_out = _play(trace, idle=True), _play(trace, idle=False)

    for part, value in carried_out.items():
        assert skipped[part] == value, part


@pytest.mark.parametrize("pre_check", [True, False], ids=["the pre-check", "no pre-check"])
def test_trees_of_several_shapes_whose_gpus_no_score_looks_at_end_alike_with(pre_check: bool) -> None:
    trace = str(Path(__file__).parents[3] / "examples" / "debated-choices.jsonl.gz")

    skipped, carried_out = (_play(trace, idle=idle, nodes="", preCheck=pre_check) for idle in (True, False))

    for part, value in carried_out.items():
        assert skipped[part] == value, part


GAPS = ((0, 0, 0, 1, 2), (0, 1, 5, 11, 30), (0, 0, 11, 11, 22), (0, 0.5, 1, 3, 100))
DURATIONS = ((5, 20, 40, 77, 200), (11, 22, 33, 44), (60, 61, 62, 600))
SIZES = ((1, 2, 4, 8), (1, 1, 2, 8, 16), (8, 8, 16), (1, 3, 5, 8, 12))
NODES = ("1x8gpu", "2x8gpu", "3x8gpu", "2x8gpu,pods=5", "2x4gpu")


@st.composite
def crowded_traces(draw: st.DrawFn) -> str:
    """Many gangs of few kinds in step with one another: turns are had in parts, by one tree after the other."""
    gaps, durations, sizes = draw(st.sampled_from(GAPS)), draw(st.sampled_from(DURATIONS)), draw(st.sampled_from(SIZES))
    rows = st.tuples(st.sampled_from(gaps), st.sampled_from(durations), st.sampled_from(sizes))
    lines, time = ["submit_s,duration_s,num_gpus,vc"], 0.0
    for gap, duration, gpus in draw(st.lists(rows, min_size=5, max_size=40)):
        time += gap
        lines.append(f"{time},{duration},{gpus},a")
    return "\n".join(lines) + "\n"


@given(text=crowded_traces(), nodes=st.sampled_from(NODES))
@settings(max_examples=25, deadline=None)
def test_crowded_traces_end_alike(tmp_path_factory: pytest.TempPathFactory, text: str, nodes: str) -> None:
    file = tmp_path_factory.mktemp("crowded") / "trace.csv"
    file.write_text(text)

    skipped, carried_out = _play(str(file), idle=True, nodes=nodes), _play(str(file), idle=False, nodes=nodes)

    for part, value in carried_out.items():
        assert skipped[part] == value, part


SHAPES = {
    "a leaf with its pods goes": [delete(300, "PodGroup", "g")],
    "an empty leaf goes": [delete(300, "PodGroup", "empty")],
    "a leaf comes": [add(300, group("h", 1, "root"))],
    "a leaf and its pod come": [add(300, group("h", 1, "root")), add(310, pod("h-0", cpu="1", in_group="h"))],
    "the root goes and comes back": [delete(300, "CompositePodGroup", "root"), add(333, composite("root", 1))],
    "a minimum falls": [update(300, group("g", 1, "root"))],
}


@pytest.mark.parametrize("changes", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("until", [400, 3600])
def test_a_tree_that_changes_its_shape_while_it_sleeps_has_made_its_retries_before(
    tmp_path: Path, changes: list[dict[str, Any]], until: int
) -> None:
    events = [
        add(0, composite("root", 1)),
        add(0, group("empty", 1, "root")),
        add(0, group("g", 2, "root")),
        *(add(1, pod(name, cpu=cpu, in_group="g")) for name, cpu in (("g-0", "60"), ("g-1", "97"))),
        *changes,
        add(until, pod("last", cpu="99")),
    ]
    trace = write(tmp_path / "t.jsonl", events)

    skipped, carried_out = _play(trace, idle=True), _play(trace, idle=False)

    for part, value in carried_out.items():
        assert skipped[part] == value, part
