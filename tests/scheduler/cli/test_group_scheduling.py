"""``--group-scheduling``: the debated choices on the command line, in a trace and in Python (docs/choices.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gangsched import Engine
from gangsched_framework.errors import GangschedError
from tests.scheduler.cli.command import gangsched, gangsched_json

STEALING = """
kind: Node
apiVersion: v1
metadata: {name: n}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: root}
spec: {schedulingPolicy: {gang: {minGroupCount: 2}}, workloadRef: {workloadName: w, templateName: t}}
"""
CHILD = """---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {{name: {name}}}
spec:
  schedulingPolicy: {{gang: {{minCount: 1}}}}
  parentCompositePodGroupName: root
  workloadRef: {{workloadName: w, templateName: t}}
"""
POD = """---
apiVersion: v1
kind: Pod
metadata: {{name: {group}-{number}}}
spec:
  schedulingGroup: {{podGroupName: {group}}}
  containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1}}}}}}]
"""
CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
groupScheduling:
  evaluation: doubleRun
"""


@pytest.fixture
def manifests(tmp_path: Path) -> str:
    """Row 134: room for four pods, a has four, b one, and both children are needed."""
    text = STEALING + "".join(CHILD.format(name=name) for name in "ab")
    text += "".join(
        POD.format(group=group, number=number) for group, number in (*(("a", n) for n in range(4)), ("b", 0))
    )
    path = tmp_path / "stealing.yaml"
    path.write_text(text)
    return str(path)


def bound(*arguments: str) -> int:
    document = gangsched_json("run", *arguments, code=1)
    return sum(pod["node"] is not None for pod in document["pods"].values())


def test_a_choice_as_option_as_file_and_in_python(manifests: str, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CONFIG)
    file = str(tmp_path / "c.yaml")
    assert bound("-f", manifests) == 0
    assert bound("-f", manifests, "--group-scheduling", " evaluation = doubleRun ,") == 4
    assert bound("-f", manifests, "-c", file) == 4
    assert bound("-f", manifests, "-c", file, "--group-scheduling", "evaluation=greedy") == 0
    engine = Engine(group_scheduling={"evaluation": "doubleRun"})
    engine.apply(manifests)
    engine.run()
    assert len(engine.bindings) == 4


def test_the_view_says_where_a_choice_comes_from(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CONFIG)
    lines = gangsched("config", "view", "-c", str(tmp_path / "c.yaml"), "--group-scheduling", "preCheck=false").stdout
    rows = [line.split() for line in lines.splitlines() if line.startswith("groupScheduling")]
    assert rows == [
        ["groupScheduling.evaluation", "doubleRun", f"{tmp_path}/c.yaml:4"],
        ["groupScheduling.childOrder", "name", "default"],
        ["groupScheduling.preCheck", "false", "option"],
        ["groupScheduling.extraPodPreemption", "nonePlaced", "default"],
    ]
    document = gangsched_json("config", "view", "--group-scheduling", "childOrder=hardest")
    assert document["groupScheduling"]["childOrder"] == "hardest"
    assert document["groupScheduling"]["preCheck"] is True


def test_a_trace_brings_its_choices_and_an_option_goes_before_them(tmp_path: Path, manifests: str) -> None:
    import yaml

    header = {"gangsched_trace": 1, "name": "t", "start": "2026-01-01T00:00:00Z", "config": yaml.safe_load(CONFIG)}
    objects = [{"t": 0, "add": each} for each in yaml.safe_load_all(Path(manifests).read_text())]
    trace = tmp_path / "t.jsonl"
    trace.write_text("".join(json.dumps(line) + "\n" for line in (header, *objects)))
    assert len(gangsched_json("replay", str(trace))["bindings"]) == 4
    assert len(gangsched_json("replay", str(trace), "--group-scheduling", "evaluation=greedy")["bindings"]) == 0
    gangsched("replay", str(trace), "--group-scheduling", "childOrder=smallest", "--out", str(tmp_path / "out"))
    assert (
        json.loads((tmp_path / "out" / "run.json").read_text())["options"]["group_scheduling"] == "childOrder=smallest"
    )
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["groupScheduling"]["evaluation"] == "doubleRun"
    assert config["groupScheduling"]["childOrder"] == "smallest"


BAD = {
    "nothing after the name": ("evaluation", "groupScheduling: found 'evaluation', allowed NAME=VALUE"),
    "an unknown name": (
        "childorder=name",
        'unknown field "groupScheduling.childorder"; did you mean "childOrder"?',
    ),
    "a name like none": (
        "mode=x",
        'unknown field "groupScheduling.mode"; allowed: evaluation, childOrder, preCheck, extraPodPreemption',
    ),
    "a name twice": ("preCheck=true,preCheck=false", "groupScheduling.preCheck: given twice"),
    "no name": ("=x", 'unknown field "groupScheduling."'),
    "an unknown value": (
        "evaluation=double",
        'groupScheduling.evaluation: found the text "double", allowed greedy or doubleRun',
    ),
    "no value": (
        "childOrder=",
        'groupScheduling.childOrder: found the text "", allowed name, creation, smallest or hardest',
    ),
    "a word for true or false": (
        "preCheck=off",
        'groupScheduling.preCheck: found the text "off", allowed true or false',
    ),
    "true for a word": (
        "evaluation=true",
        "groupScheduling.evaluation: found true, allowed greedy or doubleRun",
    ),
    "a line break": ("a\nb=1", 'unknown field "groupScheduling.a\\nb"'),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_a_bad_choice_is_one_line_and_exit_code_2(text: str, message: str, manifests: str) -> None:
    for verb in (
        ("run", "-f", manifests),
        ("explain", "pod/a-0", "-f", manifests),
        ("config", "view"),
        ("replay", "x"),
    ):
        result = gangsched(*verb, "--group-scheduling", text)
        assert (result.exit_code, result.stdout) == (2, ""), verb
        if verb[0] != "replay":  # which complains of the trace first
            assert result.stderr.startswith(message), verb
        assert result.stderr.count("\n") == 1


def test_a_bad_choice_in_python() -> None:
    with pytest.raises(GangschedError, match=r"groupScheduling\.preCheck: found the number 1, allowed true or false"):
        Engine(group_scheduling={"preCheck": 1})  # type: ignore[dict-item]
