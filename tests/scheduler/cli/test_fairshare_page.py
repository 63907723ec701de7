"""The figures and the Queue of docs/fairshare.md are what the command says of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.share_picture import Run
from gangsched.manifests import read_files
from gangsched_framework.objects import Queue
from tests.scheduler.cli.command import gangsched

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "fairshare.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("| | priority and waiting time |")[2]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines()[2:10]]
POLICIES = ("fifo", "fair", "hdrf")


def test_the_queue_in_the_docs_is_one(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(apiVersion.*?)```", PAGE, re.DOTALL)
    (tmp_path / "q.yaml").write_text(text, encoding="utf-8")
    loaded = read_files([str(tmp_path / "q.yaml")])
    (queue,) = loaded.objects
    assert isinstance(queue, Queue)
    assert (queue.name, queue.weight, loaded.warnings) == ("vision", 2, ())


@pytest.mark.slow
@pytest.mark.parametrize("column, policy", list(enumerate(POLICIES, start=1)), ids=POLICIES)
def test_a_column_of_the_table_is_what_its_replay_says(tmp_path: Path, column: int, policy: str) -> None:
    fair = (EXAMPLES / "philly-fair.yaml").read_text(encoding="utf-8")
    config, out = tmp_path / "c.yaml", tmp_path / "out"
    written = {
        "fifo": (EXAMPLES / "philly.yaml").read_text(encoding="utf-8"),
        "fair": fair,
        "hdrf": fair.replace("name: DRF", "name: HDRF"),
    }
    config.write_text(written[policy], encoding="utf-8")
    trace, queues = str(EXAMPLES / "philly-10-days.csv.gz"), str(EXAMPLES / "philly-queues.yaml")
    gangsched("replay", trace, "--nodes", "64x8gpu", "--queues", queues, "-c", str(config), "--out", str(out))
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    run = Run.read(policy, out, "nvidia.com/gpu")
    largest, waiting = summary["queues"]["ee9e8c"], summary["waiting_seconds"]
    assert [row[column] for row in ROWS] == [
        f"{run.hours_beyond():,.0f}",
        *(" / ".join(f"{mean:.1f}" for mean in run.days()[day]) for day in (4, 5)),
        f"{largest['share']:.3f}",
        f"{largest['waiting_seconds']['mean'] / 60:.0f} min",
        f"{waiting['mean'] / 60:.1f} min, {waiting['p99'] / 3600:.1f} h",
        f"{summary['jain_share']:.3f}",
        f"{summary['jain_waiting']:.3f}",
    ]
