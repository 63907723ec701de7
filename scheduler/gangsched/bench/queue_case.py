"""A micro-case of the queue: one kind of operation, repeated while ``n`` other things wait."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen

from gangsched.api import plugin_registry
from gangsched.bench.outcome import Outcome, Stopwatch
from gangsched.bench.tiers import profile_of
from gangsched.engine.scheduler import Scheduler

REPEATS = 1000
"""Operations timed, at most; fewer when fewer things wait."""

Work = Callable[[], int]
"""The timed part; answers how many operations it did."""


@frozen
class Operation:
    """``prepare`` fills a core with ``n`` waiting things and gives the timed part. ``tiers``: of fair sharing."""

    name: str
    about: str
    prepare: Callable[[Scheduler, int], Work]
    tiers: tuple[str, ...] = ()


@frozen
class QueueCase:
    """One operation at one size."""

    operation: Operation
    n: int

    @property
    def family(self) -> str:
        """``Queue/AddPod``."""
        return f"Queue/{self.operation.name}"

    @property
    def name(self) -> str:
        """``Queue/AddPod/10000``."""
        return f"{self.family}/{self.n}"

    @property
    def about(self) -> str:
        return self.operation.about

    def scaled(self, share: float) -> QueueCase:
        """The case among fewer things."""
        return evolve(self, n=max(1, int(self.n * share)))

    def trial(self) -> QueueTrial:
        """A run, prepared up to the moment the clock starts."""
        return QueueTrial(self)


class QueueTrial:
    """A core of the default plugins, filled; its queue is asked directly."""

    def __init__(self, case: QueueCase) -> None:
        registry = plugin_registry()
        config = profile_of(case.operation.tiers, registry)
        core = Scheduler(config.profiles, registry, feature_gates=config.gates)
        self._work = case.operation.prepare(core, case.n)

    def run(self, limit: float | None = None) -> Outcome:
        """Figures per operation; the limit is not needed."""
        watch = Stopwatch()
        with watch.running():
            operations = self._work()
        return Outcome(operations, watch.wall / operations, watch.cpu / operations)
