"""The cluster without its lesser units, in thought: unit by unit, or node by node where units are single plain pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from attrs import define, field, frozen

from gangsched_framework.handle import Handle
from gangsched_framework.objects import POD, Pod
from gangsched_framework.status import Status
from gangsched_framework.vacancy import Vacancy
from gangsched_plugins.default_preemption.dry_runs import Climbs, climbs_of, still
from gangsched_plugins.default_preemption.row_memo import RowMemo
from gangsched_plugins.default_preemption.trial import Trial
from gangsched_plugins.default_preemption.units import Unit, UnitFinder


class Emptied(Protocol):
    """Lesser units that can be taken off and put back together."""

    def take_off(self) -> Status | None:
        """Take every unit off its nodes; an Error when that is not possible."""
        ...

    def put_back(self) -> None:
        """Undo ``take_off`` and every tentative step since."""
        ...

    def units(self) -> Sequence[Unit]:
        """Every unit, most important first."""
        ...

    def on(self, rows: Iterable[int]) -> Sequence[Unit]:
        """The units with a pod on one of ``rows``, most important first."""
        ...


@define(eq=False)
class UnitByUnit:
    """Any units."""

    trial: Trial
    _units: Sequence[Unit]
    _mark: int = 0

    def take_off(self) -> Status | None:
        self._mark = self.trial.mark()
        broken = (self.trial.take(unit, ()) for unit in self._units)
        return next((status for status in broken if status is not None), None)

    def put_back(self) -> None:
        self.trial.rollback(self._mark)

    def units(self) -> Sequence[Unit]:
        return self._units

    def on(self, rows: Iterable[int]) -> Sequence[Unit]:
        inside = dict.fromkeys(rows)
        return [unit for unit in self._units if any(node.row in inside for _, node in unit.pods)]


@frozen(eq=False)
class LesserRow:
    """The lesser units on one node, each a pod of its own. ``vacancy`` None: one of them cannot leave with the rest.

    ``climbs``: what the groups of all pods on the node were when this was found.
    """

    units: tuple[Unit, ...]
    vacancy: Vacancy | None
    climbs: Climbs


@define(eq=False)
class NodeByNode:
    """Units that are single pods without host ports and affinity terms."""

    trial: Trial
    _rows: dict[int, LesserRow]
    _vacancies: list[Vacancy] = field(init=False)
    _stood: list[dict[str, Pod]] = field(factory=list)
    _mark: int = 0

    def __attrs_post_init__(self) -> None:
        self._vacancies = [row.vacancy for row in self._rows.values() if row.vacancy is not None]

    def take_off(self) -> Status | None:
        self._mark = self.trial.mark()
        self._stood = self.trial.snapshot.vacate(self._vacancies)
        return None

    def put_back(self) -> None:
        self.trial.rollback(self._mark)
        self.trial.snapshot.reoccupy(self._vacancies, self._stood)

    def units(self) -> Sequence[Unit]:
        return self.on(self._rows)

    def on(self, rows: Iterable[int]) -> Sequence[Unit]:
        found = (unit for row in dict.fromkeys(rows) if row in self._rows for unit in self._rows[row].units)
        return sorted(found, key=lambda unit: unit.rank)


class LesserUnits:
    """Finds the units of less priority in the whole cluster; what stands on untouched nodes is remembered."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._memo: RowMemo[LesserRow] = RowMemo(handle)

    def below(self, priority: int, finder: UnitFinder, trial: Trial) -> Emptied | None:
        """The units below a priority; None when there are none. O(nodes), and the pods of touched nodes."""
        snapshot = self._handle.snapshot
        if not finder.any_below(priority):
            return None
        if not self._handle.oracle and not snapshot.followed:
            rows = self._rows(priority, finder)
            if rows is not None:
                return NodeByNode(trial, rows) if rows else None
        units = finder.everywhere(priority)
        return UnitByUnit(trial, units) if units else None

    def _rows(self, priority: int, finder: UnitFinder) -> dict[int, LesserRow] | None:
        """Nodes with lesser units; None when one of these is not a single plain pod."""
        kept = self._memo.of(priority)
        found: dict[int, LesserRow] = {}
        for row, node in enumerate(self._handle.snapshot.all_nodes):
            known = kept.get(row)
            if known is None or (known.climbs and not still(known.climbs, finder)):
                climbs = climbs_of(node.pods.values(), finder)
                if climbs is None:
                    return None
                units = tuple(finder.on_node(node, priority))
                assert all(unit.key.kind == POD for unit in units)
                vacancy = Vacancy.of(row, (pod for unit in units for pod, _ in unit.pods))
                known = kept[row] = LesserRow(units, vacancy, climbs)
            if known.units:
                if known.vacancy is None:
                    return None
                found[row] = known
        return found

    def restored(self) -> None:
        """All that was taken off stands where it stood."""
        self._memo.unchanged()
