"""The examples do what examples/README.md says, to the word (spec podgroup-scheduling.md §4.12)."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gangsched import api
from gangsched.engine.report import CycleReport
from gangsched.replay.converters.philly import HEADER
from gangsched_framework.queue_state import QueueState
from tests.scheduler.cli.command import gangsched, gangsched_json
from tests.scheduler.replay.play import SECOND, play_with_reports

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
RECORDINGS = ROOT.parent / "shared" / "conformance" / "kube" / "cases"

PLACEMENT = "pod group is unschedulable, 0/1 placements are available, first placement status: "
SUB2 = f"{PLACEMENT}minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
PG3 = f"{PLACEMENT}minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"
NO_QUORUM = f"{PLACEMENT}pod group is unschedulable"
NO_CPU = "0/2 nodes are available: 2 Insufficient cpu."
NO_VICTIMS = ", pod group preemption: No preemption victims found for incoming preemptor"
ROOT_KEY = "compositepodgroup/default/root"


def played(name: str) -> tuple[api.Engine, list[CycleReport], list[QueueState]]:
    """The engine after a whole run of an example, its cycles, and the queue after each."""
    engine = api.Engine(tracing=True)
    queues: list[QueueState] = []
    engine.on_report.append(lambda _: queues.append(engine.queue_state()))
    engine.apply(EXAMPLES / name)
    return engine, engine.run(), queues


def groups(report: CycleReport) -> dict[str, str]:
    return {key.name: f"{v.status.code.value} {v.status.message}".strip() for key, v in report.groups.items()}


def pods(report: CycleReport) -> dict[str, str]:
    return {
        key.removeprefix("default/"): v.node or (v.status.message if v.status else "") for key, v in report.pods.items()
    }


def calls(report: CycleReport) -> list[str]:
    """PlacementFeasible calls as ``NAME R S M``."""
    steps = [step for step in report.trace if step.kind == "feasible"]
    return [f"{step.subject.rsplit('/', 1)[1]} {' '.join(map(str, step.progress or ()))}" for step in steps]


def recorded(name: str) -> list[Any]:
    """The cycles of a recorded scenario."""
    file = RECORDINGS / f"{name}.json"
    if not file.exists():
        pytest.skip("the recordings are not here")
    document = json.loads(file.read_text(encoding="utf-8"))
    return [cycle for record in document["records"] for cycle in record.get("cycles", ())]


def test_the_walkthrough_goes_step_by_step_as_the_specification_says() -> None:
    engine, (first, second), (after_first, after_second) = played("walkthrough")
    assert groups(first) == {
        "root": "Success",
        "sub1": "Success",
        "sub2": f"Unschedulable {SUB2}",
        "pg1": "Success",
        "pg2": f"Unschedulable {SUB2}",  # S→F
        "pg3": f"Unschedulable {PG3}",
    }
    assert {key.name: code.value for key, code in first.raw.items()} == {
        "root": "Success",
        "sub1": "Success",
        "sub2": "Unschedulable",
        "pg1": "Success",
        "pg2": "Success",
        "pg3": "Unschedulable",
    }
    assert pods(first) == {
        "pg1-pod-0": "node-1",
        "pg1-pod-1": "node-2",
        "pg2-pod-0": SUB2,
        "pg2-pod-1": SUB2,
        "pg3-pod-0": NO_CPU,
        "pg3-pod-1": PG3,
    }
    assert calls(first) == [
        *("root 2 0 1", "sub1 1 0 1", "pg1 2 0 2", "pg1 1 1 2", "pg1 0 2 2", "sub1 0 1 1", "root 1 1 1"),
        *("sub2 2 0 2", "pg2 2 0 2", "pg2 1 1 2", "pg2 0 2 2", "sub2 1 1 2"),
        *("pg3 2 0 2", "pg3 1 0 2", "sub2 0 1 2", "root 0 1 1"),
    ]
    reverts = [(step.subject, step.text) for step in first.trace if step.kind == "revert"]
    assert reverts == [("compositepodgroup/default/sub2", "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining")]
    (waiting,) = after_first.active
    assert (waiting.key, waiting.attempts, waiting.ts, waiting.unschedulable) == (ROOT_KEY, 1, 0, 0)
    assert [pod for names in waiting.members.values() for pod in names] == [
        "pg2-pod-0",
        "pg2-pod-1",
        "pg3-pod-0",
        "pg3-pod-1",
    ]
    assert second.root is not None
    assert (second.root.code.value, second.root.message) == ("Unschedulable", "pod group is unschedulable")
    assert groups(second)["root"] == f"Unschedulable pod group is unschedulable{NO_VICTIMS * 3}"
    assert groups(second)["pg2"] == f"Unschedulable {SUB2}{NO_VICTIMS * 2}"
    assert groups(second)["pg3"] == f"Unschedulable {PG3}{NO_VICTIMS}"
    (waiting,) = after_second.backoff
    assert (waiting.attempts, waiting.unschedulable, waiting.expires) == (2, 1, SECOND)
    assert engine.bindings == {"default/pg1-pod-0": "node-1", "default/pg1-pod-1": "node-2"}


def test_the_partial_quorum_lets_all_five_pods_in() -> None:
    _, (first, _), (after_first, _) = played("partial-quorum")
    assert pods(first) == {
        "pg1-pod-0": "node-1",
        "pg1-pod-1": "node-2",
        "pg2-pod-0": SUB2,
        "pg2-pod-1": SUB2,
        "pg3-pod-0": NO_QUORUM,
    }
    assert groups(first)["pg3"] == f"Unschedulable {NO_QUORUM}"
    tried = [step.subject for step in first.trace if step.kind == "pod"]
    assert "default/pg3-pod-0" not in tried
    assert [call for call in calls(first) if call.startswith("pg3")] == ["pg3 1 0 2"]
    (waiting,) = after_first.active
    assert sum(len(names) for names in waiting.members.values()) == 3


def test_each_stage_of_the_evolution_places_only_the_new_pods() -> None:
    result, reports = play_with_reports(str(EXAMPLES / "three-stage-evolution.jsonl"))
    assert [(report.time // SECOND, pods(report)) for report in reports] == [
        (0, {"pg1-pod-0": "node-1", "pg1-pod-1": "node-2"}),
        (10, {"pg2-pod-0": "node-3", "pg2-pod-1": "node-4", "pg3-pod-0": "node-3", "pg3-pod-1": "node-4"}),
        (20, {"pg1-pod-2": "node-1", "pg1-pod-3": "node-2"}),
    ]
    assert [groups(report)["sub2"] for report in reports] == [f"Unschedulable {PG3}", "Success", "Success"]
    assert groups(reports[0])["pg2"] == f"Unschedulable {NO_QUORUM}"
    assert all(report.root is not None and report.root.ok for report in reports)
    assert result.waiting == QueueState()


AS_RECORDED = {
    "walkthrough": ("walkthrough", 0),
    "walkthrough-second-cycle": ("walkthrough", 1),
    "partial-quorum-entry": ("partial-quorum", 0),
}


@pytest.mark.parametrize("scenario, example, cycle", [(s, *e) for s, e in AS_RECORDED.items()], ids=AS_RECORDED)
def test_the_examples_are_the_recorded_scenarios(scenario: str, example: str, cycle: int) -> None:
    want = recorded(scenario)[cycle]
    _, reports, _ = played(example)
    report = reports[cycle]
    lines = [step.line for step in report.trace if step.kind == "feasible"]
    assert lines[: len(want["trace"])] == want["trace"]
    for key, verdict in want["groups"].items():
        got = report.groups[next(known for known in report.groups if known == key)]
        assert (got.status.code.value, got.status.message) == (verdict["code"], verdict.get("msg", ""))
    for key, verdict in want["pods"].items():
        status = report.pods[key].status
        assert (report.pods[key].node, status and status.message) == (verdict.get("node"), verdict.get("msg"))


def test_the_evolution_is_the_recorded_scenario() -> None:
    _, reports = play_with_reports(str(EXAMPLES / "three-stage-evolution.jsonl"))
    for want, report in zip(recorded("three-stage-evolution"), reports, strict=False):
        assert {key: verdict["node"] for key, verdict in want["pods"].items()} == {
            key: verdict.node for key, verdict in report.pods.items()
        }
        assert {key: group["code"] for key, group in want["groups"].items()} == {
            key: group.status.code.value for key, group in report.groups.items()
        }


def test_the_commands_of_the_readme_show_it() -> None:
    once = gangsched("run", "-f", str(EXAMPLES / "walkthrough"), "--trace", "--once")
    assert once.exit_code == 1
    for line in (
        "    compositepodgroup/default/sub1: R=1 S=0 M=1 → Wait",
        "        pod default/pg1-pod-0 -> node-1",
        f"        pod default/pg3-pod-0 refused: {NO_CPU}",
        "    compositepodgroup/default/sub2: revert minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, "
        "taking back pg2-pod-0, pg2-pod-1",
        f"    podgroup/default/pg2: S→F Unschedulable: {SUB2}",
        "  requeue: active queue, without backoff, with pg2-pod-0, pg2-pod-1, pg3-pod-0, pg3-pod-1",
    ):
        assert line in once.stdout.splitlines()
    twice = gangsched("run", "-f", str(EXAMPLES / "walkthrough"), "--trace")
    assert "  requeue: backoff until 2s, with pg2-pod-0, pg2-pod-1, pg3-pod-0, pg3-pod-1" in twice.stdout.splitlines()
    document = gangsched_json("run", "-f", str(EXAMPLES / "walkthrough"), code=1)
    assert document["bindings"] == {"default/pg1-pod-0": "node-1", "default/pg1-pod-1": "node-2"}
    assert document["entities"][ROOT_KEY]["container"] == "backoff"
    assert document["entities"][ROOT_KEY]["attempts"] == 2


def test_the_slice_is_what_its_readme_says() -> None:
    with gzip.open(EXAMPLES / "philly-10-days.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        assert stream.readline().rstrip() == HEADER
        rows = list(csv.reader(stream))
    assert len(rows) == 9085 >= 8000
    assert len({row[3] for row in rows}) == 11
    assert max(int(row[2]) for row in rows) == 32
    assert 0 <= int(rows[0][0]) <= int(rows[-1][0]) < 10 * 86_400
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(word in text for word in ("9,085 jobs", "11 virtual clusters", "USENIX ATC 2019", "CC-BY-4.0"))


@pytest.mark.slow
def test_the_slice_replays_to_its_end_with_every_binding_checked() -> None:
    document = gangsched_json(
        *("replay", str(EXAMPLES / "philly-10-days.csv.gz"), "--nodes", "64x8gpu"),
        *("-c", str(EXAMPLES / "philly.yaml"), "--check"),
    )
    assert document["gangs"] == {"submitted": 9085, "placed": 9085, "finished": 9085, "never_placed": 0}
    assert document["waiting_seconds"]["mean"] > 600
    assert document["gpu_utilisation_until_last_arrival"] > 0.6
