"""``gangsched explain``: why a pod is where it is, from manifests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.scheduler.cli.command import gangsched, gangsched_json
from tests.scheduler.cli.test_run import WHY, manifests
from tests.scheduler.replay.traces import composite, group, node, pod

WORLD = (node("n1"), node("n2", cpu="2"), pod("a"), pod("b", cpu="9"), group("g", 1))

SCORING = ("TaintToleration", "NodeResourcesFit", "VolumeBinding", "NodeResourcesBalancedAllocation", "ImageLocality")
NOT_HELPFUL = "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."


@pytest.fixture
def world(tmp_path: Path) -> str:
    return manifests(tmp_path / "w.yaml", *WORLD)


def test_a_refused_pod_shows_why_node_by_node_and_why_it_waits(world: str) -> None:
    document = gangsched_json("explain", "pod/b", "-f", world)
    message = "0/2 nodes are available: 2 Insufficient cpu."
    waiting, attempt = document.pop("waiting"), document.pop("attempt")
    assert [(step["step"], step["subject"], step["text"]) for step in attempt] == [
        ("pod", "default/b", message),
        ("post-filter", "pod/default/b", NOT_HELPFUL),
    ]
    assert document == {
        "pod": "default/b",
        "entity": "pod/default/b",
        "node": None,
        "chosen": None,
        "message": message,
        "placedBy": "columns",
        "placedByReason": "",
        "nodes": [
            {
                "node": name,
                "feasible": False,
                "plugin": "NodeResourcesFit",
                "code": "UnschedulableAndUnresolvable",
                "message": "Insufficient cpu",
            }
            for name in ("n1", "n2")
        ],
    }
    assert waiting.pop("message").startswith(message)
    assert waiting == {
        "container": "parked",
        "attempts": 1,
        "backoffLeftSeconds": None,
        "gatedBy": None,
        "reason": "",
        "rejectedBy": ["NodeResourcesFit"],
    }


def test_a_placed_pod_shows_its_scores_as_if_it_were_not_there(world: str) -> None:
    document = gangsched_json("explain", "pod/a", "-f", world)
    assert (document["node"], document["chosen"], document["waiting"]) == ("n1", "n1", None)
    first, second = document["nodes"]
    assert first["total"] > second["total"]
    for each in (first, second):
        assert each["feasible"]
        assert each["total"] == sum(score["weighted"] for score in each["scores"].values())
        for score in each["scores"].values():
            assert score["weighted"] == score["normalized"] * score["weight"]


def test_no_run_explains_the_state_of_the_files(world: str) -> None:
    document = gangsched_json("explain", "pod/a", "--no-run", "-f", world)
    assert (document["node"], document["chosen"]) == (None, "n1")
    assert (document["waiting"]["container"], document["waiting"]["attempts"]) == ("active", 0)


def test_the_backoff_left_is_in_seconds(tmp_path: Path) -> None:
    file = manifests(tmp_path / "w.yaml", node("n1"), group("g", 1), pod("g-0", cpu="9", in_group="g"))
    waiting = gangsched_json("explain", "pod/g-0", "-f", file)["waiting"]
    assert (waiting["container"], waiting["attempts"], waiting["backoffLeftSeconds"]) == ("backoff", 1, 2.0)


def test_the_table_is_stable_text(tmp_path: Path) -> None:
    objects = (node("n1"), node("n2", cpu="1"), group("g", 1), pod("g-0", cpu="2", in_group="g"))
    result = gangsched("explain", "pod/g-0", "--no-run", "-f", manifests(tmp_path / "w.yaml", *objects))
    assert [line.split() for line in result.stdout.splitlines() if "NODE" in line] == [
        ["NODE", "TOTAL", *SCORING],
        ["NODE", "REFUSED", "BY", "CODE", "MESSAGE"],
    ]
    assert [line for line in result.stdout.splitlines() if "NODE" not in line] == [
        "pod default/g-0, of podgroup/default/g: has no node",
        "  waits: active, 0 attempts",
        "  tried alone now, it goes to n1",
        "  looked at by columns",
        "",
        "n1     436     0 → 100×3         74 → 74×1          0 → 0×1         62 → 62×1                         0 → 0×1",
        "",
        "n2     NodeResourcesFit   UnschedulableAndUnresolvable   Insufficient cpu",
        "",
        "an attempt of podgroup/default/g now:",
        "  podgroup/default/g: R=1 S=0 M=1 → Wait",
        "    pod default/g-0 -> n1",
        "  podgroup/default/g: R=0 S=1 M=1 → Success",
        "  podgroup/default/g: root Success",
    ]


def test_a_pod_of_another_scheduler_says_that_no_node_is_looked_at(tmp_path: Path) -> None:
    file = manifests(tmp_path / "w.yaml", node("n1"), pod("a", schedulerName="volcano"))
    assert gangsched("explain", "pod/a", "-f", file).stdout.splitlines() == [
        "pod default/a: has no node",
        "  waits: in no queue, 0 attempts",
        "  because: no profile for scheduler volcano; a configuration (-c) may bring one",
        "  no node is looked at: no profile for scheduler volcano",
    ]
    assert gangsched_json("explain", "pod/a", "-f", file)["placedBy"] is None


@pytest.mark.parametrize(("objects", "name", "container", "want"), WHY.values(), ids=WHY)
def test_what_was_never_tried_says_why_as_run_does(
    tmp_path: Path, objects: list[dict[str, object]], name: str, container: str | None, want: str
) -> None:
    file = manifests(tmp_path / "w.yaml", node("n1"), *objects)
    said = gangsched_json("run", "-f", file, code=1)["pods"][name]["message"]
    waiting = gangsched_json("explain", name.removeprefix("default/"), "-f", file)["waiting"]
    gate = f"gated by {waiting['gatedBy']}: " if waiting["gatedBy"] else ""
    assert gate + waiting["reason"] in (said, f"{said}: ")
    assert said in gangsched("explain", name.removeprefix("default/"), "-f", file).stdout


def test_a_topology_key_that_no_node_carries_is_named(tmp_path: Path) -> None:
    constraint = {"schedulingConstraints": {"topology": [{"key": "zzz"}]}}
    gang = group("g", 1)
    gang["spec"] |= constraint
    file = manifests(tmp_path / "w.yaml", node("n1"), gang, pod("g-0", in_group="g"))
    want = "podgroup/default/g: no node carries the label zzz"
    assert want in gangsched("explain", "pod/g-0", "-f", file).stdout
    assert want in gangsched("run", "--trace", "-f", file).stdout


def test_yaml_and_json_say_the_same(world: str) -> None:
    assert yaml.safe_load(gangsched("explain", "b", "-f", world, "-o", "yaml").stdout) == gangsched_json(
        "explain", "b", "-f", world
    )


@pytest.mark.parametrize("name", ["b", "pod/b", "pods/b", "pod/default/b"])
def test_a_pod_may_be_named_as_the_tables_of_the_other_verbs_name_it(world: str, name: str) -> None:
    assert gangsched_json("explain", name, "-f", world)["pod"] == "default/b"


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "another kind": (("node/n1",), "only pods and groups can be explained: pod/NAME, podgroup/NAME and"),
    "a name of three parts": (("pod/a/b/c",), "also with NAMESPACE/ before NAME; found pod/a/b/c"),
    "another namespace in the name": (("pod/other/a",), "pod other/a is not known"),
    "an unknown pod": (("pod/bb",), 'pod default/bb is not known; did you mean "default/b"?'),
    "an unknown group": (("podgroup/gg",), 'podgroup/default/gg is not known; did you mean "podgroup/default/g"?'),
    "another kind of group": (("cpg/g",), "compositepodgroup/default/g is not known"),
    "another namespace": (("pod/a", "-n", "other"), "pod other/a is not known"),
}


@pytest.mark.parametrize("arguments, want", BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_exit_code_2(world: str, arguments: tuple[str, ...], want: str) -> None:
    result = gangsched("explain", *arguments, "-f", world)
    assert result.exit_code == 2
    assert want in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_without_files_there_is_nothing_to_explain() -> None:
    result = gangsched("explain", "pod/a")
    assert result.exit_code == 2
    assert "name manifests with -f FILE" in result.stderr


def test_an_evicted_pod_says_for_whom_it_had_to_go(tmp_path: Path) -> None:
    victim: dict[str, Any] = pod("low", cpu="4", nodeName="n1", priority=0)
    file = manifests(tmp_path / "w.yaml", node("n1"), victim, pod("high", cpu="4", priority=9))
    result = gangsched("explain", "pod/low", "-f", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "pod default/low was evicted for pod/default/high" in result.stderr
    assert json.loads(gangsched("explain", "pod/low", "--no-run", "-f", file, "-o", "json").stdout)["node"] == "n1"


# --- a group --------------------------------------------------------------------------------------------------------

TREE = (
    node("n1"),
    composite("root", 2),
    group("a", 1, "root"),
    group("b", 2, "root"),
    pod("a-0", in_group="a"),
    pod("b-0", in_group="b"),
    pod("b-1", cpu="9", in_group="b"),
    group("other", 1),
    pod("other-0", cpu="3", in_group="other"),
    pod("plain"),
)


@pytest.fixture
def tree(tmp_path: Path) -> str:
    return manifests(tmp_path / "w.yaml", *TREE)


@pytest.mark.parametrize("name", ["cpg/root", "podgroup/a", "PodGroup/default/b"])
def test_a_group_shows_its_tree_as_run_does_and_what_an_attempt_would_do_now(tree: str, name: str) -> None:
    text = gangsched("explain", name, "-f", tree).stdout
    run = gangsched("run", "-f", tree, "-o", "wide").stdout.splitlines()
    table, pods, attempt = text.split("\n\n")
    theirs = [line.split() for line in run if "root" in line or ("group/default/" in line and "other" not in line)]
    assert [line.split() for line in table.splitlines()[1:]] == theirs
    assert [line.split()[0] for line in pods.splitlines()] == ["POD", "default/a-0", "default/b-0", "default/b-1"]
    assert attempt.splitlines()[0] == "an attempt of compositepodgroup/default/root now:"
    assert "refused: 0/1 nodes are available: 1 Insufficient cpu." in attempt


def test_the_document_of_a_group_is_a_part_of_that_of_a_run_and_its_attempt(tree: str) -> None:
    document = gangsched_json("explain", "podgroup/a", "-f", tree)
    run = gangsched_json("run", "-f", tree, code=1)
    root = "compositepodgroup/default/root"
    assert document["entity"] == root
    assert document["entities"] == {root: run["entities"][root]}
    assert document["pods"] == {name: run["pods"][name] for name in ("default/a-0", "default/b-0", "default/b-1")}
    assert (document["bindings"], document["evicted"]) == ({}, {})
    assert document["attempt"] == gangsched_json("explain", "pod/b-1", "-f", tree)["attempt"]


def test_a_group_of_which_nobody_waits_has_no_attempt(tree: str) -> None:
    document = gangsched_json("explain", "pg/other", "-f", tree)
    assert (document["bindings"], document["attempt"]) == ({"default/other-0": "n1"}, [])


def test_a_gated_group_says_by_whom_and_takes_no_step(tmp_path: Path) -> None:
    file = manifests(tmp_path / "w.yaml", node("n1"), group("g", 2), pod("g-0", in_group="g"))
    document = gangsched_json("explain", "pg/g", "-f", file)
    assert (document["entities"]["podgroup/default/g"]["gatedBy"], document["attempt"]) == ("GangScheduling", [])


def test_victims_of_a_tree_are_shown_with_it_and_not_with_others(tmp_path: Path) -> None:
    victim: dict[str, Any] = pod("low", cpu="4", nodeName="n1", priority=0)
    gang = group("high", 1)
    gang["spec"]["priority"] = 9
    high = pod("high-0", cpu="4", in_group="high", priority=9)
    file = manifests(tmp_path / "w.yaml", node("n1"), victim, gang, high, group("g", 1))
    evicted = {"default/low": "podgroup/default/high"}
    assert gangsched_json("explain", "pg/high", "-f", file)["evicted"] == evicted
    assert gangsched_json("explain", "pg/g", "-f", file)["evicted"] == {}
