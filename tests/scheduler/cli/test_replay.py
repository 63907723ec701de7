"""``gangsched replay``: options, outputs, the run folder, the same decisions everywhere."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.scheduler.cli.command import gangsched, gangsched_json
from tests.scheduler.replay.traces import add, delete, group, node, pod, update, write

ROOT = Path(__file__).resolve().parents[3]
SLICE = ROOT / "examples" / "philly-10-days.csv.gz"
PHILLY = ("--nodes", "8x8gpu", "-c", str(ROOT / "examples" / "philly.yaml"), "--until", "36h")


ROWS = "submit_s,duration_s,num_gpus,vc\n5,1,12,a\n6,1,1,b\n"


def small(tmp_path: Path) -> str:
    events = [
        add(0, node("n1")),
        add(0, group("g", 2)),
        *(add(1, pod(f"g-{n}", in_group="g", duration="9.5s")) for n in range(2)),
        add(2, pod("waits", cpu="3")),
    ]
    return write(tmp_path / "t.jsonl", events)


@pytest.mark.parametrize("until", ["4s", "0d 4s", "4"])
def test_it_ends_after_a_time_given_as_reports_show_it(tmp_path: Path, until: str) -> None:
    document = gangsched_json("replay", small(tmp_path), "--until", until)
    assert (document["end_seconds"], document["pods"]["finished"]) == (4, 0)


def test_the_document_holds_bindings_of_finished_pods(tmp_path: Path) -> None:
    document = gangsched_json("replay", small(tmp_path), "--check")
    assert document["bindings"] == {"default/g-0": "n1", "default/g-1": "n1", "default/waits": "n1"}
    assert document["gangs"] == {"submitted": 1, "placed": 1, "finished": 1, "never_placed": 0}
    assert document["pods"] == {"submitted": 3, "placed": 3, "finished": 2}
    assert document["end_seconds"] == 10.5
    assert len(document["decisions_hash"]) == 64
    assert set(document["definitions"]) >= {"waiting", "completion", "gpu_utilisation", "decisions_hash"}


def test_the_format_may_be_given(tmp_path: Path) -> None:
    path = small(tmp_path)
    assert gangsched_json("replay", path, "--format", "native") == gangsched_json("replay", path)
    wrong = gangsched("replay", path, "--format", "philly")
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith(f"{path}:1: found the header")


def test_a_pending_pod_is_no_failure(tmp_path: Path) -> None:
    result = gangsched("replay", write(tmp_path / "t.jsonl", [add(0, pod("a"))]))
    assert result.exit_code == 0


def test_nodes_may_be_given(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [add(0, pod("a"))])
    assert gangsched_json("replay", path, "--nodes", "2xcpu=1")["bindings"] == {"default/a": "node-1"}
    file = tmp_path / "nodes.json"
    file.write_text(json.dumps(node("mine")), encoding="utf-8")
    assert gangsched_json("replay", path, "--nodes", str(file))["bindings"] == {"default/a": "mine"}
    missing = gangsched("replay", path, "--nodes", "nowhere.yaml")
    assert missing.exit_code == 2
    assert missing.stderr.startswith('--nodes: found text "nowhere.yaml", allowed a file or folder that exists')


def test_the_configuration_of_the_command_wins_over_the_header(tmp_path: Path) -> None:
    config: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "other"}],
    }
    header = {"gangsched_trace": 1, "config": config}
    path = write(tmp_path / "t.jsonl", [add(0, node("n1")), add(0, pod("a"))], header)
    assert gangsched_json("replay", path)["bindings"] == {}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config | {"profiles": [{"schedulerName": "default-scheduler"}]}), encoding="utf-8")
    assert gangsched_json("replay", path, "-c", str(file))["bindings"] == {"default/a": "n1"}


def test_the_gates_of_the_command_win_over_the_header(tmp_path: Path) -> None:
    header = {"gangsched_trace": 1, "feature_gates": {"CompositePodGroup": False}}
    # without the gate a parent that is not there does not matter
    events = [add(0, node("n1")), add(0, group("g", 1, "nobody")), add(0, pod("g-0", in_group="g"))]
    path = write(tmp_path / "t.jsonl", events, header)
    assert gangsched_json("replay", path)["bindings"] == {"default/g-0": "n1"}
    assert gangsched_json("replay", path, "--feature-gates", "CompositePodGroup=true")["bindings"] == {}


def test_the_trace_can_be_followed(tmp_path: Path) -> None:
    text = gangsched("replay", small(tmp_path), "--trace").stdout
    assert text.startswith("cycle 1 at 1s: podgroup/default/g, attempt 1\n  podgroup/default/g: R=2 S=0 M=2 → Wait\n")


def test_leniency_is_an_option(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [add(0, node("n1")), "nonsense", add(0, pod("a"))])
    assert gangsched("replay", path).exit_code == 2
    document = gangsched_json("replay", path, "--lenient")
    assert document["trace"]["skipped"] == 1
    assert document["trace"]["first_skipped"].startswith(f"{path}:3: found no JSON")


# --- the gate of groups ---------------------------------------------------------------------------------------------

NO_GROUPS = ("--feature-gates", "CompositePodGroup=false,TopologyAwareWorkloadScheduling=false,GenericWorkload=false")


def test_without_the_gate_of_groups_their_lines_come_and_go_and_nothing_is_a_gang(tmp_path: Path) -> None:
    events = [
        add(0, node("n1")),
        add(0, group("g", 9)),
        add(1, pod("a", in_group="g")),
        update(2, group("g", 8)),
        update(2, pod("a", in_group="g")),
        delete(3, "PodGroup", "g"),
    ]
    result = gangsched("replay", write(tmp_path / "t.jsonl", events), "--check", "-o", "json", *NO_GROUPS)
    document = json.loads(result.stdout)
    assert (document["bindings"], document["gangs"]["submitted"]) == ({"default/a": "n1"}, 0)
    assert [line.split(": decides")[0] for line in result.stderr.splitlines()] == [
        f"warning: {tmp_path / 't.jsonl'}:3: PodGroup/g",
        f"warning: {tmp_path / 't.jsonl'}:4: Pod/a: spec.schedulingGroup",
    ]


def test_without_the_gate_of_groups_the_jobs_of_the_philly_table_are_pods(tmp_path: Path) -> None:
    result = gangsched("replay", "-", "--nodes", "1x8gpu", "--check", "-o", "json", *NO_GROUPS, stdin=ROWS)
    document = json.loads(result.stdout)
    assert result.stderr == "warning: <stdin>: jobs are no gangs while the feature gate GenericWorkload is off\n"
    assert (document["gangs"]["submitted"], document["pods"]["finished"]) == (0, 3)


# --- standard input -------------------------------------------------------------------------------------------------


def packed(path: str) -> bytes:
    return gzip.compress(Path(path).read_bytes(), mtime=0)


def unpacked(path: str) -> bytes:
    return Path(path).read_bytes()


@pytest.mark.parametrize("sent", [unpacked, packed])
def test_a_trace_comes_from_standard_input_as_from_a_file(tmp_path: Path, sent: Callable[[str], bytes]) -> None:
    path, out = small(tmp_path), tmp_path / "out"
    piped = gangsched("replay", "-", "--out", str(out), "-o", "json", stdin=sent(path))
    assert (piped.exit_code, piped.stderr) == (0, "")
    assert json.loads(piped.stdout) == gangsched_json("replay", path)
    run = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert run["inputs"] == [{"path": "-", "sha256": hashlib.sha256(sent(path)).hexdigest()}]


def test_the_philly_table_comes_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(ROWS, encoding="utf-8")
    piped = gangsched("replay", "-", "-o", "json", stdin=ROWS)
    assert json.loads(piped.stdout) == gangsched_json("replay", str(tmp_path / "p.csv"))


def test_the_digest_is_that_of_the_whole_input_though_the_replay_ends_before_it(tmp_path: Path) -> None:
    path, out = small(tmp_path), tmp_path / "out"
    trace = Path(path).read_bytes() + b"not read\n" * 100_000
    assert gangsched("replay", "-", "--until", "0", "--out", str(out), stdin=trace).exit_code == 0
    (source,) = json.loads((out / "run.json").read_text(encoding="utf-8"))["inputs"]
    assert source["sha256"] == hashlib.sha256(trace).hexdigest()


@pytest.mark.parametrize(
    "text, want",
    [
        ('{"gangsched_trace": 1}\n{"t": 0}\n', "<stdin>:2: found no verb, allowed exactly one of"),
        ("submit_s,duration_s,num_gpus,vc\n1,2,3\n", "<stdin>:2: found 3 columns"),
        ("{}\n", "<stdin>:1: gangsched_trace: found nothing"),
        ("a,b\n", '<stdin>:1: found the first line text "a,b", allowed a native trace'),
    ],
)
def test_a_bad_line_of_standard_input_is_named(text: str, want: str) -> None:
    result = gangsched("replay", "-", stdin=text)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith(want)


def test_an_event_is_played_before_the_next_one_is_sent(tmp_path: Path) -> None:
    """A trace may come from a program that is still running."""
    lines = Path(small(tmp_path)).read_text(encoding="utf-8").splitlines(keepends=True)
    command = [sys.executable, "-m", "gangsched", "replay", "-", "--trace"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.writelines(lines)
        process.stdin.write('{"t": 1000, "delete": {"kind": "Pod", "name": "waits"}}\n')
        process.stdin.flush()
        assert select.select([process.stdout], [], [], 60)[0]
        assert process.stdout.readline().startswith("cycle 1")
        process.stdin.close()
        assert process.wait() == 0


# --- a pod explained ------------------------------------------------------------------------------------------------


def test_a_pod_is_explained_when_it_is_tried_first_and_when_it_gets_a_node(tmp_path: Path) -> None:
    path = small(tmp_path)
    document = gangsched_json("replay", path, "--explain", "waits")
    first, last = document.pop("explained")
    assert (first["t"], first["node"], first["message"]) == (2, None, "0/1 nodes are available: 1 Insufficient cpu.")
    assert first["waiting"]["container"] == "parked"
    assert (last["t"], last["node"], last["chosen"], last["waiting"]) == (10.5, "n1", "n1", None)
    assert last["nodes"][0]["total"] > 0
    assert document == gangsched_json("replay", path)


def test_a_pod_that_gets_its_node_at_once_is_explained_once(tmp_path: Path) -> None:
    table = gangsched("replay", small(tmp_path), "--explain", "pod/default/g-1").stdout
    assert table.startswith("cycle 1 at 1s: pod default/g-1, of podgroup/default/g: on n1\n  were it not there, it")
    assert table.count("pod default/g-1") == 1
    assert table.endswith(gangsched("replay", small(tmp_path)).stdout)


def test_a_pod_that_is_evicted_is_explained_again_when_it_is_back(tmp_path: Path) -> None:
    low = pod("low", cpu="4", duration="100s", priority=0)
    high = pod("high", cpu="4", duration="5s", priority=9)
    path = write(tmp_path / "t.jsonl", [add(0, node("n1")), add(0, low), add(10, high)])
    assert [moment["node"] for moment in gangsched_json("replay", path, "--explain", "low")["explained"]] == ["n1"] * 2


def test_a_pod_that_was_never_tried_is_told(tmp_path: Path) -> None:
    result = gangsched("replay", small(tmp_path), "--explain", "wiats")
    assert (result.exit_code, result.stderr) == (0, "warning: --explain: pod default/wiats was never tried\n")


@pytest.mark.parametrize("name", ["", "a/b/c", "pod/"])
def test_what_is_to_be_explained_is_a_pod(tmp_path: Path, name: str) -> None:
    result = gangsched("replay", small(tmp_path), "--explain", name)
    assert result.exit_code == 2
    assert f"found {name!r}, allowed NAME or NAMESPACE/NAME of a pod" in result.stderr


# --- the run folder -------------------------------------------------------------------------------------------------


def test_the_run_folder_holds_everything(tmp_path: Path) -> None:
    path, out = small(tmp_path), tmp_path / "runs" / "one"
    document = gangsched_json("replay", path, "--out", str(out))
    names = ["config.json", "decisions.jsonl", "groups.csv", "pods.csv", "run.json", "summary.json"]
    assert sorted(file.name for file in out.iterdir()) == names
    run = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert run["inputs"] == [{"path": path, "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()}]
    assert (run["seed"], run["gangsched"]) == (None, "0.1.0")
    assert json.loads((out / "config.json").read_text(encoding="utf-8"))["podMaxBackoffSeconds"] == 10
    del document["bindings"]
    assert json.loads((out / "summary.json").read_text(encoding="utf-8")) == document
    with (out / "pods.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["pod"]: row for row in csv.DictReader(stream)}
    assert rows["default/g-0"] == {
        "pod": "default/g-0",
        "group": "g",
        "node": "n1",
        "created": "1",
        "bound": "1",
        "finished": "10.5",
        "deleted": "",
        "queue": "",
    }
    with (out / "groups.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["group"], row["minimum"], row["placed"], row["finished"]) == ("default/g", "2", "1", "10.5")
    outcomes = [json.loads(line) for line in (out / "decisions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["entity"], line["outcome"], line["count"]) for line in outcomes] == [
        ("podgroup/default/g", "Success", 1),
        ("pod/default/waits", "Unschedulable", 1),
        ("pod/default/waits", "Success", 1),
    ]


def test_the_tables_name_the_queues(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert gangsched("replay", "-", "--nodes", "2x8gpu", "--out", str(out), stdin=ROWS).exit_code == 0
    for name in ("pods.csv", "groups.csv"):
        with (out / name).open(encoding="utf-8", newline="") as stream:
            assert {row["queue"] for row in csv.DictReader(stream)} == {"a", "b"}


def test_every_file_of_a_folder_of_nodes_is_an_input(tmp_path: Path) -> None:
    nodes, out = tmp_path / "nodes", tmp_path / "out"
    nodes.mkdir()
    for name in ("b", "a"):
        (nodes / f"{name}.json").write_text(json.dumps(node(name)), encoding="utf-8")
    assert gangsched("replay", small(tmp_path), "--nodes", str(nodes), "--out", str(out)).exit_code == 0
    inputs = json.loads((out / "run.json").read_text(encoding="utf-8"))["inputs"]
    assert [entry["path"] for entry in inputs[1:]] == [str(nodes / "a.json"), str(nodes / "b.json")]
    assert inputs[1]["sha256"] == hashlib.sha256((nodes / "a.json").read_bytes()).hexdigest()


def test_a_run_folder_may_be_written_again_but_nothing_else_is_overwritten(tmp_path: Path) -> None:
    path, out = small(tmp_path), tmp_path / "out"
    for _ in range(2):
        assert gangsched("replay", path, "--out", str(out)).exit_code == 0
    (out / "decisions.jsonl").unlink()
    refused = gangsched("replay", path, "--out", str(out))
    assert refused.exit_code == 2
    assert refused.stderr.startswith("--out: found a folder with other files")


def test_a_run_that_fails_leaves_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    path, out = small(tmp_path), tmp_path / "out"
    assert gangsched("replay", path, "--out", str(out)).exit_code == 0
    assert gangsched("replay", str(tmp_path / "missing.jsonl"), "--out", str(out)).exit_code == 2
    assert [file.name for file in out.iterdir()] == ["decisions.jsonl"]


def test_equal_runs_leave_equal_folders(tmp_path: Path) -> None:
    path = small(tmp_path)
    for name in ("one", "two"):
        gangsched("replay", path, "--out", str(tmp_path / name))
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


# --- the same decisions everywhere ----------------------------------------------------------------------------------


def decisions_hash(python: str, seed: str) -> tuple[str, bytes]:
    command = [python, "-m", "gangsched", "replay", str(SLICE), *PHILLY, "--check", "-o", "json"]
    answer = subprocess.run(
        command, capture_output=True, check=True, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}
    )
    return json.loads(answer.stdout)["decisions_hash"], answer.stdout


def test_three_hash_seeds_give_the_same_decisions_and_the_same_text() -> None:
    answers = [decisions_hash(sys.executable, seed) for seed in ("0", "1", "4242")]
    assert len({found for found, _ in answers}) == 1
    assert len({text for _, text in answers}) == 1


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_another_python_gives_the_same_decisions(version: str, tmp_path: Path) -> None:
    """With whatever interpreter of that version has our dependencies; skipped where there is none."""
    python = shutil.which(f"python{version}")
    if python is None or version == f"{sys.version_info.major}.{sys.version_info.minor}":
        pytest.skip(f"no other python{version}")
    probe = subprocess.run([python, "-c", "import gangsched"], capture_output=True, check=False, cwd=tmp_path)
    if probe.returncode:
        pytest.skip(f"python{version} has no gangsched")
    assert decisions_hash(python, "0")[0] == decisions_hash(sys.executable, "0")[0]


def test_pods_for_single_gpus(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    table.write_text("submit_s,duration_s,num_gpus,vc\n0,10,12,a\n", encoding="utf-8")
    assert gangsched_json("replay", str(table))["pods"]["submitted"] == 2
    assert gangsched_json("replay", str(table), "--pod-per-gpu")["pods"]["submitted"] == 12


def test_philly_has_eighty_nodes_of_eight_gpus_by_default(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    table.write_text("submit_s,duration_s,num_gpus,vc\n0,10,640,a\n0,10,641,a\n", encoding="utf-8")
    document = gangsched_json("replay", str(table))
    assert document["gangs"] == {"submitted": 2, "placed": 1, "finished": 1, "never_placed": 1}
    assert document["gpu_utilisation"] == 1.0
    assert document["never_placed"][0]["gang"] == "default/job-000002"
    assert document["never_placed"][0]["why"] == "0/80 nodes are available: 80 Insufficient nvidia.com/gpu."


def test_options_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    path = small(tmp_path)
    assert (
        "--pod-per-gpu: found a native trace, allowed the Philly table"
        in gangsched("replay", path, "--pod-per-gpu").stderr
    )
    nameless = gangsched("replay", path, "--nodes", "")
    assert (nameless.exit_code, nameless.stderr.count("\n")) == (2, 1)


HEADERS = {
    "an unknown gate": ({"feature_gates": {"Composite": True}}, "unrecognized feature gate: Composite"),
    "a bad configuration": (
        {
            "config": {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profile": [],
            }
        },
        'configuration: unknown field "profile"; did you mean "profiles"?',
    ),
}


@pytest.mark.parametrize("header, want", HEADERS.values(), ids=HEADERS)
def test_what_a_header_asks_for_is_refused_with_its_place(tmp_path: Path, header: dict[str, Any], want: str) -> None:
    path = write(tmp_path / "t.jsonl", [add(0, node("n1"))], {"gangsched_trace": 1} | header)
    result = gangsched("replay", path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"{path}:1: {want}")
    gate = gangsched("replay", path, "--feature-gates", "X=true")
    assert gate.stderr == "unrecognized feature gate: X\n"
