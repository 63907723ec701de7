"""Pods that come and go."""

from __future__ import annotations

from operator import attrgetter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.running import run
from gangsched.bench.cases import AnyCase, find

CASES = find(["Churn"])


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_churn(benchmark: BenchmarkFixture, case: AnyCase) -> None:
    run(benchmark, case)
