"""The examples of the READMEs work as printed."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

from gangsched import Engine
from gangsched_framework import registry
from gangsched_framework.testing import make_node, make_pod

README_PATH = Path(__file__).parent.parent / "README.md"
README = README_PATH.read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_embedding_example_prints_what_the_readme_says() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(_block("python"), "README.md", "exec"), {})

    assert printed.getvalue() == _block("text")


def test_the_embedding_example_has_at_most_ten_lines() -> None:
    assert len([line for line in _block("python").splitlines() if line.strip()]) <= 10


def test_the_examples_of_the_embedding_page_hold_as_printed() -> None:
    page = (README_PATH.parent / "docs" / "embedding.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        exec(compile(block, "docs/embedding.md", "exec"), names)


def test_the_plugin_of_the_framework_readme_works_as_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (README_PATH.parent / "framework" / "README.md").read_text(encoding="utf-8")
    plugin, check = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    configuration = re.search(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    entry_point = re.search(r'^(\w+) = "(.+)"$', text, re.MULTILINE)
    assert configuration is not None
    assert entry_point is not None
    names: dict[str, object] = {}
    exec(compile(plugin + check, "framework/README.md", "exec"), names)
    module, _, attribute = entry_point[2].partition(":")
    monkeypatch.setitem(sys.modules, module.partition(".")[0], ModuleType("package"))
    monkeypatch.setitem(sys.modules, module, SimpleNamespace(**{attribute: names[attribute]}))
    installed = [EntryPoint(entry_point[1], entry_point[2], registry.ENTRY_POINT_GROUP)]
    monkeypatch.setattr(registry, "entry_points", lambda group: installed)

    engine = Engine(yaml.safe_load(configuration[1]))
    engine.apply(make_node("n1").capacity(cpu=4, pods=9).label("zone", "a").obj(), make_pod("p").obj())
    (report,) = engine.run()
    status = report.pods["default/p"].status
    assert status is not None
    assert status.message.startswith("0/1 nodes are available: 1 node is not in zone b.")
    engine.apply(make_node("n2").capacity(cpu=4, pods=9).label("zone", "b").obj())
    engine.advance(1)
    engine.run()
    assert engine.bindings == {"default/p": "n2"}
