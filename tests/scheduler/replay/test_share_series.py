"""Shares over the time of a replay: exact integrals, waiting times, samples, Jain's index."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from gangsched.replay.share_series import MOST_SAMPLES
from gangsched.report.queue_summary import jain
from tests.scheduler.cli.command import gangsched, gangsched_json

HEADER = {
    "gangsched_trace": 1,
    "config": {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"queueSort": {"enabled": [{"name": "DRF"}, {"name": "Proportion"}]}}}],
    },
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
}


def queue(name: str, weight: int) -> dict[str, Any]:
    api = "scheduling.volcano.sh/v1beta1"
    return {"apiVersion": api, "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": weight}}


def pod(name: str, tenant: str, seconds: int) -> dict[str, Any]:
    notes = {"scheduling.volcano.sh/queue-name": tenant, "gangsched.dev/duration": f"{seconds}s"}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    metadata = {"name": name, "annotations": notes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """a (weight 3) and b (weight 1) share 4 cpus; a asks for 3 and gets them, b for 2 of which one waits 10 s."""
    events = [(0, NODE), (0, queue("a", 3)), (0, queue("b", 1))]
    events += [(0, pod(f"a{i}", "a", 10)) for i in range(3)]
    events += [(0, pod(f"b{i}", "b", 20)) for i in range(2)]
    lines = [HEADER, *({"t": time, "add": manifest} for time, manifest in events)]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_integrals_waits_and_jain_are_exact(trace: str) -> None:
    summary = gangsched_json("replay", trace)
    a, b = summary["queues"]["a"], summary["queues"]["b"]
    assert summary["end_seconds"] == 30
    # a holds 3 cpus for 10 of 30 s; b one for 10 s, two for 10 s, one for 10 s
    assert (a["allocated"]["cpu"], b["allocated"]["cpu"]) == (1, pytest.approx(4 / 3, abs=1e-6))
    assert (a["deserved"]["cpu"], b["deserved"]["cpu"]) == (1, pytest.approx(4 / 3, abs=1e-6))
    assert (a["waiting_seconds"]["max"], b["waiting_seconds"]["max"]) == (0, 10)
    assert (a["contending_seconds"], b["contending_seconds"]) == (0, 10)
    assert (a["share"], b["share"]) == (None, 1)
    assert summary["jain_share"] == 1
    assert summary["jain_waiting"] == 0.5
    assert set(summary["definitions"]) >= {"queues", "jain_share", "jain_waiting"}


def test_the_run_folder_holds_the_series(trace: str, tmp_path: Path) -> None:
    assert gangsched("replay", trace, "--out", str(tmp_path / "run")).exit_code == 0
    with (tmp_path / "run" / "queues.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["time", "queue", "resource", "allocated", "deserved", "share"]
    of_b = [row for row in rows if (row["queue"], row["resource"]) == ("b", "cpu")]
    assert [[float(row[name]) for name in ("time", "allocated", "deserved")] for row in of_b] == [
        [0, 1, 1],
        [10, 2, 2],
        [20, 1, 1],
    ]


def test_the_table_has_a_row_a_queue(trace: str) -> None:
    text = gangsched("replay", trace).stdout
    lines = text.splitlines()
    header = next(line for line in lines if line.startswith("QUEUE"))
    assert header.split()[:3] == ["QUEUE", "PLACED", "WAIT"]
    assert next(line for line in lines if line.startswith("b ")).split()[1:3] == ["2", "5s"]
    assert "Jain's index of waiting   0.5000" in lines


def test_without_queues_and_tiers_nothing_is_said_of_shares(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    lines = [{"gangsched_trace": 1}, {"t": 0, "add": NODE}, {"t": 0, "add": pod("a", "x", 5)}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    summary = gangsched_json("replay", str(path), "--out", str(tmp_path / "run"))
    assert "queues" not in summary
    assert not (tmp_path / "run" / "queues.csv").exists()


# --- the Philly table -----------------------------------------------------------------------------------------------

PHILLY = "submit_s,duration_s,num_gpus,vc\n0,10,8,red\n0,10,8,blue\n0,10,8,red\n"
FAIR = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    queueSort: {enabled: [{name: DRF}, {name: Proportion}]}
"""
QUEUES = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: red}\nspec: {weight: 7}\n"


def philly(tmp_path: Path, *args: str) -> Any:
    (tmp_path / "philly.csv").write_text(PHILLY, encoding="utf-8")
    (tmp_path / "fair.yaml").write_text(FAIR, encoding="utf-8")
    (tmp_path / "queues.yaml").write_text(QUEUES, encoding="utf-8")
    named = [str(tmp_path / arg) if arg.endswith(".yaml") else arg for arg in args]
    return gangsched_json("replay", str(tmp_path / "philly.csv"), "--nodes", "2x8gpu", *named)


def test_virtual_clusters_are_queues_of_weight_1(tmp_path: Path) -> None:
    summary = philly(tmp_path, "-c", "fair.yaml")
    assert set(summary["queues"]) == {"red", "blue"}
    assert summary["trace"]["events"] == 6, "a queue that comes into being by being named is no event of the trace"
    assert summary["bindings"].keys() == {"default/job-000001-0", "default/job-000002-0", "default/job-000003-0"}
    assert summary["queues"]["red"]["waiting_seconds"]["max"] > summary["queues"]["blue"]["waiting_seconds"]["max"] == 0


def test_weights_come_from_a_file(tmp_path: Path) -> None:
    summary = philly(tmp_path, "-c", "fair.yaml", "--queues", "queues.yaml")
    deserved = {name: queue["deserved"]["nvidia.com/gpu"] for name, queue in summary["queues"].items()}
    assert deserved["red"] > 2 * deserved["blue"]


def test_with_a_file_of_queues_shares_are_measured_under_any_policy(tmp_path: Path) -> None:
    assert set(philly(tmp_path, "--queues", "queues.yaml")["queues"]) == {"red", "blue"}


def test_a_file_of_queues_holds_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_text(json.dumps(NODE), encoding="utf-8")
    (tmp_path / "philly.csv").write_text(PHILLY, encoding="utf-8")
    result = gangsched("replay", str(tmp_path / "philly.csv"), "--queues", str(tmp_path / "node.yaml"))
    assert result.exit_code == 2
    assert "--queues: found Node/n, allowed queues only" in result.stderr


@pytest.mark.parametrize(
    "values, want", [([], None), ([0, 0], 1), ([5], 1), ([1, 1, 1], 1), ([1, 0, 0, 0], 0.25), ([1, 2, 3], 0.857143)]
)
def test_jains_index(values: list[float], want: float | None) -> None:
    assert jain(values) == want


def test_long_replays_are_thinned(tmp_path: Path) -> None:
    rows = [f"{second},1,1,red" for second in range(3 * MOST_SAMPLES)]
    (tmp_path / "long.csv").write_text("submit_s,duration_s,num_gpus,vc\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "fair.yaml").write_text(FAIR, encoding="utf-8")
    out = tmp_path / "run"
    args = ("--nodes", "2x8gpu", "-c", str(tmp_path / "fair.yaml"), "--out", str(out))
    assert gangsched("replay", str(tmp_path / "long.csv"), *args).exit_code == 0
    times = sorted({float(line.split(",")[0]) for line in (out / "queues.csv").read_text().splitlines()[1:]})
    assert MOST_SAMPLES // 2 <= len(times) <= MOST_SAMPLES + 1
    assert times[-1] >= 3 * MOST_SAMPLES - 10
