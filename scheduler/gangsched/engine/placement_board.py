"""What the candidate placements of a kind of group came to, kept while their nodes are untouched (spec §6.3-§6.5).

A simulation inside a placement depends on the group and on the placement's nodes alone, as long as every plugin that is
asked says so; only placements with touched nodes are simulated again. Exact: a kind tells apart whatever a simulation
reads of a group, and a kept result names no object of the group it was found for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from operator import add

from attrs import define, field

from gangsched.engine.column_search import ColumnSearch
from gangsched.engine.columns import alike
from gangsched.engine.planned_run import PlannedRun
from gangsched.engine.results import GroupResult, PodOutcome
from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework.cycle_state import PodGroupCycleState
from gangsched_framework.framework import Framework
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.placement import Placement
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.status import SUCCESS, Code, FitError, Status
from gangsched_framework.values import value

MAX_BOARDS = 256
_LEAST_PERCENTAGE = 5

Leaves = Mapping[EntityKey, Sequence[QueuedPodInfo]]
Kind = tuple[object, ...]
Steps = Sequence[tuple[int, str]]
"""Reservations in order: position of the pod among the queued pods of the group, node."""


def wanted_placements(framework: Framework, placements: Sequence[Placement]) -> int:
    """How many feasible placements are scored: the first ones in the order of candidates (spec §6.8, KEP-5732)."""
    percentage = framework.profile.percentage_of_placements_to_score
    if percentage == 0:  # adaptive: all in small clusters, a tenth at 5,000 nodes
        nodes = sum(len(placement.rows or ()) for placement in placements)
        percentage = max(_LEAST_PERCENTAGE, 100 - 9 * nodes // 500)
    return max(1, len(placements) * percentage // 100)


@value(eq=False)
class Recipe:
    """A ``GroupResult`` by positions: ``pods`` as (node, status, fit error) of the first queued pods of a leaf."""

    status: Status
    any_scheduled: bool
    pods: tuple[tuple[str, Status | None, FitError | None, bool], ...]
    children: tuple[Recipe, ...]

    @classmethod
    def of(cls, result: GroupResult) -> Recipe:
        pods = tuple((p.node, p.status, p.fit_error, p.clear_nomination) for p in result.pods)
        return cls(result.status, result.any_scheduled, pods, tuple(cls.of(child) for child in result.children))

    def result(self, info: PodGroupInfo, leaves: Leaves) -> GroupResult:
        """The same for another group of the kind; a status is shared with no other group (spec §4.9.2)."""
        old = self.status
        status = old if old is SUCCESS else Status(old.code, old.reasons, old.plugin)
        queued = leaves.get(info.key, ()) if self.pods else ()
        pods = [
            PodOutcome(pod, node, refusal, fit_error, cleared)
            for pod, (node, refusal, fit_error, cleared) in zip(queued, self.pods, strict=False)
        ]
        children = [child.result(below, leaves) for child, below in zip(self.children, info.children, strict=False)]
        return GroupResult(info, status, self.any_scheduled, pods, children)


@value(eq=False)
class Simulated:
    """A simulation inside one placement. ``placed``: the newly placed pods of successful leaves."""

    recipe: Recipe
    steps: Steps
    placed: Sequence[Pod]


Simulate = Callable[[Placement, PlannedRun], Simulated]
"""Evaluates the group inside a placement, whose run goes with it, and leaves nothing behind."""


@define(eq=False)
class Board:
    """The placements of one kind of group, by number.

    ``wanted``: how many feasible ones are scored. ``column``: of the queued pods, when the group is a leaf and they are
    of one kind. ``feasible``: the placements that take the group; ``raw``: for each scorer their raw scores;
    ``broken``: the placements that end in an Error.
    """

    placements: tuple[Placement, ...]
    index_of: Mapping[int, int]
    wanted: int
    column: SignatureColumn | None
    recipes: list[Recipe | None]
    steps: list[Steps]
    raw: list[list[int]]
    feasible: list[int] = field(factory=list)
    broken: list[int] = field(factory=list)
    plannable: bool | None = None
    """Whether its pods may be placed by a plan: all are to be tried, and then it has its minimum. None = not asked."""
    weighed: list[tuple[list[int], list[int]]] = field(factory=list)
    """For each scorer the raw scores that were weighed last, and what they came to."""
    _runs: dict[int, PlannedRun] = field(factory=dict)
    _log: list[int] | None = None
    _position: int = 0

    def result(self, number: int, group: PodGroupInfo, leaves: Leaves) -> GroupResult:
        """The result of one placement, for another group of the kind."""
        recipe = self.recipes[number]
        assert recipe is not None
        return recipe.result(group, leaves)

    def refresh(self, framework: Framework, group: PodGroupInfo, table: NodeTable, simulate: Simulate) -> None:
        """Simulate what is stale; the log has grown by what the simulations touched and took back."""
        log = table.touched
        if log is not self._log or self._position > len(log):
            self._runs = {number: PlannedRun() for number in range(len(self.placements))}
            self._simulate(framework, group, range(len(self.placements)), simulate)
        elif self._position < len(log):
            touched: dict[int, list[int]] = {}
            for row in log[self._position :]:
                number = self.index_of.get(row, -1)
                if number >= 0:
                    touched.setdefault(number, []).append(row)
            for number, rows in touched.items():
                self._runs[number].goes_on(rows, table)
            self._simulate(framework, group, sorted(touched), simulate)
        self._log, self._position = log, len(log)

    def take(self, number: int, pods: Sequence[Pod], rows: Sequence[int]) -> None:
        """The group goes to a placement as it was simulated: its pods, and their rows."""
        self._runs[number].take([(pod.key, row) for pod, row in zip(pods, rows, strict=True)])

    def _simulate(self, framework: Framework, group: PodGroupInfo, stale: Sequence[int], simulate: Simulate) -> None:
        for number in stale:
            simulated = simulate(self.placements[number], self._runs[number])
            old, self.recipes[number] = self.recipes[number], simulated.recipe
            self.steps[number] = simulated.steps
            status = simulated.recipe.status
            if old is None or old.status.code is not status.code:
                _sort_in(number, status.ok, self.feasible, self.raw)
                _sort_in(number, status.code is Code.ERROR, self.broken, ())
            if status.ok:
                at = bisect_left(self.feasible, number)
                for scores, (plugin, _) in zip(self.raw, framework.placement_scorers, strict=True):
                    scores[at] = plugin.score_pods(group, self.placements[number], simulated.placed)

    def best(self, framework: Framework, state: PodGroupCycleState) -> int | Status:
        """Number of the feasible placement with the highest total, the first among equals; there must be one."""
        totals: list[int] = []
        for at, scores in enumerate(self.raw if len(self.feasible) > 1 else ()):
            raw = scores[: self.wanted]
            if raw != self.weighed[at][0]:
                weighed = framework.weigh_placement_score(at, state, raw.copy())
                if isinstance(weighed, Status):
                    return weighed
                self.weighed[at] = (raw, weighed)
            totals = list(map(add, totals, self.weighed[at][1])) if totals else self.weighed[at][1]
        return self.feasible[totals.index(max(totals)) if totals else 0]

    def _check(self) -> None:
        """Assert that the lists by number say what the results say (tests only)."""
        codes = [recipe.status.code if recipe is not None else None for recipe in self.recipes]
        for numbers, code in ((self.feasible, Code.SUCCESS), (self.broken, Code.ERROR)):
            assert numbers == [number for number, each in enumerate(codes) if each is code]
        assert all(len(scores) == len(self.feasible) for scores in self.raw)
        assert all(len(raw) == len(weighed) <= self.wanted for raw, weighed in self.weighed)


def _sort_in(number: int, belongs: bool, numbers: list[int], scores: Sequence[list[int]]) -> None:
    """Take the number of a placement into a sorted list, or out of it, with its place in lists of scores."""
    at = bisect_left(numbers, number)
    known = at < len(numbers) and numbers[at] == number
    if belongs and not known:
        numbers.insert(at, number)
        for each in scores:
            each.insert(at, 0)
    elif known and not belongs:
        del numbers[at]
        for each in scores:
            del each[at]


@define(eq=False)
class PlacementBoards:
    """The boards of the kinds of groups met last."""

    snapshot: Snapshot
    search: ColumnSearch
    _boards: OrderedDict[tuple[Kind, int], Board] = field(factory=OrderedDict)
    _indices: dict[int, tuple[tuple[Placement, ...], Mapping[int, int] | None]] = field(factory=dict)
    _classes: NodeClasses | None = None

    def get(
        self, framework: Framework, group: PodGroupInfo, placements: tuple[Placement, ...], leaves: Leaves
    ) -> Board | None:
        """The board of the group's kind over these placements; None when results must not be kept."""
        if not framework.keeps_to_placements:
            return None
        if self._classes is not self.snapshot.table.classes:
            self._classes = self.snapshot.table.classes
            self._boards.clear()
            self._indices.clear()
        index_of, kind = self._index(placements), self._kind(framework, group, leaves, True)
        if index_of is None or kind is None:
            return None
        key = (kind, id(placements))
        board = self._boards.get(key)
        if board is None:
            count, scorers = len(placements), range(len(framework.placement_scorers))
            board = self._boards[key] = Board(
                placements,
                index_of,
                wanted_placements(framework, placements),
                self._only_column(framework, group, leaves),
                [None] * count,
                [()] * count,
                [[] for _ in scorers],
                weighed=[([], []) for _ in scorers],
            )
            if len(self._boards) > MAX_BOARDS:
                self._boards.popitem(last=False)
        self._boards.move_to_end(key)
        return board

    def _check(self) -> None:
        for board in self._boards.values():
            board._check()

    def _index(self, placements: tuple[Placement, ...]) -> Mapping[int, int] | None:
        """Row -> number of its placement; None unless every placement has rows of its own."""
        known = self._indices.get(id(placements))
        if known is None or known[0] is not placements:
            rows = [(row, number) for number, each in enumerate(placements) for row in each.rows or ()]
            index = dict(rows)
            apart = len(index) == len(rows) and all(each.rows for each in placements)
            if len(self._indices) >= MAX_BOARDS:
                self._boards.clear()
                self._indices.clear()
            known = self._indices[id(placements)] = (placements, index if apart else None)
        return known[1]

    def _kind(self, framework: Framework, info: PodGroupInfo, leaves: Leaves, top: bool) -> Kind | None:
        """What a simulation reads of a group; None when it may read more."""
        group = info.group
        inside = "" if top else group.topology_key  # its own placements are found already
        if info.is_leaf:
            scheduled = self.snapshot.scheduled(info.key)
            runs = self._runs(framework, [queued.pod for queued in leaves.get(info.key, ())])
            if runs is None or (scheduled and inside):
                return None
            return (group.required, inside, scheduled, *runs)
        children = [self._kind(framework, child, leaves, False) for child in info.children]
        if None in children:
            return None
        return (group.required, inside, "composite", *children)

    def _column(self, framework: Framework, pod: Pod) -> SignatureColumn | None:
        """The column of a pod's kind; None when a simulation reads more of the pod than that."""
        column = self.search.cache.of(framework, pod)
        if column is None or column.particular or not column.local or pod.priority <= self.search.nominations.highest:
            return None
        return column

    def _only_column(self, framework: Framework, group: PodGroupInfo, leaves: Leaves) -> SignatureColumn | None:
        pods = [queued.pod for queued in leaves.get(group.key, ())] if group.is_leaf else ()
        runs = self._runs(framework, pods)
        return runs[0][0] if runs and len(runs) == 1 else None

    def _runs(self, framework: Framework, pods: Sequence[Pod]) -> list[tuple[SignatureColumn, int]] | None:
        """The kinds of the pods in order, as (their column, how many in a row); None when a pod may read more."""
        runs: list[tuple[SignatureColumn, int]] = []
        last, column = None, None
        for pod in pods:
            status = pod.status  # a pod being resized counts on its node something else than it asks for
            if status.nominated_node_name or status.allocated:
                return None
            if last is None or not alike(pod, last) or pod.priority != last.priority:
                last, column = pod, self._column(framework, pod)
            if column is None:
                return None
            if runs and runs[-1][0] is column:
                runs[-1] = (column, runs[-1][1] + 1)
            else:
                runs.append((column, 1))
        return runs
