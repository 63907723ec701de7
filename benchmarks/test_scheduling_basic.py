"""Like pods on 500 to 15,000 like nodes."""

from __future__ import annotations

from operator import attrgetter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.running import run
from gangsched.bench.cases import AnyCase, find

CASES = find(["SchedulingBasic"])


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_scheduling_basic(benchmark: BenchmarkFixture, case: AnyCase) -> None:
    run(benchmark, case)
