"""Manifests of others: the recorded scenarios all decode, the projects' examples load or name the field at fault."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gangsched.manifests import Decoder, Defaults, InputError, read_files

SHARED = Path(__file__).parents[4] / "shared"
CONFORMANCE = SHARED / "conformance"
DATA = SHARED / "data"
PROJECTS = ("kubernetes_kubernetes", "kubernetes-sigs_kueue", "NVIDIA_KAI-Scheduler", "volcano-sh_volcano")
KINDS = {
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
    "namespaces": ("v1", "Namespace"),
    "services": ("v1", "Service"),
    "replicationControllers": ("v1", "ReplicationController"),
    "replicaSets": ("apps/v1", "ReplicaSet"),
    "statefulSets": ("apps/v1", "StatefulSet"),
}


def created(steps: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The objects of a scenario's create steps, hook steps included."""
    for step in steps:
        if step["op"] == "create":
            yield step["object"]
        for hook in ("afterPop", "afterAlgorithm"):
            yield from created(step.get(hook, []))


def lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


@pytest.mark.skipif(not CONFORMANCE.is_dir(), reason="the recorded scenarios are not here")
class TestRecordedScenarios:
    def test_every_object_of_the_group_scenarios_decodes(self) -> None:
        documents = [json.loads(path.read_text()) for path in sorted((CONFORMANCE / "kube/cases").glob("*.json"))]
        documents += lines(CONFORMANCE / "kube/random.jsonl.gz")
        count = 0
        for document in documents:
            decoder = Decoder(strict=False)
            for manifest in created(document["steps"]):
                (read,) = decoder.decode(manifest, where=document["name"])
                assert type(read).__name__ == manifest["kind"]
                count += 1
        assert count > 20_000

    def test_every_object_of_the_node_plugin_cases_decodes(self) -> None:
        files = [json.loads(path.read_text()) for path in sorted((CONFORMANCE / "node-plugins/cases").glob("*.json"))]
        cases = [case for file in files for case in file["cases"]]
        cases += lines(CONFORMANCE / "node-plugins/random.jsonl.gz")
        count = 0
        for case in cases:
            defaults = Defaults(api_defaulting=not case.get("noDefaulting"), merge_match_label_keys=False)
            decoder = Decoder(defaults, strict=False)
            for key, (api, kind) in KINDS.items():
                for manifest in (*case.get(key, ()), *([case["pod"]] if key == "pods" else [])):
                    assert decoder.decode({"apiVersion": api, "kind": kind, **manifest}, where=case["name"])
                    count += 1
        assert count > 20_000


@pytest.mark.skipif(not DATA.is_dir(), reason="the projects' data is not here")
@pytest.mark.parametrize(
    "project, loaded, refused",
    [(PROJECTS[0], 0, 9), (PROJECTS[1], 90, 16), (PROJECTS[2], 30, 7), (PROJECTS[3], 38, 17)],
)
def test_real_manifests_load_or_are_refused_with_a_place_and_a_reason(project: str, loaded: int, refused: int) -> None:
    files = sorted(str(path) for path in (DATA / project).rglob("*") if path.suffix in (".yaml", ".yml", ".json"))
    errors: list[str] = []
    for file in files:
        try:
            read_files([file])
        except InputError as error:
            errors.append(str(error).removeprefix(file))
    # What is refused is no manifest (templates with {{ }}, configurations without a kind) or breaks a rule.
    place = r":\d+: "
    kinds = (
        rf"{place}(\S+: )?a key must be text",
        rf"{place}(\S+: )?[a-zA-Z./\"\[\]0-9]+: found .*, allowed .*",
        rf"{place}found a list",
        r": found no object",  # nothing but comments
    )
    assert [error for error in errors if not any(re.match(kind, error) for kind in kinds)] == []
    assert (len(files) - len(errors), len(errors)) == (loaded, refused), errors
