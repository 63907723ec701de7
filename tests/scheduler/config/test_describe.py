"""What ``config view`` shows: every value, and where it came from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gangsched.config import Description, FeatureGates, default_config, describe, load_config
from gangsched_framework.registry import Registry

TEXT = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podMaxBackoffSeconds: 20
groupScheduling:
  childOrder: hardest
profiles:
- schedulerName: packer
  percentageOfNodesToScore: 30
  plugins:
    score:
      disabled:
      - name: NodeAffinity
      enabled:
      - name: NodeResourcesFit
        weight: 5
  pluginConfig:
  - name: NodeResourcesFit
    args:
      ignoredResources: [example.com/foo]
"""


@pytest.fixture
def view(tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Description:
    monkeypatch.chdir(tmp_path)
    Path("scheduler.yaml").write_text(TEXT)
    gates = FeatureGates({"PodGroupPreemptionPolicy": True})
    return describe(load_config("scheduler.yaml", gates, registry, node_order="upstream"), registry)


def test_settings(view: Description) -> None:
    assert [(row.name, row.value, row.origin) for row in view.settings] == [
        ("parallelism", 16, "default"),
        ("percentageOfNodesToScore", 100, "default"),
        ("percentageOfPlacementsToScore", 100, "default"),
        ("podInitialBackoffSeconds", 1, "default"),
        ("podMaxBackoffSeconds", 20, "scheduler.yaml:3"),
        ("nodeOrder", "upstream", "option"),
        ("groupScheduling.evaluation", "greedy", "default"),
        ("groupScheduling.childOrder", "hardest", "scheduler.yaml:5"),
        ("groupScheduling.preCheck", True, "default"),
        ("groupScheduling.extraPodPreemption", "nonePlaced", "default"),
        ("profiles.packer.percentageOfNodesToScore", 30, "scheduler.yaml:8"),
    ]
    assert [row.name for row in view.gates if row.origin == "set"] == ["PodGroupPreemptionPolicy"]


def test_the_node_order_of_a_file_stands_unless_an_option_says_otherwise(tmp_path: Path, registry: Registry) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(f"{TEXT}nodeOrder: upstream\n")
    config = load_config(path, registry=registry)
    assert (config.node_order, config.origins["nodeOrder"]) == ("upstream", f"{path}:{len(TEXT.splitlines()) + 1}")
    config = load_config(path, registry=registry, node_order="name")
    assert (config.node_order, config.origins["nodeOrder"]) == ("name", "option")


def test_a_plugin_with_weight_and_arguments(view: Description) -> None:
    fit = next(row for row in view.plugins if row.plugin == "NodeResourcesFit")

    assert fit.profile == "packer"
    assert fit.points == ("preFilter", "filter", "preScore", "score", "placementScore")
    assert fit.weights == {"score": 5, "placementScore": 1}
    assert fit.arguments["ignoredResources"] == ["example.com/foo"]
    assert fit.arguments["scoringStrategy"]["type"] == "LeastAllocated"
    assert fit.origins == ("default", "scheduler.yaml:14", "scheduler.yaml:19")


def test_points_that_are_off(view: Description) -> None:
    rows = {row.plugin: row for row in view.plugins}

    assert rows["NodeAffinity"].off == ("score",)
    assert rows["NodeAffinity"].points == ("preFilter", "filter", "preScore")
    assert rows["Packer"].points == ()
    assert rows["Packer"].off == ("score",)
    assert rows["GangScheduling"].origins == ("gate GenericWorkload",)


def test_every_value_of_the_data_has_an_origin(view: Description) -> None:
    data = view.as_dict()

    assert json.loads(json.dumps(data)) == data
    origins = data["origins"]
    for name, profile in data["profiles"].items():
        for point, entries in profile.items():
            if point == "args":
                want = [f"args.{plugin}.{field}" for plugin, fields in entries.items() for field in fields]
            elif isinstance(entries, list):
                want = [f"{point}.{entry if isinstance(entry, str) else entry['name']}" for entry in entries]
            else:
                want = [point]
            assert [origins[f"profiles.{name}.{path}"] for path in want]
    assert origins["profiles.packer.args.NodeResourcesFit.scoringStrategy"] == "default"
    assert origins["profiles.packer.score.NodeResourcesFit"] == "scheduler.yaml:14"


def test_a_mapping_is_an_origin_by_paths(registry: Registry) -> None:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "parallelism": 2,
        "profiles": [{"plugins": {"score": {"enabled": [{"name": "Packer"}]}}}],
    }
    origins = load_config(document, registry=registry).origins

    assert origins["parallelism"] == "configuration parallelism"
    assert origins["profiles.default-scheduler.score.Packer"] == "configuration profiles[0].plugins.score.enabled[0]"


def test_the_default_is_all_default(registry: Registry) -> None:
    origins = default_config(registry=registry).origins

    assert {origin for origin in origins.values() if not origin.startswith("gate ")} == {"default"}
