"""Preemption for a whole tree: empty the cluster in thought, place the tree, spare who may stay (spec §5.1-5.4)."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_framework.framework import Framework
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PoppedPodGroupInfo
from gangsched_framework.interface import PodGroupPostFilterResult, RootAttempt, SchedulingFunction
from gangsched_framework.status import Code, Status, error, unresolvable, unschedulable
from gangsched_plugins.default_preemption.disruption import Budgets
from gangsched_plugins.default_preemption.emptied import Emptied, LesserUnits
from gangsched_plugins.default_preemption.trial import SUBJECT, Seat, Trial, is_local
from gangsched_plugins.default_preemption.units import Unit, UnitFinder, pods_of, terminating_by_preemption

PREFIX = "pod group preemption: "
_NO_VICTIMS = unresolvable(f"{PREFIX}No preemption victims found for incoming preemptor")
_MOST_NAMES = 12

Answer = tuple[PodGroupPostFilterResult | None, Status]


class GroupPreemption:
    """One attempt for one root. ``policy_gate``: the root's preemption policy counts instead of its pods'."""

    def __init__(
        self,
        handle: Handle,
        framework: Framework,
        root: PoppedPodGroupInfo,
        lesser: LesserUnits,
        *,
        policy_gate: bool,
    ) -> None:
        self._handle = handle
        self._snapshot = handle.snapshot
        self._framework = framework
        self._root = root
        self._lesser = lesser
        self._policy_gate = policy_gate
        self._trial = Trial(framework, handle)
        self._units = UnitFinder(handle.forest, handle.snapshot)

    def run(self, schedule: SchedulingFunction) -> Answer:
        """Nominations of every pod of the found assignment, and the victims that cannot stay beside it."""
        lost = self._units.lost(self._snapshot.all_nodes)
        if lost is not None:
            return None, error(f"{PREFIX}failed to create domain: {lost.message}")
        if self._never():
            return None, unschedulable(f"{PREFIX}not eligible due to preemptionPolicy=Never.")
        if self._ongoing():
            return self._keep_nominations()
        emptied = self._lesser.below(self._root.priority, self._units, self._trial)
        if emptied is None:
            return None, _NO_VICTIMS
        if self._handle.tracing:
            self._tell_units("taken off in thought", emptied.units())
        try:
            broken = emptied.take_off()
            if broken is not None:
                return None, error(PREFIX + broken.message)
            attempt = schedule()
            if not attempt.status.ok:
                return None, Status(attempt.status.code, (PREFIX + attempt.status.message,))
            victims = self._reprieve(emptied, self._seats(attempt))
        finally:
            emptied.put_back()
            self._lesser.restored()
        if isinstance(victims, Status):
            return None, error(PREFIX + victims.message)
        nominations = {assignment.pod.key: assignment.node_name for assignment in attempt.assignments}
        evicted = pods_of(victims)
        text = f"{PREFIX}found a placement for podgroup, preempting {len(evicted)} victims"
        return PodGroupPostFilterResult(nominations, evicted), Status(Code.SUCCESS, (text,))

    # --- eligibility (spec §5.1) ------------------------------------------------------------------------------------

    def _never(self) -> bool:
        if self._policy_gate:
            return self._root.tree.group.preemption_policy == "Never"
        return any(info.pod.preemption_policy == "Never" for info in self._root.members())

    def _ongoing(self) -> bool:
        """Whether a nominated node of a member is still being emptied."""
        names = dict.fromkeys(info.pod.status.nominated_node_name for info in self._root.members())
        nodes = (self._snapshot.node(name) for name in names if name)
        return any(
            terminating_by_preemption(pod) and self._units.priority(pod) < self._root.priority
            for node in nodes
            if node is not None
            for pod in node.pods.values()
        )

    def _keep_nominations(self) -> Answer:
        pods = [info.pod for info in self._root.members()]
        kept = {pod.key: pod.status.nominated_node_name for pod in pods if pod.status.nominated_node_name}
        text = f"{PREFIX}ongoing preemption on nominated nodes"
        return PodGroupPostFilterResult(kept), Status(Code.SUCCESS, (text,))

    # --- reprieve (spec §5.2.3-4) -----------------------------------------------------------------------------------

    def _seats(self, attempt: RootAttempt) -> list[Seat]:
        """The found assignment, which stays fixed, in its order."""
        seats: list[Seat] = []
        for assignment, state in zip(attempt.assignments, attempt.states, strict=True):
            node = self._snapshot.node(assignment.node_name)
            assert node is not None
            seats.append(Seat(assignment.pod, node, state.clone()))
        return seats

    def _reprieve(self, emptied: Emptied, seats: Sequence[Seat]) -> list[Unit] | Status:
        """The units the assignment cannot live with, after all others got their places back."""
        budgets = Budgets(self._handle.disruption_budgets)
        local = all(is_local(self._framework, seat.state) for seat in seats)
        if local and self._trial.refusal(seats) is not None:
            # pods of a leaf that failed may have been promised the same room (spec §5.7): beside them nobody fits
            return list(emptied.units())
        beside = emptied.on(seat.node.row for seat in seats)
        # where nobody looks further than one node, units beside no seat may stay for sure
        units = beside if local and not self._handle.oracle else emptied.units()
        if budgets.any:
            looked_at = {unit.key: None for unit in units}
            parts = budgets.split(emptied.units())
            violating, others = ([unit for unit in part if unit.key in looked_at] for part in parts)
            units = (*violating, *others)
            near = {unit.key: None for unit in beside}
            self._tell_units("given back first, as a budget would be broken", [u for u in violating if u.key in near])
        victims = self._trial.reprieve(units, seats, anywhere=True)
        if self._handle.tracing and not isinstance(victims, Status):
            known = {unit.key: None for unit in (*beside, *victims)}
            count = sum(unit.key not in known for unit in emptied.units())
            self._handle.trace(SUBJECT, f"units that stay, on no node of the assignment: {count}")
        return victims

    def _tell_units(self, what: str, units: Sequence[Unit]) -> None:
        """Name units in the trace, the first ones of many."""
        if self._handle.tracing and units:
            more = f" and {len(units) - _MOST_NAMES} more" if len(units) > _MOST_NAMES else ""
            self._handle.trace(SUBJECT, f"{what}: {', '.join(unit.text for unit in units[:_MOST_NAMES])}{more}")
