"""The figures of docs/choices.md are what the replays say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.scheduler.cli.command import gangsched, gangsched_json

ROOT = Path(__file__).resolve().parents[3]
TRACE = str(ROOT / "examples" / "debated-choices.jsonl.gz")
PAGE = (ROOT / "docs" / "choices.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("| ").split("|")]
    for line in PAGE.splitlines()
    if re.search(r"\| [0-9a-f]{8} \|$", line)
]


def test_every_choice_has_its_row() -> None:
    assert len({row[-1] for row in ROWS}) == len(ROWS) == 8


@pytest.mark.parametrize(
    "row", [row if i < 2 else pytest.param(row, marks=pytest.mark.slow) for i, row in enumerate(ROWS)]
)
def test_a_row(row: list[str]) -> None:
    choice, placed, finished, waiting, completion, utilisation, cycles, victims, lost, digest = row
    document = gangsched_json("replay", TRACE, "--group-scheduling", choice.strip("`").replace("(none)", ""))
    preemption = document["preemption"]
    assert [
        str(document["gangs"]["placed"]),
        str(document["gangs"]["finished"]),
        _minutes(document["waiting_seconds"]["mean"]),
        _minutes(document["completion_seconds"]["mean"]),
        f"{document['gpu_utilisation']:.1%}".replace("%", " %"),
        f"{document['cycles']:,}",
        str(preemption["victims"]),
        f"{preemption['lost_gpu_seconds']:,}",
        document["decisions_hash"][:8],
    ] == [placed, finished, waiting, completion, utilisation, cycles, victims, lost, digest]


@pytest.mark.parametrize("choice", [pytest.param("preCheck=false", marks=pytest.mark.slow), ""])
def test_the_attempts_at_pods(choice: str) -> None:
    counts = re.search(r"pre-check (\S+) attempts at pods are made instead of (\S+)", PAGE)
    assert counts is not None
    traced = gangsched("replay", TRACE, "--trace", "--group-scheduling", choice).stdout
    made = len(re.findall(r"^ +pod ", traced, re.MULTILINE))
    assert f"{made:,}" == counts[1 if choice else 2]


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}m {int(seconds) % 60:02}s"
