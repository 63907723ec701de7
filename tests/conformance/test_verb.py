"""`gangsched conform`: what it prints, its exit codes, and that a wrong recording is noticed."""

from __future__ import annotations

import copy
import json
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from click.testing import CliRunner, Result

from gangsched.cli.main import main
from gangsched.conform.fields import Fields
from gangsched.conform.kube import KubePlayer
from gangsched.conform.runner import play
from gangsched.conform.scenario import Options, Scenario

HERE = Path(__file__).parent
WALKTHROUGH = json.loads((HERE / "kube/cases/walkthrough.json").read_text(encoding="utf-8"))
VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"


def conform(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["conform", *arguments])


def write(folder: Path, *documents: Any) -> str:
    for number, document in enumerate(documents):
        (folder / f"{number}.json").write_text(json.dumps(document), encoding="utf-8")
    return str(folder)


def scenario(name: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A scenario of ours, recorded as if nothing ever happened."""
    document = {"format": "gangsched conformance v1", "name": name, "config": {}, "steps": list(steps)}
    return {**document, "records": [{"op": step["op"], "t": 0} for step in steps], **more}


def manifest(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "apiVersion": "v1", "metadata": {"name": name}, **fields}


NODE = manifest("Node", "n", status={"allocatable": {"cpu": "2", "pods": "9"}})


def changed(path: list[Any], value: Any, **more: Any) -> dict[str, Any]:
    """The walk-through with one place of its records changed."""
    document = copy.deepcopy(WALKTHROUGH)
    place = document["records"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return {**document, **more}


# --- what is printed ------------------------------------------------------------------------------------------------


def test_a_matching_recording_passes(tmp_path: Path) -> None:
    result = conform(write(tmp_path, WALKTHROUGH))
    assert (result.exit_code, result.output) == (0, "1 passed, 0 failed\n")


def test_a_difference_is_one_line_with_scenario_step_field_and_both_sides(tmp_path: Path) -> None:
    result = conform(write(tmp_path, changed([14, "cycles", 0, "root", "code"], "Error")))
    assert result.output.splitlines() == [
        'walkthrough: step 14: cycles[0].root.code: expected "Error", got "Success"',
        "0 passed, 1 failed",
    ]
    assert result.exit_code == 1


def test_fields_that_are_not_asked_for_are_not_compared(tmp_path: Path) -> None:
    path = write(tmp_path, changed([14, "cycles", 0, "root", "code"], "Error"))
    assert conform(path, "--fields", "queue,bound").exit_code == 0
    assert conform(path, "--fields", "-code").exit_code == 0
    assert conform(path, "--fields", "-code,root").exit_code == 0
    assert conform(path, "--fields", "code").exit_code == 1


def test_names_are_chosen_by_part_or_pattern_and_listed(tmp_path: Path) -> None:
    path = write(tmp_path, *(scenario(name) for name in ("gang-a", "gang-b", "plain-a")))
    assert conform(path, "--list").output.split() == ["gang-a", "gang-b", "plain-a"]
    assert conform(path, "--list", "-k", "-a").output.split() == ["gang-a", "plain-a"]
    assert conform(path, "--list", "-k", "gang*").output.split() == ["gang-a", "gang-b"]
    assert json.loads(conform(path, "--list", "-o", "json").output) == ["gang-a", "gang-b", "plain-a"]
    nothing = conform(path, "-k", "other")
    assert (nothing.exit_code, nothing.stderr) == (2, "-k other: no scenario has such a name\n")


def test_what_differs_by_decision_passes_only_if_it_differs_and_is_printed_apart(tmp_path: Path) -> None:
    marks = {"differs_from_seed": True, "differs_reason": "we know better"}
    differing = changed([14, "cycles", 0, "root", "code"], "Error", name="a", **marks)
    result = conform(write(tmp_path, differing, {**WALKTHROUGH, "name": "b", **marks}, WALKTHROUGH))
    assert result.output.splitlines() == [
        "a: differs, as decided: we know better",
        "b: does not differ, though it should: we know better",
        "2 passed, 1 failed",
    ]
    assert result.exit_code == 1


def test_json_holds_every_difference(tmp_path: Path) -> None:
    result = conform(write(tmp_path, changed([14, "t"], 5), scenario("quiet")), "-o", "json")
    shown = json.loads(result.output)
    assert (shown["passed"], shown["failed"], shown["skipped"], result.exit_code) == (1, 1, 0, 1)
    assert [s["name"] for s in shown["scenarios"]] == ["walkthrough", "quiet"]
    assert shown["scenarios"][0]["differences"] == [{"step": 14, "field": "t", "expected": 5, "got": 0}]


def test_several_processes_print_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, changed([14, "t"], 5), *(scenario(f"s{i}") for i in range(9)))
    assert conform(path, "--jobs", "2").output == conform(path).output


def test_a_configuration_stands_in_where_the_scenario_brings_none(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(f"apiVersion: {VERSION}\nkind: {KIND}\nprofiles: [{{schedulerName: other}}]\n")
    pod = manifest("Pod", "p", spec={"containers": [{"name": "c"}]})
    path = write(tmp_path, scenario("s", {"op": "create", "object": pod}))
    assert "queue: expected nothing" in conform(path).output
    assert conform(path, "-c", str(file)).exit_code == 0  # no profile of this name, so the pod is not ours


# --- what cannot be played ------------------------------------------------------------------------------------------


@frozen
class Unplayable:
    name: str
    document: dict[str, Any]
    code: int
    want: str


def with_plugin(name: str) -> dict[str, Any]:
    profile = {"plugins": {"filter": {"enabled": [{"name": name}]}}}
    return {"kubeSchedulerConfiguration": {"apiVersion": VERSION, "kind": KIND, "profiles": [profile]}}


def creating(created: dict[str, Any]) -> dict[str, Any]:
    return scenario("s", {"op": "create", "object": created})


def with_gates(gates: object) -> dict[str, Any]:
    return scenario("s", config={"gates": gates})


UNPLAYABLE = [
    Unplayable(
        "a plugin nobody has",
        scenario("s", config=with_plugin("Foreign")),
        0,
        "s: skipped: needs plugin Foreign",
    ),
    Unplayable(
        "a gate without effect here",
        with_gates({"SchedulerAsyncAPICalls": True}),
        0,
        "s: skipped: needs feature gate SchedulerAsyncAPICalls",
    ),
    Unplayable(
        "a kind that is not read",
        creating(manifest("ConfigMap", "x")),
        0,
        "s: skipped: needs kind ConfigMap",
    ),
    Unplayable(
        "a session of Volcano",
        {"scenario": {"name": "v"}, "result": {}},
        0,
        "v: skipped: needs a model of sessions; --state-only compares what was known when the first one opened",
    ),
    Unplayable(
        "a misspelt gate",
        with_gates({"GenericWorkloads": True}),
        2,
        "config: unrecognized feature gate: GenericWorkloads",
    ),
    Unplayable(
        "a manifest with a wrong type",
        creating({**NODE, "spec": {"taints": 3}}),
        2,
        "steps[0]: n: Node/n: spec.taints: ",
    ),
    Unplayable(
        "a patch of nothing",
        scenario("s", {"op": "patch", "kind": "Pod", "name": "p", "patch": {}}),
        2,
        "steps[0]: Pod default/p does not exist",
    ),
    Unplayable(
        "gates that are a list",
        with_gates([]),
        2,
        "config: gates: found a list, expected an object",
    ),
]


@pytest.mark.parametrize("case", UNPLAYABLE, ids=attrgetter("name"))
def test_what_cannot_be_played_is_named(case: Unplayable, tmp_path: Path) -> None:
    result = conform(write(tmp_path, case.document))
    assert result.exit_code == case.code
    if case.code == 0:
        assert result.output.splitlines() == [case.want, "0 passed, 0 failed, 1 skipped"]
    else:
        assert case.want in result.stderr
        assert result.stderr.count("\n") == 1


def test_an_engine_that_breaks_fails_the_scenario_and_not_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(self: KubePlayer, step: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(KubePlayer, "play", broken)
    result = conform(write(tmp_path, scenario("s", {"op": "cycle"}), scenario("t")))
    assert result.output.splitlines() == [
        's: step 0: engine: expected "no exception", got "ZeroDivisionError: oh"',
        "1 passed, 1 failed",
    ]


# --- the yardstick itself -------------------------------------------------------------------------------------------


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of every leaf of a record."""
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in places(inner, (*path, key))]
    if isinstance(value, list):
        return [found for index, inner in enumerate(value) for found in places(inner, (*path, index))]
    return [path]


