"""How far apart what queues hold and what they deserve are, over the time of replays: figures, and a picture of them.

    .venv/bin/python benchmarks/share_picture.py RESOURCE SVG NAME=RUN_FOLDER…

A run folder is what ``gangsched replay --out`` writes; its ``queues.csv`` is read. *Beyond*: what queues hold above
what they deserve, summed over the queues; nobody takes it back before it is given up. *Short*: what they deserve and
do not hold.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from attrs import frozen

DAY = 86400
WIDTH, HEIGHT, LEFT, TOP = 860, 240, 50, 30
COLOURS = ("#b2432f", "#2f6db2", "#3c8c4a", "#8a5db0")


@frozen
class Instant:
    """``time`` in seconds."""

    time: float
    beyond: float
    short: float


@frozen
class Run:
    name: str
    instants: Sequence[Instant]

    @classmethod
    def read(cls, name: str, folder: Path, resource: str) -> Run:
        sums: dict[float, tuple[float, float]] = {}
        with (folder / "queues.csv").open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["resource"] == resource:
                    time, gap = float(row["time"]), float(row["allocated"]) - float(row["deserved"])
                    beyond, short = sums.get(time, (0.0, 0.0))
                    sums[time] = beyond + max(gap, 0), short + max(-gap, 0)
        return cls(name, [Instant(time, *each) for time, each in sorted(sums.items())])

    def days(self) -> dict[int, tuple[float, float]]:
        """Day -> means of beyond and short; a day counts from its first instant to the next one's."""
        sums: dict[int, tuple[float, float]] = {}
        for now, then in pairwise(self.instants):
            beyond, short = sums.get(int(now.time // DAY), (0.0, 0.0))
            part = (then.time - now.time) / DAY
            sums[int(now.time // DAY)] = beyond + now.beyond * part, short + now.short * part
        return sums

    def hours_beyond(self) -> float:
        return sum(now.beyond * (then.time - now.time) for now, then in pairwise(self.instants)) / 3600


def table(runs: Iterable[Run]) -> str:
    """Markdown, a row a run."""
    lines = ["| policy | held beyond, in hours | day: mean beyond / mean short |", "|---|---|---|"]
    for run in runs:
        days = [f"{day}: {b:.1f} / {s:.1f}" for day, (b, s) in run.days().items() if b >= 1 or s >= 1]
        lines.append(f"| {run.name} | {run.hours_beyond():,.0f} | {', '.join(days)} |")
    return "\n".join(lines)


def picture(runs: Sequence[Run], title: str) -> str:
    """One line a run: ``beyond`` over the days in which anybody holds too much."""
    busy = [each.time for run in runs for each in run.instants if each.beyond]
    first, last = int(min(busy) // DAY), int(max(busy) // DAY) + 1
    most = max(each.beyond for run in runs for each in run.instants)

    def x(time: float) -> float:
        return LEFT + (time / DAY - first) / (last - first) * (WIDTH - LEFT - 10)

    def y(amount: float) -> float:
        return HEIGHT - 30 - amount / most * (HEIGHT - 30 - TOP)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif"']
    parts.append(
        f' font-size="12"><rect width="100%" height="100%" fill="white"/><text x="{LEFT}" y="18">{escape(title)}</text>'
    )
    parts += [
        f'<text x="{x(day * DAY):.0f}" y="{HEIGHT - 10}" text-anchor="{"end" if day == last else "middle"}">'
        f"day {day}</text>"
        for day in range(first, last + 1)
    ]
    for amount in (0, most / 2, most):
        level = f'y1="{y(amount):.0f}" y2="{y(amount):.0f}"'
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - 10}" {level} stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(amount) + 4:.0f}" text-anchor="end">{amount:.0f}</text>')
    for i, (run, colour) in enumerate(zip(runs, COLOURS, strict=False)):
        steps = [each for each in run.instants if first * DAY <= each.time <= last * DAY]
        path = "".join(f"H{x(now.time):.1f}V{y(now.beyond):.1f}" for now in steps)
        parts.append(f'<path d="M{LEFT} {y(0):.1f}{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(
            f'<text x="{WIDTH - 10}" y="{18 + 15 * i}" text-anchor="end" fill="{colour}">{escape(run.name)}</text>'
        )
    return "\n".join((*parts, "</svg>", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("resource")
    parser.add_argument("svg", type=Path)
    parser.add_argument("runs", nargs="+", metavar="NAME=RUN_FOLDER")
    args = parser.parse_args()
    named = [each.partition("=") for each in args.runs]
    for name, _, folder in named:
        if not (Path(folder) / "queues.csv").is_file():
            parser.error(
                f"{name}: found no {Path(folder) / 'queues.csv'}, allowed NAME=RUN_FOLDER of a replay --queues FILE"
            )
    runs = [Run.read(name, Path(folder), args.resource) for name, _, folder in named]
    args.svg.write_text(picture(runs, f"{args.resource} held beyond what their queues deserve"), encoding="utf-8")
    print(table(runs))


if __name__ == "__main__":
    main()
