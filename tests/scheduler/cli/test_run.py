"""``gangsched run``: manifests in, a verdict for each entity and pod out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.scheduler.cli.command import gangsched, gangsched_json
from tests.scheduler.replay.traces import add, composite, group, node, pod, write


def manifests(path: Path, *objects: Mapping[str, object]) -> str:
    path.write_text(yaml.safe_dump_all(list(objects)), encoding="utf-8")
    return str(path)


def test_all_placed_is_exit_code_0(tmp_path: Path) -> None:
    file = manifests(tmp_path / "all.yaml", node("n1"), pod("a"), group("g", 1), pod("g-0", in_group="g"))
    document = gangsched_json("run", "-f", file)
    assert document["bindings"] == {"default/a": "n1", "default/g-0": "n1"}
    assert document["evicted"] == {}
    assert document["pods"]["default/g-0"] == {
        "verdict": "Success",
        "node": "n1",
        "group": "g",
        "nominated": None,
        "rejectedBy": [],
        "message": "",
    }
    assert document["entities"]["podgroup/default/g"] == {
        "verdict": "Success",
        "container": None,
        "attempts": 1,
        "backoffLeftSeconds": None,
        "bound": 1,
        "pods": 1,
        "gatedBy": None,
        "message": "",
        "groups": {
            "podgroup/default/g": {"verdict": "Success", "scheduled": "True", "bound": 1, "pods": 1, "message": ""}
        },
    }


def test_something_not_placed_is_exit_code_1(tmp_path: Path) -> None:
    file = manifests(tmp_path / "all.yaml", node("n1"), pod("a"), pod("b", cpu="9"))
    document = gangsched_json("run", "-f", file, code=1)
    assert document["pods"]["default/b"] == {
        "verdict": "Unschedulable",
        "node": None,
        "group": None,
        "nominated": None,
        "rejectedBy": ["NodeResourcesFit"],
        "message": document["pods"]["default/b"]["message"],
    }
    assert document["pods"]["default/b"]["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert document["entities"]["pod/default/b"]["container"] == "parked"
    assert document["entities"]["pod/default/b"]["attempts"] == 1


EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

WHY = {
    "a scheduling gate": (
        [pod("a", schedulingGates=[{"name": "wait"}])],
        "default/a",
        "parked",
        "gated by SchedulingGates",
    ),
    "a gang without its quorum": (
        [group("g", 2), pod("g-0", in_group="g")],
        "default/g-0",
        "parked",
        "gated by GangScheduling",
    ),
    "a pod without its group": ([pod("g-0", in_group="g")], "default/g-0", None, "podgroup/default/g is not there"),
    "a group without its parent": (
        [group("g", 1, "root"), pod("g-0", in_group="g")],
        "default/g-0",
        "incomplete",
        "compositepodgroup/default/root is not there",
    ),
    "a group that is its own grandparent": (
        [composite("root", 1, "root"), group("g", 1, "root"), pod("g-0", in_group="g")],
        "default/g-0",
        "incomplete",
        "compositepodgroup/default/root is its own ancestor",
    ),
    "a pod that is going": (
        [pod("a") | {"metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}}],
        "default/a",
        None,
        "is being deleted",
    ),
    "another scheduler": ([pod("a", schedulerName="other")], "default/a", None, "no profile for scheduler other"),
}


@pytest.mark.parametrize("objects, name, container, want", WHY.values(), ids=WHY)
def test_what_was_never_tried_says_why(
    tmp_path: Path, objects: list[dict[str, object]], name: str, container: str | None, want: str
) -> None:
    document = gangsched_json("run", "-f", manifests(tmp_path / "w.yaml", node("n1"), *objects), code=1)
    assert document["pods"][name]["verdict"] == "Pending"
    assert document["pods"][name]["message"].startswith(want)
    containers = [entity["container"] for entity in document["entities"].values()]
    assert containers == ([container] if containers else [])


def test_files_folders_and_standard_input_are_read_together(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    manifests(folder / "1.yaml", node("n1"))
    (folder / "2.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod("a")]}))
    file = manifests(tmp_path / "b.yaml", pod("b"))
    result = gangsched("run", "-f", str(folder), "-f", "-", "-o", "json", file, stdin=yaml.safe_dump(pod("c")))
    assert result.exit_code == 0
    assert list(json.loads(result.stdout)["bindings"]) == ["default/a", "default/b", "default/c"]


# --- nodes beside the manifests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [("run",), ("explain", "pod/a"), ("top", "jobs")])
def test_nodes_may_be_made_instead_of_written(tmp_path: Path, verb: tuple[str, ...]) -> None:
    file = manifests(tmp_path / "w.yaml", pod("a", cpu="9"))
    nodes = manifests(tmp_path / "n.yaml", *(node(f"node-{number}", cpu="16") for number in (1, 2)))
    made = [gangsched(*verb, "-f", file, "--nodes", shape) for shape in ("2xcpu=16,memory=16Gi", nodes)]
    assert {(result.exit_code, result.stderr) for result in made} == {(0, "")}
    assert made[0].stdout == made[1].stdout == gangsched(*verb, "-f", file, "-f", nodes).stdout
    assert "node-1" in made[0].stdout or verb[0] == "top"


def test_a_pod_may_stand_on_a_node_that_was_made(tmp_path: Path) -> None:
    file = manifests(tmp_path / "w.yaml", pod("a", nodeName="node-1"), pod("b", nodeName="node-3"))
    result = gangsched("run", "-f", file, "--nodes", "2xcpu=4")
    assert [line.split(": ")[2] for line in result.stderr.splitlines()] == ["Pod/b"]


def test_a_node_that_is_made_and_written_is_told(tmp_path: Path) -> None:
    file = manifests(tmp_path / "w.yaml", node("node-1"), pod("a"))
    result = gangsched("run", "-f", file, "--nodes", "2xcpu=4")
    assert result.stderr == f"warning: {file}:1: Node/node-1: is given 2 times, the last one counts\n"


@pytest.mark.parametrize(
    "nodes, want",
    [
        ("4x8gp", '--nodes: found text "8gp", allowed NAME=QUANTITY or a number of GPUs such as 8gpu'),
        ("four", '--nodes: found text "four", allowed a file or folder that exists, or COUNTxSHAPE such as 80x8gpu'),
        ("examples/walkthrough", "examples/walkthrough: --nodes: found CompositePodGroup/default/root, allowed nodes"),
    ],
)
def test_bad_nodes_are_one_line(tmp_path: Path, nodes: str, want: str) -> None:
    result = gangsched("run", "-f", manifests(tmp_path / "w.yaml", pod("a")), "--nodes", nodes)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(want)


# --- what is told ---------------------------------------------------------------------------------------------------


def test_other_kinds_are_counted_and_warnings_named_on_stderr(tmp_path: Path) -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    result = gangsched("run", "-f", manifests(tmp_path / "w.yaml", node("n1"), config_map, config_map))
    assert "skipped objects of other kinds: ConfigMap (2)" in result.stderr
    assert "ConfigMap" not in result.stdout


GATED = "PodGroup/g: spec.preemptionPolicy: decides nothing while the feature gate PodGroupPreemptionPolicy is off"


@pytest.mark.parametrize(("gates", "warned"), [("", True), ("PodGroupPreemptionPolicy=true", False)])
def test_what_a_gate_leaves_undecided_is_named(tmp_path: Path, gates: str, warned: bool) -> None:
    gang = group("g", 1)
    gang["spec"]["preemptionPolicy"] = "Never"
    objects = (node("n1"), gang, pod("g-0", in_group="g", preemptionPolicy="Never"))
    file = manifests(tmp_path / "w.yaml", *objects)
    trace = write(tmp_path / "t.jsonl", [add(at, obj) for at, obj in enumerate(objects)])
    for arguments in (("run", "-f", file), ("replay", trace)):
        result = gangsched(*arguments, "--feature-gates", gates)
        assert result.exit_code == 0
        assert (GATED in result.stderr) == warned


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    file = manifests(tmp_path / "w.yaml", node("n1"), pod("a"), pod("b", cpu="9"))
    assert yaml.safe_load(gangsched("run", "-f", file, "-o", "yaml").stdout) == gangsched_json(
        "run", "-f", file, code=1
    )


def test_the_table_is_stable_text(tmp_path: Path) -> None:
    objects = (node("n1"), composite("root", 1), group("g", 1, "root"), pod("g-0", in_group="g"), pod("a"))
    result = gangsched("run", "-f", manifests(tmp_path / "w.yaml", *objects))
    assert result.stdout == (
        "ENTITY                           VERDICT   CONTAINER   ATTEMPTS   BOUND   MESSAGE\n"
        "compositepodgroup/default/root   Success   -           1          1/1\n"
        "  podgroup/default/g             Success                          1/1\n"
        "pod/default/a                    Success   -           1          1/1\n"
        "\n"
        "POD           VERDICT   NODE   MESSAGE\n"
        "default/a     Success   n1\n"
        "default/g-0   Success   n1\n"
    )


def test_wide_adds_columns(tmp_path: Path) -> None:
    result = gangsched(
        "run", "-f", manifests(tmp_path / "w.yaml", pod("a", schedulingGates=[{"name": "x"}])), "-o", "wide"
    )
    head, row = (line.split() for line in result.stdout.splitlines()[-2:])
    assert head == ["POD", "VERDICT", "NODE", "GROUP", "NOMINATED", "REJECTED", "BY", "MESSAGE"]
    assert row[:6] == ["default/a", "Pending", "-", "-", "-", "-"]
    assert "GATED BY" in result.stdout


def test_of_a_gang_in_backoff_the_time_left_is_shown(tmp_path: Path) -> None:
    file = manifests(tmp_path / "w.yaml", node("n1"), group("g", 1), pod("g-0", cpu="9", in_group="g"))
    entity = gangsched_json("run", "-f", file, code=1)["entities"]["podgroup/default/g"]
    assert (entity["container"], entity["attempts"], entity["backoffLeftSeconds"]) == ("backoff", 1, 2.0)
    row = gangsched("run", "-f", file, "-o", "wide").stdout.splitlines()[1].split()
    assert row[:7] == ["podgroup/default/g", "Unschedulable", "backoff", "1", "0/1", "False", "2s"]


def test_a_group_that_is_placed_stays_scheduled_when_its_tree_is_refused_more() -> None:
    result = gangsched("run", "-f", str(EXAMPLES / "walkthrough"), "-o", "json")
    groups = json.loads(result.stdout)["entities"]["compositepodgroup/default/root"]["groups"]
    assert [
        (key.rpartition("/")[2], seen["verdict"], seen["scheduled"], seen["bound"]) for key, seen in groups.items()
    ] == [
        ("root", "Unschedulable", "True", 2),
        ("sub1", "Unschedulable", "True", 2),
        ("pg1", "Unschedulable", "True", 2),
        ("sub2", "Unschedulable", "False", 0),
        ("pg2", "Unschedulable", "False", 0),
        ("pg3", "Unschedulable", "False", 0),
    ]
    assert " 2/2     True        " in gangsched("run", "-f", str(EXAMPLES / "walkthrough"), "-o", "wide").stdout


def test_nothing_at_all_is_said_too(tmp_path: Path) -> None:
    result = gangsched("run", "-f", manifests(tmp_path / "w.yaml", node("n1")))
    assert (result.exit_code, result.stdout) == (0, "No entities.\n\nNo pods.\n")


def test_groups_in_a_circle_of_parents_are_shown_one_by_one(tmp_path: Path) -> None:
    circle = [composite("a", 1), composite("b", 1)]
    for one, other in zip(circle, ("b", "a"), strict=True):
        one["spec"]["parentCompositePodGroupName"] = other
    file = manifests(tmp_path / "w.yaml", *circle, group("g", 1, "a"), pod("g-0", in_group="g"))
    document = gangsched_json("run", "-f", file, code=1)
    assert list(document["entities"]) == ["compositepodgroup/default/a", "compositepodgroup/default/b"]
    assert list(document["entities"]["compositepodgroup/default/a"]["groups"]) == [
        "compositepodgroup/default/a",
        "podgroup/default/g",
    ]


def test_with_json_the_trace_goes_to_stderr(tmp_path: Path) -> None:
    file = manifests(tmp_path / "w.yaml", node("n1"), pod("a"))
    result = gangsched("run", "-f", file, "--trace", "-o", "json")
    assert json.loads(result.stdout)["bindings"] == {"default/a": "n1"}
    assert result.stderr.startswith("cycle 1 at 0s: pod/default/a, attempt 1\n")


def test_every_stage_is_logged_when_asked_and_nothing_otherwise(tmp_path: Path) -> None:
    file = manifests(tmp_path / "w.yaml", node("n1"), group("g", 1), pod("g-0", in_group="g"))
    assert gangsched("run", "-f", file).stderr == ""
    lines = gangsched("run", "-f", file, "-v").stderr.splitlines()
    assert all(" cycle=1 entity=podgroup/default/g" in line for line in lines)
    events = [line.split(" event=")[1].split()[0] for line in lines]
    assert events[0] == "popped"
    assert events[-1] == "requeued"
    assert {"decided", "completed", "submitted"} < set(events)
