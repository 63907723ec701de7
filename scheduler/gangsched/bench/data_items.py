"""Figures in the form of scheduler_perf's result files, which the perf dashboard reads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from gangsched.bench.measure import Figures

_PERCENTILES = (50, 90, 95, 99)


def data_items(measured: Iterable[Figures]) -> dict[str, Any]:
    """``SchedulingThroughput`` of every case. A sample is a round (scheduler_perf's is a second; ours end sooner)."""
    items = [
        {
            "data": _summary(sorted(figures.throughputs)),
            "unit": "pods/s",
            "labels": {"Metric": "SchedulingThroughput", "Name": figures.case},
        }
        for figures in measured
    ]
    return {"version": "v1", "dataItems": items}


def _summary(samples: Sequence[float]) -> dict[str, float]:
    """Average and nearest-rank percentiles of sorted samples."""
    ranks = {f"Perc{p}": samples[math.ceil(len(samples) * p / 100) - 1] for p in _PERCENTILES}
    return {"Average": sum(samples) / len(samples), **ranks}
