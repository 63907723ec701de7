"""What the algorithm answers: one outcome per tried pod, one result per evaluated group."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.placement import Placement
from gangsched_framework.status import FitError, Status


@define(eq=False)
class PodOutcome:
    """A tried pod. ``status`` None = it found ``node``. ``fit_error`` explains a refusal by nodes.

    ``clear_nomination``: the pod's nomination is dropped with this outcome (spec §4.7.4-5).
    """

    info: QueuedPodInfo
    node: str = ""
    status: Status | None = None
    fit_error: FitError | None = None
    clear_nomination: bool = False
    _state: CycleState | None = field(default=None, alias="state")

    @property
    def state(self) -> CycleState:
        """What plugins keep of the attempt; an empty one is made when somebody asks first."""
        if self._state is None:
            self._state = CycleState()
        return self._state

    @property
    def placed(self) -> bool:
        return self.status is None


_new = object.__new__


def all_placed(infos: Sequence[QueuedPodInfo], nodes: Sequence[str]) -> list[PodOutcome]:
    """The outcomes of the first of ``infos``, each of which found its node; as by a call of the class, which would cost
    twice as much: field by field."""
    outcomes: list[PodOutcome] = []
    for node in nodes:
        outcome = _new(PodOutcome)
        outcome.info = infos[len(outcomes)]
        outcome.node = node
        outcome.status = outcome.fit_error = outcome._state = None
        outcome.clear_nomination = False
        outcomes.append(outcome)
    return outcomes


@define(eq=False)
class GroupResult:
    """An evaluated group: its own status before completion, and what was evaluated below it.

    ``pods`` of a leaf are a prefix of its queued pods (spec §4.5.6). ``any_scheduled``: something below was newly
    placed and still stands. ``placement``: where a group that succeeded was evaluated, None = not kept.
    """

    info: PodGroupInfo
    status: Status
    any_scheduled: bool = False
    pods: list[PodOutcome] = field(factory=list)
    children: list[GroupResult] = field(factory=list)
    placement: Placement | None = None

    @property
    def ok(self) -> bool:
        return self.status.ok

    def by_key(self) -> dict[EntityKey, GroupResult]:
        """Every evaluated group of this subtree."""
        found: dict[EntityKey, GroupResult] = {self.info.key: self}
        for child in self.children:
            found.update(child.by_key())
        return found

    def placed(self) -> list[PodOutcome]:
        """Pods newly placed in leaves whose ancestors (within this subtree) all succeeded, in tree order."""
        if not self.ok:
            return []
        return [p for p in self.pods if p.placed] + [p for child in self.children for p in child.placed()]

    def found(self) -> list[PodOutcome]:
        """Every pod that found a node, those of failed subtrees included, in tree order (spec §5.7)."""
        return [p for p in self.pods if p.placed] + [p for child in self.children for p in child.found()]
