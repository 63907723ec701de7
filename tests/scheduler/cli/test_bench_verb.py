"""``gangsched bench``: the benchmark cases for users."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from gangsched.bench.cases import CASES
from gangsched.bench.measure import ORACLE_WORK, Figures
from gangsched.cli import bench
from tests.scheduler.cli.command import gangsched, gangsched_json

FIGURES = Figures("x", 1, True, 1.0, 1.0, 1.0, 1.0, (1.0,), 2.0, 1)
SMALL = ("SchedulingBasic/20Nodes_40Pods", "GangScheduling/20Nodes_10x3")


def test_json_is_a_list_of_objects_one_a_case() -> None:
    documents = gangsched_json("bench", *SMALL, "--rounds", "1")
    assert [document["case"] for document in documents] == list(SMALL)
    for document, pods in zip(documents, (40, 30), strict=True):
        assert list(document) == [
            "case",
            "pods_per_second",
            "us_per_pod",
            "cpu_us_per_pod",
            "peak_memory_mb",
            "oracle_ratio",
            "oracle_pods",
            "oracle_agrees",
            "pods",
            "complete",
        ]
        assert document["pods"] == pods
        assert document["pods_per_second"] == pytest.approx(1e6 / document["us_per_pod"], rel=0.01)
        assert document["peak_memory_mb"] > 1
        assert document["oracle_ratio"] > 0
        assert document["oracle_agrees"]


def test_dataitems_are_those_of_scheduler_perf() -> None:
    result = gangsched("bench", SMALL[0], "--rounds", "2", "-o", "dataitems")
    document = json.loads(result.stdout)
    assert document["version"] == "v1"
    (item,) = document["dataItems"]
    assert item["unit"] == "pods/s"
    assert item["labels"] == {"Metric": "SchedulingThroughput", "Name": SMALL[0]}
    assert list(item["data"]) == ["Average", "Perc50", "Perc90", "Perc95", "Perc99"]
    assert item["data"]["Perc50"] <= item["data"]["Average"] <= item["data"]["Perc99"]


def test_the_table_has_one_line_a_case_and_tells_on_stderr_what_is_running() -> None:
    result = gangsched("bench", "Queue/AddPod/10", SMALL[0], "--rounds", "1")
    assert result.exit_code == 2  # a queue case has the sizes of the table only
    result = gangsched("bench", SMALL[0], "--rounds", "1")
    head, row = result.stdout.splitlines()
    assert head.split()[:2] == ["CASE", "PODS"]
    assert row.split()[:2] == [SMALL[0], "40"]
    assert result.stderr == f"running {SMALL[0]}\n"


def test_list_names_every_case_and_runs_none() -> None:
    result = gangsched("bench", "--list")
    assert result.stderr == ""
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == [case.name for case in CASES]
    assert [case["case"] for case in gangsched_json("bench", "--list")] == [case.name for case in CASES]


def test_nodes_replaces_the_number_of_nodes() -> None:
    (document,) = gangsched_json("bench", SMALL[0], "--nodes", "5", "--rounds", "1")
    assert document["case"] == "SchedulingBasic/5Nodes_40Pods"


def test_with_oracle_the_per_node_form_runs_ten_times_as_many_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def measured(*_: object, oracle_work: int, **__: object) -> Figures:
        asked.append(oracle_work)
        return FIGURES

    monkeypatch.setattr(bench, "measure", measured)
    gangsched("bench", SMALL[0])
    gangsched("bench", SMALL[0], "--oracle")
    assert asked == [ORACLE_WORK, 10 * ORACLE_WORK]


def test_two_forms_that_differ_are_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "measure", lambda *_, **__: evolve(FIGURES, oracle_agrees=False))
    result = gangsched("bench", SMALL[0])
    assert result.exit_code == 1
    assert "x: columns and the per-node form place pods differently" in result.stderr


def test_an_unknown_case_is_bad_input() -> None:
    result = gangsched("bench", "SchedulingBasics")
    assert (result.exit_code, result.stderr) == (
        2,
        'no benchmark case SchedulingBasics; did you mean "SchedulingBasic"?\n',
    )


@pytest.mark.parametrize("option", [("--limit", "-1"), ("--limit", "0"), ("--rounds", "0"), ("--nodes", "0")])
def test_a_measure_that_measures_nothing_is_refused(option: tuple[str, str]) -> None:
    result = gangsched("bench", "SchedulingBasic", *option)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Invalid value for '{option[0]}'" in result.stderr
