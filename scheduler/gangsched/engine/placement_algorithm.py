"""Choosing among the placements of one group (spec podgroup-scheduling.md §6.3-§6.6, §6.10).

``best_placement`` receives the function that evaluates the group inside one placement, so the recursion over the tree
needs no import circle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from gangsched.engine.placement_board import Board, Leaves, Recipe, Simulated
from gangsched.engine.planned_run import PlannedRun
from gangsched.engine.results import GroupResult
from gangsched.engine.session import Session
from gangsched_framework.cycle_state import PlacementCycleState, PodGroupCycleState
from gangsched_framework.framework import Framework
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Assignment, Placement, Progress
from gangsched_framework.status import SUCCESS, Code, Status, unschedulable

GROUP_UNSCHEDULABLE = "pod group is unschedulable"

_LEAST_PERCENTAGE = 5

Evaluate = Callable[[PodGroupInfo, PlacementCycleState], GroupResult]


@frozen
class Tried:
    """A placement that was simulated, with the reservations it would make."""

    placement: Placement
    state: PlacementCycleState
    result: GroupResult
    steps: tuple[tuple[Pod, str], ...]


def best_placement(
    session: Session,
    group: PodGroupInfo,
    state: PodGroupCycleState,
    leaves: Leaves,
    evaluate: Evaluate,
    *,
    remembers: bool,
) -> GroupResult:
    """Evaluate the group in every candidate placement; the reservations of the best one stay, nothing of the others.

    ``remembers``: simulations may be kept for later groups, and taken from earlier ones.
    """
    parent = session.snapshot.placement
    placements, status = session.framework.run_generate_placements(state, group, parent)
    if status is not None:
        return GroupResult(group, status)
    if not placements:
        return GroupResult(group, unschedulable("no feasible placements found"))
    if len(placements) == 1:
        return _only(session, group, state, placements[0], evaluate)
    boards = session.algorithm.boards
    board = None
    if boards is not None and remembers and not session.trace.on and not session.prepare:
        board = boards.get(session.framework, group, placements, leaves)
    if board is not None:
        return _best_of_board(session, group, state, leaves, evaluate, board)
    return _best_of_all(session, group, state, placements, evaluate)


def _wanted(framework: Framework, placements: Sequence[Placement]) -> int:
    """How many feasible placements are scored: the first ones in the order of candidates (spec §6.8, KEP-5732)."""
    percentage = framework.profile.percentage_of_placements_to_score
    if percentage == 0:  # adaptive: all in small clusters, a tenth at 5,000 nodes
        nodes = sum(len(placement.rows or ()) for placement in placements)
        percentage = max(_LEAST_PERCENTAGE, 100 - 9 * nodes // 500)
    return max(1, len(placements) * percentage // 100)


def _best_of_all(
    session: Session,
    group: PodGroupInfo,
    state: PodGroupCycleState,
    placements: Sequence[Placement],
    evaluate: Evaluate,
) -> GroupResult:
    tried: list[Tried] = []
    first: GroupResult | None = None
    wanted = _wanted(session.framework, placements)
    for placement in placements:
        if len(tried) == wanted:
            break
        attempt = _simulate(session, group, state, placement, evaluate)
        if attempt.result.status.code is Code.ERROR:
            return attempt.result
        first = first or attempt.result
        if attempt.result.ok:
            tried.append(attempt)
    if not tried:
        assert first is not None
        return _infeasible(first, len(placements))
    return _choose(session, group, state, tried)


def _best_of_board(
    session: Session, group: PodGroupInfo, state: PodGroupCycleState, leaves: Leaves, evaluate: Evaluate, board: Board
) -> GroupResult:
    """The same from a board: only the placements whose nodes were touched are simulated."""

    framework, snapshot = session.framework, session.snapshot
    infos = [info for leaf in group.leaves() for info in leaves.get(leaf.key, ())]

    def simulate(placement: Placement, run: PlannedRun) -> Simulated:
        planned = _plan(session, group, state, placement, infos, run) if board.alike else None
        if planned is not None:
            return planned
        attempt = _simulate(session, group, state, placement, evaluate)
        position = {info.pod.key: at for at, info in enumerate(infos)}
        steps = [(position[pod.key], node) for pod, node in attempt.steps]
        return Simulated(Recipe.of(attempt.result), steps, [p.info.pod for p in attempt.result.placed()])

    board.refresh(framework, group, snapshot.table, simulate)
    wanted = _wanted(framework, board.placements)
    feasible = board.feasible[:wanted]
    if board.broken and (len(feasible) < wanted or board.broken[0] < feasible[-1]):
        return board.result(board.broken[0], group, leaves)
    if not feasible:
        return _infeasible(board.result(0, group, leaves), len(board.placements))
    best = feasible[0]
    if len(feasible) > 1 and board.raw:
        everywhere = len(feasible) == len(board.placements)
        raw = [scores.copy() if everywhere else [scores[index] for index in feasible] for scores in board.raw]
        totals = framework.weigh_placement_scores(state, raw)
        if isinstance(totals, Status):
            return GroupResult(group, totals)
        best = feasible[totals.index(max(totals))]
    for position, node in board.steps[best]:
        snapshot.assume(infos[position].pod, node)
    if board.alike:
        row_of = snapshot.table.row_of
        board.take(best, [(infos[position].pod.key, row_of[node]) for position, node in board.steps[best]])
    return board.result(best, group, leaves)


def _plan(
    session: Session,
    group: PodGroupInfo,
    state: PodGroupCycleState,
    placement: Placement,
    infos: Sequence[QueuedPodInfo],
    run: PlannedRun,
) -> Simulated | None:
    """The simulation of a leaf of like pods, in which each finds a node, without trying them one by one."""
    framework, snapshot, search = session.framework, session.snapshot, session.algorithm.columns
    count, scheduled = len(infos), snapshot.scheduled(group.key)
    if search is None:
        return None
    inside = PlacementCycleState(state)
    first = framework.run_placement_feasible(inside, group, Progress(count, scheduled))
    last = framework.run_placement_feasible(inside, group, Progress(0, scheduled + count))
    column = search.cache.of(framework, infos[0].pod)
    if column is None or last is not None or (first is not None and first.code is not Code.WAIT):
        return None
    pods = [info.pod for info in infos]
    rows = run.next(column, pods, placement.array)
    if rows is None or len(rows) < count:
        return None
    nodes = [snapshot.table.names[row] for row in rows]
    recipe = Recipe(SUCCESS, any_scheduled=True, pods=tuple((node, None, None, False) for node in nodes), children=())
    return Simulated(recipe, list(enumerate(nodes)), pods)


def _only(
    session: Session, group: PodGroupInfo, state: PodGroupCycleState, placement: Placement, evaluate: Evaluate
) -> GroupResult:
    previous = session.snapshot.enter(placement)
    session.trace.add("placement", group.key, placement.name)
    result = evaluate(group, PlacementCycleState(state))
    result.placement = placement
    session.snapshot.enter(previous)
    return result if result.ok or result.status.code is Code.ERROR else _infeasible(result, 1)


def _simulate(
    session: Session, group: PodGroupInfo, state: PodGroupCycleState, placement: Placement, evaluate: Evaluate
) -> Tried:
    snapshot = session.snapshot
    mark = session.mark()
    previous = snapshot.enter(placement)
    session.trace.add("placement", group.key, placement.name)
    placement_state = PlacementCycleState(state)
    result = evaluate(group, placement_state)
    result.placement = placement
    steps = tuple(snapshot.steps_since(mark))
    session.revert(mark)
    snapshot.enter(previous)
    return Tried(placement, placement_state, result, steps)


def _infeasible(first: GroupResult, count: int) -> GroupResult:
    """Built anew with the first reason of the first placement's own status only (spec §4.5.1, §6.4)."""
    reason = first.status.reasons[0] if first.status.reasons else ""
    status = Status(
        Code.UNSCHEDULABLE,
        (GROUP_UNSCHEDULABLE, f"0/{count} placements are available, first placement status: {reason}"),
    )
    return GroupResult(first.info, status, pods=first.pods, children=first.children)


def _choose(session: Session, group: PodGroupInfo, state: PodGroupCycleState, tried: list[Tried]) -> GroupResult:
    best = tried[0]  # also where nothing scores
    if len(tried) > 1 and session.framework.placement_scorers:
        candidates = [
            (t.state, t.placement, tuple(Assignment(p.info.pod, p.node) for p in t.result.placed())) for t in tried
        ]
        scores = session.framework.run_placement_score(state, group, candidates)
        if isinstance(scores, Status):
            return GroupResult(group, scores)
        chosen = max(range(len(tried)), key=scores.totals.__getitem__)
        best = tried[chosen]
        if session.trace.on:
            for at, attempt in enumerate(tried):
                end = ", chosen" if at == chosen else ""
                session.trace.add("scores", group.key, f"{attempt.placement.name}: {scores.text(at)}{end}")
    failed = session.reapply(best.result, best.steps)
    return GroupResult(group, failed) if failed is not None else best.result
