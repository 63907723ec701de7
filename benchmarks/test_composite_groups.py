"""Trees of gangs, and trees that are taken back whole."""

from __future__ import annotations

from operator import attrgetter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.running import run
from gangsched.bench.cases import AnyCase, find

CASES = find(["CPGGang", "CPGRollback"])


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_composite_groups(benchmark: BenchmarkFixture, case: AnyCase) -> None:
    run(benchmark, case)
