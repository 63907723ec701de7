"""The picture of shares over the time of replays: what it sums up, and that it is one line a run."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from benchmarks.share_picture import Run, picture, table

SERIES = """\
time,queue,resource,allocated,deserved,share
0,a,gpu,60,40,1.5
0,b,gpu,10,40,0.25
0,a,cpu,99,1,99
21600,a,gpu,40,40,1
21600,b,gpu,40,40,1
43200,a,gpu,40,40,1
129600,a,gpu,0,0,
"""


def run(tmp_path: Path, name: str) -> Run:
    (tmp_path / "queues.csv").write_text(SERIES, encoding="utf-8")
    return Run.read(name, tmp_path, "gpu")


def test_what_is_beyond_and_short_is_weighed_by_time(tmp_path: Path) -> None:
    shares = run(tmp_path, "fair")
    assert shares.hours_beyond() == 20 * 6
    assert shares.days() == {0: (20 / 4, 30 / 4)}
    assert table([shares]).splitlines()[-1] == "| fair | 120 | 0: 5.0 / 7.5 |"


def test_the_picture_has_a_line_a_run(tmp_path: Path) -> None:
    runs = [run(tmp_path, name) for name in ("one & two", "three")]
    tree = ElementTree.fromstring(picture(runs, "gpu"))
    assert len(tree.findall("{http://www.w3.org/2000/svg}path")) == 2
