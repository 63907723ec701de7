"""Pods that find no place, and those that make room."""

from __future__ import annotations

from operator import attrgetter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.running import run
from gangsched.bench.cases import AnyCase, find

CASES = find(["Unschedulable", "FitsNowhere", "PreemptionBasic"])


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_refusals(benchmark: BenchmarkFixture, case: AnyCase) -> None:
    run(benchmark, case)
