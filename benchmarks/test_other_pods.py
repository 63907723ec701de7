"""Filters and scores that look at other pods: zone spread, anti-affinity."""

from __future__ import annotations

from operator import attrgetter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.running import run
from gangsched.bench.cases import AnyCase, find

CASES = find(["TopologySpreading", "PreferredTopologySpreading", "SchedulingPodAntiAffinity"])


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_other_pods(benchmark: BenchmarkFixture, case: AnyCase) -> None:
    run(benchmark, case)
