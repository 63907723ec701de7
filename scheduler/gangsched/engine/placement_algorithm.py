"""Choosing among the placements of one group (spec podgroup-scheduling.md §6.3-§6.6, §6.10).

``best_placement`` receives the function that evaluates the group inside one placement, so the recursion over the tree
needs no import circle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from gangsched.engine.placement_board import Board, Leaves, Recipe, Simulated, wanted_placements
from gangsched.engine.planned_run import PlannedRun
from gangsched.engine.results import GroupResult
from gangsched.engine.session import Session
from gangsched_framework.cycle_state import PlacementCycleState, PodGroupCycleState
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Assignment, Placement, Progress
from gangsched_framework.status import SUCCESS, Code, Status, unschedulable

GROUP_UNSCHEDULABLE = "pod group is unschedulable"

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
    placements: tuple[Placement, ...],
    leaves: Leaves,
    evaluate: Evaluate,
    remembers: bool,
) -> GroupResult:
    """Evaluate the group in every candidate placement; the reservations of the best one stay, nothing of the others.

    ``remembers``: simulations may be kept for later groups, and taken from earlier ones.
    """
    if not placements:
        return GroupResult(group, unschedulable("no feasible placements found"))
    boards = session.algorithm.boards
    board = None
    if boards is not None and remembers and not session.trace.on and not session.prepare:
        board = boards.get(session.framework, group, placements, leaves)
    if board is not None:
        return _best_of_board(session, group, state, leaves, evaluate, board)
    return _best_of_all(session, group, state, placements, evaluate)


def _best_of_all(
    session: Session,
    group: PodGroupInfo,
    state: PodGroupCycleState,
    placements: Sequence[Placement],
    evaluate: Evaluate,
) -> GroupResult:
    tried: list[Tried] = []
    first: GroupResult | None = None
    wanted = wanted_placements(session.framework, placements)
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
        return infeasible(first, len(placements))
    return _choose(session, group, state, tried)


def _best_of_board(
    session: Session, group: PodGroupInfo, state: PodGroupCycleState, leaves: Leaves, evaluate: Evaluate, board: Board
) -> GroupResult:
    """The same from a board: only the placements whose nodes were touched are simulated."""

    framework, snapshot = session.framework, session.snapshot
    pods = [info.pod for leaf in group.leaves() for info in leaves.get(leaf.key, ())]

    def simulate(placement: Placement, run: PlannedRun) -> Simulated:
        planned = _plan(session, group, state, placement, pods, board, run) if board.column is not None else None
        if planned is not None:
            return planned
        attempt = _simulate(session, group, state, placement, evaluate)
        position = {pod.key: at for at, pod in enumerate(pods)}
        steps = [(position[pod.key], node) for pod, node in attempt.steps]
        return Simulated(Recipe.of(attempt.result), steps, [p.info.pod for p in attempt.result.placed()])

    board.refresh(framework, group, snapshot.table, simulate)
    feasible, wanted = board.feasible, board.wanted
    if board.broken and (len(feasible) < wanted or board.broken[0] < feasible[wanted - 1]):
        return board.result(board.broken[0], group, leaves)
    if not feasible:
        return infeasible(board.result(0, group, leaves), len(board.placements))
    best = board.best(framework, state)
    if isinstance(best, Status):
        return GroupResult(group, best)
    steps, row_of = board.steps[best], snapshot.table.row_of
    if board.column is None:
        for position, node in steps:
            snapshot.assume(pods[position], node)
    else:
        placed, rows = [pods[position] for position, _ in steps], [row_of[node] for _, node in steps]
        if placed:
            snapshot.assume_alike(placed, rows)
        board.take(best, placed, rows)
    return board.result(best, group, leaves)


def _plan(
    session: Session,
    group: PodGroupInfo,
    state: PodGroupCycleState,
    placement: Placement,
    pods: Sequence[Pod],
    board: Board,
    run: PlannedRun,
) -> Simulated | None:
    """The simulation of a leaf of like pods, in which each finds a node, without trying them one by one."""
    if board.plannable is None:
        board.plannable = _tries_all(session, group, state, len(pods))
    if not board.plannable or board.column is None:
        return None
    rows = run.next(board.column, pods, placement.array)
    if rows is None or len(rows) < len(pods):
        return None
    names = session.snapshot.table.names
    nodes = [names[row] for row in rows]
    recipe = Recipe(SUCCESS, True, tuple([(node, None, None, False) for node in nodes]), ())
    return Simulated(recipe, list(enumerate(nodes)), pods)


def _tries_all(session: Session, group: PodGroupInfo, state: PodGroupCycleState, count: int) -> bool:
    """Whether a leaf tries all of its ``count`` pods as long as each finds a node, and has its minimum then."""
    inside, scheduled = PlacementCycleState(state), session.snapshot.scheduled(group.key)
    first = session.framework.run_placement_feasible(inside, group, Progress(count, scheduled))
    last = session.framework.run_placement_feasible(inside, group, Progress(0, scheduled + count))
    return last is None and (first is None or first.code is Code.WAIT)


def _simulate(
    session: Session, group: PodGroupInfo, state: PodGroupCycleState, placement: Placement, evaluate: Evaluate
) -> Tried:
    snapshot = session.snapshot
    mark = snapshot.mark()
    previous = snapshot.enter(placement)
    session.trace.add("placement", group.key, placement.name)
    placement_state = PlacementCycleState(state)
    result = evaluate(group, placement_state)
    result.placement = placement
    steps = tuple(snapshot.steps_since(mark))
    session.revert(mark)
    snapshot.enter(previous)
    return Tried(placement, placement_state, result, steps)


def infeasible(first: GroupResult, count: int) -> GroupResult:
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
