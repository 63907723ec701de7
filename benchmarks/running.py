"""One case under pytest-benchmark: what stands before the clock starts is made anew for every round."""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from typing import Any

from pytest_benchmark.fixture import BenchmarkFixture

from gangsched.bench.cases import AnyCase
from gangsched.bench.outcome import Outcome, Trial

ROUNDS = 5
LIMIT = 10.0
"""Seconds after which a round is stopped; figures per pod are then of the pods handled."""


def run(benchmark: BenchmarkFixture, case: AnyCase) -> None:
    """The group is the case's family; what counts, figures per pod, is in ``extra_info``."""
    outcomes: list[Outcome] = []

    def setup() -> tuple[tuple[Trial], dict[str, Any]]:
        trial = case.trial()
        gc.collect()
        gc.freeze()
        return (trial,), {}

    work: Callable[[Trial], None] = lambda trial: outcomes.append(trial.run(LIMIT))  # noqa: E731
    benchmark.group = case.family
    try:
        benchmark.pedantic(work, setup=setup, rounds=ROUNDS)  # type: ignore[no-untyped-call]
    finally:
        gc.unfreeze()
    benchmark.extra_info.update(
        pods=min(outcome.pods for outcome in outcomes),
        complete=all(outcome.complete for outcome in outcomes),
        us_per_pod=median(outcome.seconds for outcome in outcomes) * 1e6,
        cpu_us_per_pod=median(outcome.cpu_seconds for outcome in outcomes) * 1e6,
    )
