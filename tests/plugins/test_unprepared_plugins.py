"""Profiles that disable the Pre point of a plugin: some plugins fail for every pod, others work it out themselves."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen

from gangsched.conform.bench import Bench
from gangsched.conform.node_plugins import play_case

READING = "cycleState: not found"
POD: dict[str, Any] = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
PREFERS = {"weight": 5, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}
PREFERENCE = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [PREFERS]}}


def play(point: str, plugin: str, spec: dict[str, Any]) -> dict[str, Any]:
    node = {"metadata": {"name": "n", "labels": {"disk": "ssd"}}, "status": {"capacity": {"cpu": "4", "pods": "9"}}}
    case = {
        "nodes": [node],
        "pod": {"metadata": {"name": "p"}, "spec": spec},
        "profile": {"plugins": {point: {"disabled": [{"name": plugin}]}}},
    }
    return play_case(Bench(case), case)


@frozen
class Case:
    name: str
    plugin: str
    want: str


FILTERS = [
    Case("NodePorts fails even without ports", "NodePorts", f'reading "PreFilterNodePorts" from {READING}'),
    Case("NodeResourcesFit fails", "NodeResourcesFit", f'error reading "PreFilterNodeResourcesFit" from {READING}'),
    Case("PodTopologySpread fails", "PodTopologySpread", f'reading "PreFilterPodTopologySpread" from {READING}'),
    Case("InterPodAffinity fails", "InterPodAffinity", f'error reading "PreFilterInterPodAffinity" from {READING}'),
    Case("NodeName needs no preparation", "NodeName", ""),
    Case("NodeUnschedulable needs no preparation", "NodeUnschedulable", ""),
    Case("TaintToleration needs none to filter", "TaintToleration", ""),
    Case("NodeAffinity needs none to filter", "NodeAffinity", ""),
]


@pytest.mark.parametrize("case", FILTERS, ids=lambda case: case.name)
def test_a_profile_without_the_pre_filter_of_a_plugin(case: Case) -> None:
    got = play("preFilter", case.plugin, POD)
    text = f'running "{case.plugin}" filter plugin: {case.want}'
    want = {"node": "n", "code": "Error", "plugin": case.plugin, "reasons": [text]}
    assert got["filter"] == [want if case.want else {"node": "n", "code": "Success"}]
    assert got.get("error", "") == (text if case.want else "")


SCORERS = [
    Case("TaintToleration fails", "TaintToleration", f'failed to read "PreScoreTaintToleration" from {READING}'),
    Case("PodTopologySpread fails", "PodTopologySpread", f'error reading "PreScorePodTopologySpread" from {READING}'),
    Case("InterPodAffinity fails", "InterPodAffinity", f'failed to read "PreScoreInterPodAffinity" from {READING}'),
]


@pytest.mark.parametrize("case", SCORERS, ids=lambda case: case.name)
def test_a_profile_without_the_pre_score_of_a_plugin(case: Case) -> None:
    got = play("preScore", case.plugin, POD)
    assert got["scoreError"] == f'running Score plugins: plugin "{case.plugin}" failed with: {case.want}'


@pytest.mark.parametrize(
    ("plugin", "spec", "want"),
    [
        ("NodeAffinity", {**POD, "affinity": PREFERENCE}, 5),
        ("NodeAffinity", POD, 0),
        ("NodeResourcesFit", POD, 75),
        ("NodeResourcesBalancedAllocation", POD, 75),
        ("NodeResourcesBalancedAllocation", {"containers": [{"name": "c"}]}, 0),
    ],
)
def test_scorers_that_work_out_themselves_what_pre_score_would_have_told(
    plugin: str, spec: dict[str, Any], want: int
) -> None:
    (score,) = play("preScore", plugin, spec)["scores"]
    assert score["raw"][plugin] == want
