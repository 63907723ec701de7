"""Replays that skip idle retries against replays that carry every one of them out, on small random native traces."""

from __future__ import annotations

import gzip
import io
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gangsched.api import Engine, plugin_registry
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.host import Host
from gangsched.replay.complaints import Complaints
from gangsched.replay.decision_log import OutcomeLog
from gangsched.replay.formats import open_trace
from gangsched.replay.nodes import nodes_of
from gangsched.replay.player import Player
from tests.scheduler.replay.traces import add, delete, group, node, pod, update, write

EXAMPLE = Path(__file__).parents[2] / "examples" / "philly-10-days.csv.gz"
HOSTNAME = "kubernetes.io/hostname"
GAPS = (0, 0, 1, 2, 5, 11, 30, 31)
NEVER_WITH_X: dict[str, Any] = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": HOSTNAME}
        ]
    }
}


class Story:
    """Gangs and plain pods come and go, nodes come and change. ``rich``: with selectors, tolerations, anti-affinity.

    ``ranks``: with priorities, so that somebody may be evicted.
    """

    def __init__(self, seed: int, *, rich: bool, ranks: bool) -> None:
        self.dice = Random(seed)
        self.rich, self.ranks = rich, ranks
        self.time = 0
        self.events: list[dict[str, Any]] = []
        self.nodes: list[str] = []
        self.groups: list[str] = []
        self.pods: list[str] = []
        for _ in range(self.dice.randint(1, 3)):
            self._add_node("4", pods=self.dice.choice(("110", "5")))
        for number in range(self.dice.randint(5, 25)):
            self.time += self.dice.choice(GAPS)
            self._something(number)
        self.events.append(add(self.time + self.dice.choice((0, 50, 600)), pod("last", cpu="99")))

    def _something(self, number: int) -> None:
        what = self.dice.random()
        if what < 0.6:
            self._gang(f"g{number}")
        elif what < 0.7:
            self._plain(f"p{number}")
        elif what < 0.8:
            self._change_node()
        elif what < 0.85:
            self._add_node("4")
        elif what < 0.92 and self.pods:
            self.events.append(delete(self.time, "Pod", self.dice.choice(self.pods)))
        elif self.groups:
            self.events.append(delete(self.time, "PodGroup", self.dice.choice(self.groups)))

    def _gang(self, name: str) -> None:
        dice = self.dice
        size = dice.choice((1, 1, 2, 3))
        gang = group(name, dice.choice((size, size, max(1, size - 1))))
        rank: dict[str, Any] = {"priority": 5} if self.ranks and dice.random() < 0.2 else {}
        gang["spec"] |= rank
        self.events.append(add(self.time, gang))
        self.groups.append(name)
        for at in range(size):
            cpu, duration = dice.choice("1243"), dice.choice(("20s", "40s", "77s", "300s"))
            member = pod(f"{name}-{at}", cpu=cpu, in_group=name, duration=duration, **rank)
            if self.rich and dice.random() < 0.3:
                member["spec"]["nodeSelector"] = {"z": "a"}
            if self.rich and dice.random() < 0.1:
                member["spec"]["tolerations"] = [{"operator": "Exists"}]
            self._add_pod(member)

    def _plain(self, name: str) -> None:
        plain = pod(name, cpu=self.dice.choice("12"), duration=self.dice.choice(("20s", "60s", "60s", "")))
        if self.rich and self.dice.random() < 0.5:
            plain["spec"]["affinity"] = NEVER_WITH_X
        self._add_pod(plain)

    def _add_pod(self, obj: dict[str, Any]) -> None:
        obj["metadata"]["labels"] = {"app": self.dice.choice("xy")}
        self.events.append(add(self.time, obj))
        self.pods.append(obj["metadata"]["name"])

    def _add_node(self, cpu: str, **more: str) -> None:
        self.nodes.append(f"n{len(self.nodes)}")
        self.events.append(add(self.time, node(self.nodes[-1], cpu, **more)))

    def _change_node(self) -> None:
        name = self.dice.choice(self.nodes)
        changed = node(name, self.dice.choice("4428"))
        if self.rich:
            changed["metadata"]["labels"] = {"z": self.dice.choice("ab"), HOSTNAME: name}
        if self.dice.random() < 0.3:
            changed["spec"] = {"unschedulable": True}
        self.events.append(update(self.time, changed))


def play(trace: str, *, idle: bool, oracle: bool = False, nodes: str = "") -> tuple[dict[str, object], int]:
    """What a replay leaves, and how many attempts it carried out. ``oracle``: by the per-node form of every plugin."""
    complaints = Complaints(trace, lenient=True)  # what an earlier event made impossible is passed over
    source = open_trace(complaints)
    engine = Engine(source.header.config, idle=idle)
    if oracle:
        settings = Settings(engine.config.initial_backoff, engine.config.max_backoff, oracle=True)
        profiles, gates = engine.config.profiles, engine.config.gates
        engine.core = Scheduler(profiles, plugin_registry(), settings=settings, feature_gates=gates)
        engine.host = Host(engine.core)
    log = io.StringIO()
    player = Player(engine, source.header, complaints, check=True, log=OutcomeLog(log))
    result = player.play(source.events(), nodes_of(nodes) or () if nodes else ())
    engine.core._check()
    left = {
        "hash": result.decisions_hash,
        "attempts": result.tries,
        "end": result.end,
        "queue": result.waiting,
        "log": sorted(log.getvalue().splitlines()),
        "skipped": (result.skipped, result.first_skipped),
        "conditions": {key: each.status.conditions for key, each in engine.core.world.pods.items()},
        "groups": {each.key: each.conditions for each in engine.core.world.forest.groups()},
        "reasons": {gang.group.key: gang.why for gang in result.ledger.all_gangs()},
    }
    return left, player.tries


def compare(path: Path, seeds: range) -> None:
    carried_out = skipping = 0
    for seed in seeds:
        story = Story(seed, rich=seed % 3 == 2, ranks=seed % 3 > 0)
        trace = write(path / f"{seed}.jsonl", story.events)
        (skipped, few), (whole, many) = play(trace, idle=True), play(trace, idle=False)
        for part, value in whole.items():
            assert skipped[part] == value, (seed, part)
        skipping, carried_out = skipping + few, carried_out + many
    assert skipping < 0.8 * carried_out, "nobody slept"


@pytest.mark.parametrize("first", range(0, 45, 15))
def test_idle_retries_are_as_good_as_carried_out(tmp_path: Path, first: int) -> None:
    compare(tmp_path, range(first, first + 15))


@pytest.mark.slow
def test_three_thousand_gangs_of_philly_are_placed_as_by_the_oracle_that_carries_every_retry_out(
    tmp_path: Path,
) -> None:
    with gzip.open(EXAMPLE, "rt", encoding="utf-8") as whole:
        lines = list(islice(whole, 3001))
    trace = tmp_path / "slice.csv"
    trace.write_text("".join(lines), encoding="utf-8")

    (fast, few), (slow, many) = (
        play(str(trace), idle=not oracle, oracle=oracle, nodes="64x8gpu") for oracle in (False, True)
    )

    for part, value in slow.items():
        assert fast[part] == value, part
    assert few < many // 10


@pytest.mark.slow
def test_many_traces(tmp_path: Path) -> None:
    compare(tmp_path, range(1000, 2000))
