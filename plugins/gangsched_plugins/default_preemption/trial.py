"""Units taken off their nodes in thought and given back, with the cycle states of the preemptor's pods in step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status, error
from gangsched_plugins.default_preemption.units import Unit

SUBJECT = "preemption"
"""Of the steps told to a trace."""


@frozen(eq=False)
class Seat:
    """A pod of the preemptor, the node it is to run on, and the state PreFilter left for it."""

    pod: Pod
    node: NodeInfo
    state: CycleState


@frozen(eq=False)
class Refused:
    """A seat that cannot be had, and why."""

    seat: Seat
    status: Status

    @property
    def text(self) -> str:
        """For a trace."""
        return f"{self.seat.pod.key} on {self.seat.node.name}: {self.status.message}"


def is_local(framework: Framework, state: CycleState) -> bool:
    """Whether every Filter that is asked about the pod looks at one node alone (architecture.md §5)."""
    return all(
        getattr(plugin, "locality", "global") == "node"
        for plugin in framework.filter_plugins
        if plugin.name not in state.skip_filter
    )


class Trial:
    """Changes the snapshot only; the caller rolls it back, to where it was when the trial was made."""

    def __init__(self, framework: Framework, handle: Handle) -> None:
        self._framework = framework
        self._handle = handle
        self.snapshot = handle.snapshot
        self._kept: dict[str, None] = {}  # nodes whose order of pods the undo log has

    def mark(self) -> int:
        """A point to roll back to."""
        return self.snapshot.mark()

    def rollback(self, mark: int) -> None:
        """Undo every step since ``mark``."""
        self.snapshot.rollback(mark)
        self._kept.clear()

    def take(self, unit: Unit, seats: Sequence[Seat]) -> Status | None:
        """Remove the unit's pods; an Error of a plugin that cannot follow, or when one has been removed already."""
        for pod, node in unit.pods:
            if pod.key not in node.pods:  # another unit took it: of trees too deep, units may overlap (spec §5.3)
                return error(f"no corresponding pod {pod.name} in pods of node {node.name}")
            self.snapshot.remove(pod, node.name, keep=node.name not in self._kept)
            self._kept[node.name] = None
            for seat in seats:
                status = self._framework.run_remove_pod(seat.state, seat.pod, pod, node)
                if status is not None:
                    return status
        return None

    def give_back(self, unit: Unit, seats: Sequence[Seat]) -> Status | None:
        """Put the unit's pods back where they were."""
        for pod, node in unit.pods:
            self.snapshot.assume(pod, node.name)
            for seat in seats:
                status = self._framework.run_add_pod(seat.state, seat.pod, pod, node)
                if status is not None:
                    return status
        return None

    def reprieve(self, units: Iterable[Unit], seats: Sequence[Seat], *, anywhere: bool = False) -> list[Unit] | Status:
        """Give units back one by one; those that do not go with the seats are taken again: the victims.

        ``anywhere``: some of them may be on the node of no seat.
        """
        local = anywhere and all(is_local(self._framework, seat.state) for seat in seats)
        victims: list[Unit] = []
        for unit in units:
            concerned = _beside(unit, seats) if local else seats
            broken = self.give_back(unit, concerned)
            refused = self.refusal(concerned) if broken is None else None
            if self._handle.tracing and broken is None:
                self._tell(unit, seats, refused)
            if refused is not None:
                broken = self.take(unit, concerned)
                victims.append(unit)
            if broken is not None:
                return broken
        return victims

    def _tell(self, unit: Unit, seats: Sequence[Seat], refused: Refused | None) -> None:
        """Of units that stay, those beside a seat only."""
        if refused is not None:
            self._handle.trace(SUBJECT, f"{unit.text} goes: {refused.text}")
        elif _beside(unit, seats):
            self._handle.trace(SUBJECT, f"{unit.text} stays")

    def refusal(self, seats: Sequence[Seat]) -> Refused | None:
        """Why the first seat that fails does so, earlier ones taken and later ones free; None when all fit."""
        mark = self.snapshot.mark()
        try:
            for seat in seats:
                status = self._framework.run_filter_with_nominated_pods(seat.state, seat.pod, seat.node)
                if status is not None:
                    return Refused(seat, status)
                self.snapshot.assume(seat.pod, seat.node.name)
        finally:
            self.snapshot.rollback(mark)
        return None


def _beside(unit: Unit, seats: Sequence[Seat]) -> list[Seat]:
    """The seats on a node of the unit."""
    rows = {node.row for _, node in unit.pods}
    return [seat for seat in seats if seat.node.row in rows]
