"""Running a case: rounds, medians, memory, and the oracle beside it."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from pathlib import Path
from statistics import median
from typing import Any

from attrs import frozen

from gangsched.bench.case import Case
from gangsched.bench.cases import AnyCase
from gangsched.bench.outcome import Outcome, Trial
from gangsched.collector import calm_collector

ORACLE_WORK = 40_000
"""Nodes times pods the per-node form is measured on: about a second or two."""

_CLEAR_REFS = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


@frozen
class Figures:
    """Medians over rounds. ``throughputs``: pods per second of every round.

    ``oracle_ratio``: CPU time per pod of the per-node form, measured on the first ``oracle_pods`` pods, by ours;
    ``oracle_agrees``: both place that part alike. None for cases that place nothing.
    """

    case: str
    pods: int
    complete: bool
    pods_per_second: float
    us_per_pod: float
    cpu_us_per_pod: float
    peak_memory_mb: float
    throughputs: tuple[float, ...]
    oracle_ratio: float | None = None
    oracle_pods: int = 0
    oracle_agrees: bool = True

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "case": self.case,
            "pods_per_second": round(self.pods_per_second, 1),
            "us_per_pod": round(self.us_per_pod, 3),
            "cpu_us_per_pod": round(self.cpu_us_per_pod, 3),
            "peak_memory_mb": round(self.peak_memory_mb, 1),
            "oracle_ratio": None if self.oracle_ratio is None else round(self.oracle_ratio, 2),
            "oracle_pods": self.oracle_pods,
            "oracle_agrees": self.oracle_agrees,
            "pods": self.pods,
            "complete": self.complete,
        }


def measure(case: AnyCase, *, rounds: int = 3, limit: float | None = None, oracle_work: int = ORACLE_WORK) -> Figures:
    """Run ``case`` ``rounds`` times, each stopped after ``limit`` seconds, then the oracle on a part of it."""
    _forget_peak()
    outcomes = [_run(case.trial(), limit) for _ in range(rounds)]
    memory = _peak_mb()
    seconds = median(outcome.seconds for outcome in outcomes)
    cpu = median(outcome.cpu_seconds for outcome in outcomes)
    ratio, pods, agrees = None, 0, True
    if isinstance(case, Case):
        ours, theirs = _beside(case, oracle_work)
        ratio, pods, agrees = theirs.cpu_seconds / cpu, theirs.pods, ours.bindings == theirs.bindings
    return Figures(
        case=case.name,
        pods=min(outcome.pods for outcome in outcomes),
        complete=all(outcome.complete for outcome in outcomes),
        pods_per_second=1 / seconds,
        us_per_pod=seconds * 1e6,
        cpu_us_per_pod=cpu * 1e6,
        peak_memory_mb=memory,
        throughputs=tuple(1 / outcome.seconds for outcome in outcomes),
        oracle_ratio=ratio,
        oracle_pods=pods,
        oracle_agrees=agrees,
    )


def _beside(case: Case, work: int) -> tuple[Outcome, Outcome]:
    """A part of the case by columns and by the per-node form."""
    part = case.sized(case.sizes.with_pods(max(1, work // case.sizes.nodes)))
    return _run(part.trial(), None), _run(part.trial(oracle=True), None)


def _run(trial: Trial, limit: float | None) -> Outcome:
    with calm_collector():
        return trial.run(limit)


def _forget_peak() -> None:
    """Let the peak of the process begin here, where the system can do that (Linux)."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc keeps freed memory, which would count as ours
    if trim is not None:
        trim(0)
    if _CLEAR_REFS.exists():
        _CLEAR_REFS.write_text("5")


def _peak_mb() -> float:
    """Peak of resident memory in MB, since ``_forget_peak`` where that works, else since the process began."""
    if _STATUS.exists():
        (line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
