"""``gangsched top queues|jobs``: tables, documents, mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scheduler.cli.command import gangsched, gangsched_json

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    queueSort: {enabled: [{name: %s}, {name: %s}]}
"""
WORLD = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "10", memory: 20Gi, pods: "110"}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {weight: 4, guarantee: {resource: {cpu: "1"}}, capability: {cpu: "9"}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: b}
"""
DEPLOYMENT = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %(name)s}
spec:
  replicas: %(count)d
  selector: {matchLabels: {app: %(name)s}}
  template:
    metadata: {labels: {app: %(name)s}, annotations: {scheduling.volcano.sh/queue-name: %(queue)s}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
"""


@pytest.fixture
def world(tmp_path: Path) -> str:
    text = WORLD + "".join(
        DEPLOYMENT % {"name": name, "count": count, "queue": queue}
        for name, count, queue in (("x", 12, "a"), ("y", 12, "b"), ("z", 1, "nobody"))
    )
    path = tmp_path / "world.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def proportion(tmp_path: Path) -> str:
    path = tmp_path / "fair.yaml"
    path.write_text(CONFIG % ("DRF", "Proportion"), encoding="utf-8")
    return str(path)


def test_the_table_of_queues(world: str, proportion: str) -> None:
    result = gangsched("top", "queues", "-c", proportion, "-f", world)
    assert result.exit_code == 0
    assert result.stdout == (
        "policy: Proportion\n"
        "\n"
        "QUEUE     WEIGHT   SHARE   STATE     PODS   RESOURCE   ALLOCATED   DESERVED   REQUEST\n"
        "a              4   1.000   Open        12   cpu                8          8        12\n"
        "                                            pods               8         12        12\n"
        "b              1   1.000   Open        12   cpu                2          2        12\n"
        "                                            pods               2         12        12\n"
        "default        1   0.000   Open         0   -                  -          -         -\n"
        "nobody         1   0.000   Unknown      1   cpu                -          -         1\n"
        "                                            pods               -          -         1\n"
        "\n"
        "queue nobody does not exist\n"
    )


def test_wide_adds_limits_and_rounds(world: str, proportion: str) -> None:
    lines = gangsched("top", "queues", "-c", proportion, "-f", world, "-o", "wide").stdout.splitlines()
    assert lines[2].split()[-3:] == ["GUARANTEE", "CAPABILITY", "PRIORITY"]
    assert lines[3].split()[-3:] == ["1", "9", "0"]
    rounds = lines[lines.index("rounds of water-filling:") + 1 :]
    assert rounds[0] == "  1: cpu 10, memory 20Gi, pods 110 offered by weights of 5; nobody is met"


def test_the_tree_of_hierarchical_drf(world: str, tmp_path: Path) -> None:
    config = tmp_path / "hdrf.yaml"
    config.write_text(CONFIG % ("Priority", "HDRF"), encoding="utf-8")
    lines = gangsched("top", "queues", "-c", str(config), "-f", world, "-o", "wide").stdout.splitlines()
    tree = lines[lines.index("tree of shares:") + 1 :]
    assert tree[0] == "  root: weight 1, share 0.4000 of cpu"  # both children scaled to the lesser (D16)
    assert [line.split(":")[0].strip() for line in tree] == ["root", "a", "b", "nobody"]
    assert tree[1].endswith("12 jobs")


def test_the_table_of_jobs(world: str, proportion: str) -> None:
    lines = gangsched("top", "jobs", "-c", proportion, "-f", world, "-o", "wide").stdout.splitlines()
    assert lines[0].split() == ["QUEUE", "JOB", "SHARE", "DOMINANT", "PODS", "ALLOCATED", "REQUEST"]
    shares = [line.split()[2] for line in lines[1:] if line.startswith("a ")]
    assert shares == ["0.0000"] * 4 + ["0.1000"] * 8
    assert "cpu 1, pods 1" in lines[-2]


def test_documents(world: str, proportion: str) -> None:
    queues = gangsched_json("top", "queues", "-c", proportion, "-f", world)
    assert queues["policy"] == "Proportion"
    a = queues["queues"][0]
    assert (a["name"], a["weight"], a["deserved"]["cpu"], a["allocated"]["cpu"]) == ("a", 4, 8, 8)
    assert queues["rounds"][0]["weights"] == 5
    jobs = gangsched_json("top", "jobs", "-c", proportion, "-f", world)
    assert sum(job["share"] > 0 for job in jobs["jobs"]) == 10


def test_without_a_policy_shares_are_only_measured(world: str) -> None:
    document = gangsched_json("top", "queues", "-f", world)
    assert document["policy"] == "none (Proportion measures)"
    assert sum(queue["allocated"].get("cpu", 0) for queue in document["queues"]) == 10


def test_before_any_cycle(world: str, proportion: str) -> None:
    document = gangsched_json("top", "queues", "-c", proportion, "-f", world, "--no-run")
    assert all(not queue["allocated"] for queue in document["queues"])


def refusals(world: str, proportion: str) -> dict[str, str]:
    """Pods without a node, and why."""
    pods = gangsched_json("run", "-c", proportion, world, code=1)["pods"]
    return {key: pod["message"] for key, pod in pods.items() if pod["node"] is None}


def test_run_says_why_somebody_is_passed_over(world: str, proportion: str) -> None:
    assert sorted(set(refusals(world, proportion).values())) == [
        "queue a: cpu 9 would exceed deserved 8",
        "queue b: cpu 3 would exceed deserved 2",
        "queue nobody does not exist",
    ]


def test_explain_says_it_too(world: str, proportion: str) -> None:
    why = refusals(world, proportion)
    waiting = next(key for key in why if "nobody" in why[key])
    text = gangsched("explain", f"pod/{waiting.split('/')[1]}", "-c", proportion, "-f", world).stdout
    assert "passed over: queue nobody does not exist" in text
    assert "Proportion" in text


@pytest.mark.parametrize("args", [("queues",), ("pods", "-f", "x")])
def test_mistakes_are_one_line(args: tuple[str, ...]) -> None:
    result = gangsched("top", *args)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
