"""Operations of the queue while 1,000, 10,000 and 100,000 others wait: the cost must not grow."""

from __future__ import annotations

from operator import attrgetter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.running import run
from gangsched.bench.cases import AnyCase, find

CASES = find(["Queue/*"])


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_queue(benchmark: BenchmarkFixture, case: AnyCase) -> None:
    run(benchmark, case)
