"""``gangsched config view``."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.scheduler.cli.command import gangsched, gangsched_json

ROOT = Path(__file__).resolve().parents[3]


def test_the_default_names_plugins_points_weights_and_origins() -> None:
    lines = gangsched("config", "view").stdout.splitlines()
    assert lines[0].split() == ["SETTING", "VALUE", "FROM"]
    assert ["podMaxBackoffSeconds", "10", "default"] in [line.split() for line in lines]
    assert ["CompositePodGroup", "true", "default"] in [line.split() for line in lines]
    (taints,) = (line.split() for line in lines if " TaintToleration " in line)
    assert taints == ["default-scheduler", "TaintToleration", "preFilter,filter,preScore,score", "3", "-", "default"]
    (off,) = (line.split() for line in lines if " DynamicResources " in line)
    assert off[2] == "(off)"


def test_a_file_is_named_where_it_decides() -> None:
    file = str(ROOT / "examples" / "philly.yaml")
    rows = [line.split() for line in gangsched("config", "view", "-c", file).stdout.splitlines()]
    (backoff,) = (row for row in rows if row[:1] == ["podMaxBackoffSeconds"])
    assert backoff[1] == "3600"
    assert backoff[2].startswith(f"{file}:")
    (fit,) = (row for row in rows if row[1:2] == ["NodeResourcesFit"])
    assert fit[4] == "scoringStrategy={type:MostAllocated,resources:[{name:nvidia.com/gpu,weight:1}]}"


def test_gates_are_shown_as_set() -> None:
    rows = [
        line.split()
        for line in gangsched("config", "view", "--feature-gates", "OpportunisticBatching=true").stdout.splitlines()
    ]
    assert ["OpportunisticBatching", "true", "set"] in rows


def test_yaml_and_json_say_the_same() -> None:
    document = gangsched_json("config", "view")
    assert yaml.safe_load(gangsched("config", "view", "-o", "yaml").stdout) == document
    assert document["podInitialBackoffSeconds"] == 1
    assert {"name": "TaintToleration", "weight": 3} in document["profiles"]["default-scheduler"]["score"]
