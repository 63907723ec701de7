"""CycleReport: everything one cycle did, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import frozen

from gangsched.engine.decisions import Bind, Decision, RecordEvent, SetCondition, SetGroupCondition
from gangsched.engine.memo import Refusal
from gangsched.engine.trace import TraceStep
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.status import Code, Status
from gangsched_framework.values import value
from gangsched_queue.dormant import Roused


@value
class Refused:
    """The outcome of a pod that found no node, or lost it again.

    ``nominated`` is the node this attempt nominates it to; a nomination it merely keeps is not named. ``plugins`` is
    its rejector set after this attempt.
    """

    status: Status
    nominated: str = ""
    plugins: tuple[str, ...] = ()
    node: ClassVar[None] = None


PodVerdict = Bind | Refused
"""A pod's outcome, told apart by ``node`` or ``status``: one of them is None."""


@value
class GroupVerdict:
    """A group's final status; ``waiting_on_preemption`` when victims are being evicted for its tree."""

    status: Status
    waiting_on_preemption: bool = False


@value
class CycleReport:
    """One scheduling cycle (field meanings: conformance README §4).

    ``time`` in engine nanoseconds. ``root`` (groups only) is the root's status before the post-filter; it decides the
    requeue. ``early``: it failed before the algorithm. ``raw``: code of every evaluated group. ``pods`` in the
    order they were handled. Where the entity stands afterwards says the queue's state.
    """

    cycle: int
    time: int
    entity: EntityKey
    attempt: int
    early: bool = False
    root: Status | None = None
    raw: Mapping[EntityKey, Code] = {}
    groups: Mapping[EntityKey, GroupVerdict] = {}
    pods: Mapping[str, PodVerdict] = {}
    decisions: tuple[Decision, ...] = ()
    trace: tuple[TraceStep, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the cycle changed anything another attempt could see."""
        return any(map(changes, self.decisions))

    def with_decisions(self, decisions: tuple[Decision, ...]) -> CycleReport:
        """This report with other decisions."""
        raw, groups, pods, trace = self.raw, self.groups, self.pods, self.trace  # by position: a fifth of an `evolve`
        number, time, entity, attempt = self.cycle, self.time, self.entity, self.attempt
        return CycleReport(number, time, entity, attempt, self.early, self.root, raw, groups, pods, decisions, trace)


_new = object.__new__
_NO_GROUPS: Mapping[EntityKey, Any] = {}


def report_of_pod(
    cycle: int,
    time: int,
    info: QueuedPodInfo,
    pods: Mapping[str, PodVerdict],
    decisions: tuple[Decision, ...],
    trace: tuple[TraceStep, ...],
) -> CycleReport:
    """What the cycle of a plain pod did; field by field, as every such cycle has one and a call costs twice as much."""
    made: Any = _new(CycleReport)
    report: CycleReport = made
    made.cycle = cycle
    made.time = time
    made.entity = info.key
    made.attempt = info.attempts
    made.early = False
    made.root = None
    made.raw = made.groups = _NO_GROUPS
    made.pods = pods
    made.decisions = decisions
    made.trace = trace
    return report


def changes(decision: Decision) -> bool:
    """Whether a decision changes anything another attempt could see: a binding, a nomination or an eviction."""
    if isinstance(decision, SetCondition):
        return decision.nominated_node is not None
    return not isinstance(decision, RecordEvent) and not isinstance(decision, SetGroupCondition)


@frozen(eq=False)
class MadeUp:
    """Retries of one entity that passed without being carried out: how many, when the last, and how that ended.

    ``serial`` is what ``Scheduler.idle_retries`` counted when the last one had passed.
    """

    entity: EntityKey
    count: int
    last: int
    serial: int
    groups: Mapping[EntityKey, GroupVerdict]
    pods: Mapping[str, PodVerdict]

    @classmethod
    def of(cls, roused: Roused, refusal: Refusal) -> MadeUp:
        """From the queue's record of a tree and the refusal its last retry met."""
        groups = {key: GroupVerdict(status) for key, status in zip(roused.groups, refusal.groups, strict=True)}
        errors = [failure.fit_error for failure in refusal.pods]
        plugins = [() if error is None else tuple(sorted(error.unschedulable_plugins)) for error in errors]
        ends = zip(roused.pods, refusal.pods, plugins, strict=True)
        pods = {pod.key: Refused(failure.status, "", rejectors) for pod, failure, rejectors in ends}
        return cls(roused.key, roused.retries, roused.last, roused.serial, groups, pods)
