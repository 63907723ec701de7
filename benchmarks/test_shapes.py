"""Pods of many shapes, and scores that are normalised."""

from __future__ import annotations

from operator import attrgetter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.running import run
from gangsched.bench.cases import AnyCase, find

CASES = find(["MixedShapes", "DistinctShapes", "TaintsAndPreferredAffinity"])


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_shapes(benchmark: BenchmarkFixture, case: AnyCase) -> None:
    run(benchmark, case)
