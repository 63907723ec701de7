"""Gangs: many small ones, few large ones, and gangs that must stand in one rack."""

from __future__ import annotations

from operator import attrgetter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.running import run
from gangsched.bench.cases import AnyCase, find

CASES = find(["GangScheduling", "TopologyAwareScheduling"])


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_gang_scheduling(benchmark: BenchmarkFixture, case: AnyCase) -> None:
    run(benchmark, case)
