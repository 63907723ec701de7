"""What reading pods from one file costs beside the parser alone: CPU microseconds per pod.

    .venv/bin/python benchmarks/loading.py [--pods N] [--rounds R]

``parser``: the file's bytes through json, or through libyaml's events, and nothing made of them. ``load``: the file to
objects, checked and defaulted, as ``gangsched run -f`` reads it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import yaml

from gangsched.manifests import read_files
from gangsched_framework.strict_yaml import EVENT_LOADER

POD = """\
---
apiVersion: v1
kind: Pod
metadata:
  name: p-{number}
  namespace: default
  labels:
    app: web
spec:
  schedulingGroup:
    podGroupName: g-{group}
  containers:
  - name: main
    image: registry.example.com/train:1
    resources:
      requests:
        cpu: 500m
        memory: 1Gi
"""
GANG = 8


def write(folder: Path, pods: int) -> dict[str, Path]:
    """The same pods, in gangs of eight, as one YAML stream and as one JSON list."""
    paths = {"JSON": folder / "pods.json", "YAML": folder / "pods.yaml"}
    with paths["YAML"].open("w", encoding="utf-8") as file:
        file.writelines(POD.format(number=number, group=number // GANG) for number in range(pods))
    (one,) = yaml.safe_load_all(POD)
    items = [
        {
            **one,
            "metadata": {**one["metadata"], "name": f"p-{number}"},
            "spec": {**one["spec"], "schedulingGroup": {"podGroupName": f"g-{number // GANG}"}},
        }
        for number in range(pods)
    ]
    paths["JSON"].write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return paths


def parse(path: Path) -> None:
    if path.suffix == ".json":
        json.loads(path.read_bytes())
    else:
        for _ in yaml.parse(path.read_bytes(), Loader=EVENT_LOADER):
            pass


def load(path: Path) -> None:
    read_files([str(path)])


def seconds(work: Callable[[Path], None], path: Path) -> float:
    started = time.process_time()
    work(path)
    return time.process_time() - started


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pods", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    print("| format | file MB | parser | load | load − parser |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write(Path(folder), chosen.pods).items():
            both = [(seconds(parse, path), seconds(load, path)) for _ in range(chosen.rounds)]
            parser, whole = (median(column) * 1e6 / chosen.pods for column in zip(*both, strict=True))
            size = path.stat().st_size / 1e6
            print(f"| {name} | {size:.1f} | {parser:.1f} | {whole:.1f} | {whole - parser:.1f} |")


if __name__ == "__main__":
    main()
