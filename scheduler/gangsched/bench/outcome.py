"""What a trial is, and what it comes to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from attrs import define, frozen


@define
class Stopwatch:
    """Adds up wall time and CPU time of the process, in seconds."""

    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu


@frozen
class Outcome:
    """``seconds`` and ``cpu_seconds`` per pod (per operation of a queue case). ``complete``: not stopped by the limit.

    ``bindings``: pod -> node, what two forms of one engine are compared by.
    """

    pods: int
    seconds: float
    cpu_seconds: float
    complete: bool = True
    bindings: Mapping[str, str] = {}


class Trial(Protocol):
    """One run, ready to start; it runs once."""

    def run(self, limit: float | None = None) -> Outcome:
        """Run, and take no further step after ``limit`` seconds."""
        ...
