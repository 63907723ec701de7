"""Where the time of a case goes: shares by sampling CPU time, calls per pod by cProfile.

    .venv/bin/python benchmarks/profile_case.py CASE… [--top N] [--seconds S]

cProfile alone misleads here: it charges small functions for being called, and on a busy machine whoever happens to run
when the process is put aside. So the shares come from a CPU-time timer (about one sample a millisecond at best), and
only the counts from cProfile.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import re
import signal
from collections import Counter
from collections.abc import Sequence
from statistics import median
from types import CodeType, FrameType

from gangsched.bench.cases import AnyCase, find
from gangsched.bench.outcome import Outcome

INTERVAL = 0.001
LIMIT = 20.0


class Sampler:
    """Counts in which function the process spends its CPU time: on top of the stack, and anywhere on it."""

    def __init__(self) -> None:
        self.own: Counter[CodeType] = Counter()
        self.anywhere: Counter[CodeType] = Counter()
        signal.signal(signal.SIGPROF, self._sample)

    @property
    def samples(self) -> int:
        return self.own.total()

    def _sample(self, _: int, frame: FrameType | None) -> None:
        if frame is not None:
            self.own[frame.f_code] += 1
        seen: dict[CodeType, None] = {}
        while frame is not None:
            seen[frame.f_code] = None
            frame = frame.f_back
        self.anywhere.update(seen.keys())

    def run(self, case: AnyCase) -> Outcome:
        trial = case.trial()
        gc.collect()
        gc.freeze()
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
        try:
            return trial.run(LIMIT)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            gc.unfreeze()


def calls_per_pod(case: AnyCase) -> dict[tuple[str, int], float]:
    """By file and first line of the function."""
    trial = case.trial()
    profile = cProfile.Profile()
    outcome: Outcome = profile.runcall(trial.run, LIMIT)
    counted = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    return {(file, line): figures[1] / outcome.pods for (file, line, _), figures in counted.items()}


def show(case: AnyCase, top: int, seconds: float) -> None:
    sampler = Sampler()
    outcomes: list[Outcome] = []
    while sum(outcome.cpu_seconds * outcome.pods for outcome in outcomes) < seconds:
        outcomes.append(sampler.run(case))
    calls = calls_per_pod(case)
    cpu = median(outcome.cpu_seconds for outcome in outcomes) * 1e6
    stopped = "" if outcomes[-1].complete else ", stopped"
    print(f"\n{case.name}: {cpu:.1f} us CPU per pod, {outcomes[-1].pods} pods{stopped}, {sampler.samples} samples")
    print(f"{'own':>7} {'under':>7} {'calls/pod':>10}  function")
    for code, count in sampler.own.most_common(top):
        own, under = count / sampler.samples, sampler.anywhere[code] / sampler.samples
        called = calls.get((code.co_filename, code.co_firstlineno), 0.0)
        print(f"{own:>7.1%} {under:>7.1%} {called:>10.2f}  {_place(code)}")


def _place(code: CodeType) -> str:
    file = re.sub(r"^.*/(?=gangsched|numpy/|typing)", "", code.co_filename)
    return f"{file}:{code.co_firstlineno} {code.co_qualname}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", metavar="CASE")
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=4.0, help="CPU seconds sampled a case, at least")
    options = parser.parse_args(arguments)
    for case in find(options.cases):
        show(case, options.top, options.seconds)


if __name__ == "__main__":
    main()
