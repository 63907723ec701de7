"""A plugin of another distribution that breaks its contract costs its author one line, not a traceback."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import yaml

from gangsched_framework import registry as registry_module
from gangsched_framework.registry import ENTRY_POINT_GROUP
from tests.scheduler.cli.command import gangsched
from tests.scheduler.cli.test_run import manifests
from tests.scheduler.replay.traces import add, group, node, pod, write

HEAD = """class Bad:
    name = "Bad"
    def __init__(self, args, handle):
        {init}
    def {method}:
        {body}
"""

FILTER, SCORE = "filter(self, state, pod, node)", "score(self, state, pod, node)"
BROKEN = {
    "a filter that raises": (FILTER, "return 1 / 0", "filter raised ZeroDivisionError: division by zero (FILE:6)"),
    "a filter that ends the program": (FILTER, "raise SystemExit(3)", "filter raised SystemExit: 3 (FILE:6)"),
    "a filter that says yes": (FILTER, "return True", "filter returned bool, allowed Status or None"),
    "a filter that says no": (FILTER, "return 'no'", "filter returned str, allowed Status or None"),
    "a score that is missing": (SCORE, "pass", "score returned None, allowed int or Status"),
    "a score that is a fraction": (SCORE, "return 0.5", "score returned float, allowed int or Status"),
    "a gate that says yes": (
        "pre_enqueue(self, pod)",
        "return True",
        "pre_enqueue returned bool, allowed Status or None",
    ),
    "a judge of placements that raises": (
        "placement_feasible(self, state, group, progress)",
        "raise ValueError",
        "placement_feasible raised ValueError (FILE:6)",
    ),
}


def install(monkeypatch: pytest.MonkeyPatch, where: Path, method: str, body: str, init: str = "pass") -> Path:
    """Register ``Bad`` as an installed distribution would; its file."""
    file = where / f"{where.name.replace('-', '_')}_bad.py"
    file.write_text(HEAD.format(method=method, body=body, init=init))
    monkeypatch.syspath_prepend(where)
    point = EntryPoint("Bad", f"{file.stem}:Bad", ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry_module, "entry_points", lambda group: [point] if group == ENTRY_POINT_GROUP else [])
    return file


def configuration(where: Path) -> str:
    """A profile with ``Bad`` wherever it serves."""
    profile = {"plugins": {"multiPoint": {"enabled": [{"name": "Bad"}]}}}
    document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    (where / "c.yaml").write_text(yaml.safe_dump({**document, "profiles": [profile]}))
    return str(where / "c.yaml")


def run(where: Path, *verb: str) -> tuple[int, str, str]:
    world = manifests(where / "w.yaml", node("n1"), node("n2"), group("g", 1), pod("a", in_group="g"), pod("p"))
    result = gangsched(*verb, "-f", world, "-c", configuration(where))
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("verb", [("run",), ("explain", "pod/p")], ids=["run", "explain"])
@pytest.mark.parametrize("method, body, complaint", BROKEN.values(), ids=BROKEN)
def test_what_it_does_wrong_is_told_on_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verb: tuple[str, ...], method: str, body: str, complaint: str
) -> None:
    file = install(monkeypatch, tmp_path, method, body)
    assert run(tmp_path, *verb) == (2, "", f"plugin Bad: {complaint.replace('FILE', str(file))}\n")


def test_a_constructor_that_raises_is_told_alike(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = install(monkeypatch, tmp_path, FILTER, "pass", init="args['zone']")
    assert run(tmp_path, "run") == (2, "", f"plugin Bad: constructor raised KeyError: 'zone' ({file}:4)\n")


@pytest.mark.parametrize("more", [(), ("--lenient",)], ids=["a strict replay", "a lenient replay"])
def test_a_replay_ends_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: tuple[str, ...]) -> None:
    install(monkeypatch, tmp_path, "pre_enqueue(self, pod)", "return True")
    trace = write(tmp_path / "t.jsonl", [add(0, node("n1")), add(1, pod("p")), add(2, pod("q"))])
    result = gangsched("replay", trace, "-c", configuration(tmp_path), *more)
    complaint = "plugin Bad: pre_enqueue returned bool, allowed Status or None\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", complaint)


def test_one_that_keeps_its_contract_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, SCORE, "return 100 if node.node.name == 'n2' else 0")
    code, out, _ = run(tmp_path, "run")
    assert (code, "n1" in out, "n2" in out) == (0, False, True)
