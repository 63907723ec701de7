"""A cycle in the hands of a host, who walks it stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

from attrs import define

from gangsched.engine.group_cycle import GroupCycle
from gangsched.engine.handle import EngineHandle
from gangsched.engine.pod_algorithm import PodAlgorithm
from gangsched.engine.pod_cycle import PodCycle
from gangsched.engine.report import CycleReport
from gangsched.engine.trace import Tracer, TraceStep
from gangsched.engine.world import World
from gangsched_framework.errors import GangschedError
from gangsched_framework.infos import PoppedEntity, PoppedPodGroupInfo, QueuedPodInfo

T = TypeVar("T")
AnyCycle = PodCycle | GroupCycle
CYCLES: Mapping[type, Callable[..., AnyCycle]] = {QueuedPodInfo: PodCycle, PoppedPodGroupInfo: GroupCycle}
"""What is popped -> the straight line it goes; made of tools, the entity, the cycle's number and time."""
Stage = Literal["popped", "decided", "submitted", "broken off"]


@define(eq=False)
class Cycle:
    """``decide``, then ``submit``, each once; events may arrive before and between. Else raises GangschedError.

    Whatever is raised inside breaks the cycle off, and ends its core.
    """

    _cycle: AnyCycle
    _world: World
    _give_up: Callable[[BaseException], None]
    _stage: Stage = "popped"

    @property
    def entity(self) -> PoppedEntity:
        """What was popped."""
        return self._cycle.entity

    @property
    def open(self) -> bool:
        """Whether it waits for its next stage: no other cycle may begin before."""
        return self._stage in ("popped", "decided")

    def __str__(self) -> str:
        return f"the cycle of {self._cycle.entity.key} is {self._stage}"

    def decide(self) -> bool:
        """Snapshot to algorithm. False when the cycle ends early; it is submitted all the same."""
        decided = self._walk("decide", "popped", "decided", self._cycle.decide)
        if self._cycle.holds:
            self._world.hold()  # its submit lets go
        return decided

    def submit(self) -> CycleReport:
        """Post-filter, completion, decisions, back to the queue."""
        return self._walk("submit", "decided", "submitted", self._cycle.submit)

    def _walk(self, call: str, at: Stage, then: Stage, step: Callable[[], T]) -> T:
        if self._stage != at:
            raise GangschedError(f"{call}: {self}, allowed {at}")
        self._stage = "broken off"
        try:
            done = step()
        except BaseException as problem:
            self._give_up(problem)
            raise
        self._stage = then
        return done


def rehearse(cycle: AnyCycle, tracer: Tracer, handle: EngineHandle, algorithm: PodAlgorithm) -> tuple[TraceStep, ...]:
    """Every step of the cycle up to the submit, traced; nothing of it stays."""
    traced, start = tracer.on, algorithm.next_start
    tracer.on = handle.rehearsal = True
    try:
        cycle.rehearse()
    finally:
        tracer.on, handle.rehearsal, algorithm.next_start = traced, False, start
    return tracer.take()
