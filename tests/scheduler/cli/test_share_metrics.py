"""Shares as Prometheus reads them: Volcano's names and units."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.scheduler.cli.command import gangsched

WORLD = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110", example.com/gpu: "4"}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {weight: 3}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml, annotations: {scheduling.volcano.sh/queue-name: a}}
spec:
  containers:
  - {name: c, image: i, resources: {limits: {cpu: "1", memory: 2Gi, example.com/gpu: "3"}}}
"""


@pytest.fixture
def world(tmp_path: Path) -> str:
    path = tmp_path / "world.yaml"
    path.write_text(WORLD, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "line",
    [
        'volcano_queue_allocated_milli_cpu{queue_name="a"} 1000.0',
        'volcano_queue_allocated_memory_bytes{queue_name="a"} 2.147483648e+09',
        'volcano_queue_allocated_scalar_resources{queue_name="a",resource="example.com/gpu"} 3000.0',
        'volcano_queue_allocated_scalar_resources{queue_name="a",resource="pods"} 1.0',
        'volcano_queue_request_milli_cpu{queue_name="a"} 1000.0',
        'volcano_queue_deserved_milli_cpu{queue_name="a"} 1000.0',
        'volcano_queue_deserved_milli_cpu{queue_name="default"} 0.0',
        'volcano_queue_share{queue_name="a"} 1.0',
        'volcano_queue_weight{queue_name="a"} 3.0',
        'volcano_queue_overused{queue_name="a"} 1.0',
        'volcano_queue_overused{queue_name="default"} 0.0',
        'volcano_job_share{job_id="pod/ml/p",job_ns="ml"} 0.75',
    ],
)
def test_figures_have_the_names_and_units_of_volcano(world: str, line: str) -> None:
    pytest.importorskip("prometheus_client")
    result = gangsched("top", "queues", "-f", world, "-o", "metrics")
    assert result.exit_code == 0, result.stderr
    assert line in result.stdout.splitlines()


def test_without_the_extra_the_message_says_what_to_install(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    result = gangsched("top", "queues", "-f", world, "-o", "metrics")
    assert result.exit_code != 0
    assert "pip install 'gangsched[metrics]'" in result.stderr