def test_every_recorded_value_of_the_walk_through_is_compared() -> None:
    recorded = [(14, *path) for path in places(WALKTHROUGH["records"][14]) if "trace" not in path]
    assert len(recorded) > 60
    for path in recorded:
        document = changed(list(path), "something else")
        outcome = play(Scenario("w", "kube", "", document), Options(Fields()))
        assert outcome.verdict == "failed", path


@pytest.mark.parametrize("at_once", [False, True])
def test_evictions_are_graceful_unless_the_scenario_says_at_once(at_once: bool) -> None:
    def pod(name: str, priority: int, **spec: Any) -> dict[str, Any]:
        container = {"name": "c", "resources": {"requests": {"cpu": "2"}}}
        return manifest("Pod", name, spec={"priority": priority, "containers": [container], **spec})

    player = KubePlayer({"evictAtOnce": at_once})
    for created in (NODE, pod("low", 1, nodeName="n"), pod("high", 9)):
        player.play({"op": "create", "object": created})
    record = player.play({"op": "cycle"})
    assert record["nominated"] == {"default/high": "n"}
    if at_once:
        assert "default/low" not in record["podConditions"]
        assert [e["key"] for e in record["queue"]["backoff"]] == ["pod/default/high"]  # woken by the deletion
    else:
        assert record["podConditions"]["default/low"][-1] == "deleting"
        assert [e["key"] for e in record["queue"]["parked"]] == ["pod/default/high"]


@pytest.mark.parametrize("name", ["walkthrough", "preemption-composite", "bind-failure-joins-entity", "rack-basic"])
def test_every_owner_keeps_its_invariants_between_steps(name: str) -> None:
    document = json.loads((HERE / f"kube/cases/{name}.json").read_text(encoding="utf-8"))
    player = KubePlayer(document["config"])
    for step in document["steps"]:
        player.play(step)
        player.core._check()
