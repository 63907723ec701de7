"""The plain driver of the stories: ``python -m tests.properties.drive --steps 1000000 --seed 1`` (docs/testing.md).

A world lives for ``--world-steps`` steps, then another one begins. A failing world is shortened and its story printed.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from random import Random

from tests.properties.cores import draw_cores, small_limits
from tests.properties.objects import Variety
from tests.properties.story import RULES, Story

WORLD_STEPS = 250


def begin(seed: int, world: int, *, oracle: bool) -> Story:
    rng = Random(f"{seed}:{world}")
    story = Story(draw_cores(rng, oracle=oracle), Variety.draw(rng), period=rng.choice((1, 1, 10)))
    for _ in range(rng.randrange(6)):
        story.a_node_appears(rng)
    return story


def tell_world(seed: int, world: int, steps: Sequence[int], *, oracle: bool) -> Story:
    """Play the numbered steps of one world; each draws from a generator of its own."""
    story = begin(seed, world, oracle=oracle)
    with small_limits():
        for step in steps:
            take(story, Random(f"{seed}:{world}:{step}"))
    return story


def take(story: Story, rng: Random) -> None:
    """One step and its proof."""
    RULES[rng.randrange(len(RULES))](story, rng)
    story.check()


def fails(seed: int, world: int, steps: Sequence[int], *, oracle: bool) -> str:
    """Where and how the story ends, '' when it holds."""
    try:
        tell_world(seed, world, steps, oracle=oracle)
    except Exception as problem:
        last = traceback.extract_tb(problem.__traceback__)[-1]
        return f"{type(problem).__name__} in {last.filename}:{last.lineno}"
    return ""


def shorten(seed: int, world: int, steps: list[int], *, oracle: bool) -> list[int]:
    """Leave steps out as long as the story fails in the same way."""
    failure = fails(seed, world, steps, oracle=oracle)
    size = max(1, len(steps) // 2)
    while True:
        at, shorter = 0, False
        while at < len(steps):
            rest = steps[:at] + steps[at + size :]
            if fails(seed, world, rest, oracle=oracle) == failure:
                steps, shorter = rest, True
            else:
                at += size
        if size == 1 and not shorter:
            return steps
        size = max(1, size // 2)


def show(seed: int, world: int, steps: Sequence[int], *, oracle: bool) -> None:
    story = begin(seed, world, oracle=oracle)
    print(f"features: {sorted(story.variety.features)}")
    try:
        with small_limits():
            for step in steps:
                take(story, Random(f"{seed}:{world}:{step}"))
    except Exception:
        print("\n".join(story.told))
        traceback.print_exc()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000, help="steps in total")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--world-steps", type=int, default=WORLD_STEPS, help="steps of one world")
    parser.add_argument("--world", type=int, help="this world only")
    parser.add_argument("--oracle", action="store_true", help="tell a second core without columns the same story")
    options = parser.parse_args(arguments)
    worlds = range(-(-options.steps // options.world_steps)) if options.world is None else [options.world]
    counts: dict[str, int] = {}
    for world in worlds:
        steps = list(range(options.world_steps))
        try:
            story = tell_world(options.seed, world, steps, oracle=options.oracle)
        except Exception:
            print(f"seed {options.seed}, world {world} fails", file=sys.stderr)
            show(options.seed, world, shorten(options.seed, world, steps, oracle=options.oracle), oracle=options.oracle)
            return 1
        for what, count in story.counts.items():
            counts[what] = counts.get(what, 0) + count
        if story.core.columns is not None:
            counts["columns"] = counts.get("columns", 0) + len(story.core.columns._columns)
    told = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
    print(f"seed {options.seed}: {len(worlds) * options.world_steps:,} steps in {len(worlds):,} worlds hold; {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
