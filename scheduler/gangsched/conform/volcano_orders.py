"""In which order a Volcano session would serve queues, jobs and tasks (spec fair-share.md §2.3, S9-S10)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cmp_to_key
from itertools import permutations
from typing import TypeVar

from attrs import frozen

from gangsched.conform.records import Record
from gangsched.conform.volcano_conf import Entry, SessionConf
from gangsched.conform.volcano_session import Job, OpenSession, Task, VolcanoQueue
from gangsched.conform.volcano_state import (
    capacity_branches,
    capacity_state,
    hdrf_tree,
    job_shares,
    proportion_state,
)
from gangsched_plugins.fairshare.capacity_tree import compare_branches
from gangsched_plugins.fairshare.hdrf_order import compare_paths, parse_hierarchy

T = TypeVar("T")
Compare = Callable[[T, T], int]
"""-1: the first comes first, 0: no opinion, 1: the second does."""

_NEVER = float("inf")
_SLA = ("volcano.sh/sla-waiting-time", "sla-waiting-time")
_HOURS = re.compile(r"(\d+)h")
_HOUR = 3600


@frozen
class Orders:
    """``intransitive``: the comparison of queues runs in a circle, so no order of them is the right one."""

    queues: list[str]
    jobs: dict[str, list[str]]
    tasks: dict[str, list[str]]
    intransitive: bool

    def record(self) -> Record:
        return {"queues": self.queues, "jobs": self.jobs, "tasks": self.tasks}


def orders_at_open(session: OpenSession, conf: SessionConf) -> Orders:
    compare_queues = _combined(_queue_orders(session, conf), lambda queue: (queue.created, queue.name))
    compare_jobs = _combined(_job_orders(session, conf), lambda job: (job.created, job.uid))
    busy = session.busy
    queues = sorted(busy, key=cmp_to_key(compare_queues))
    jobs = {queue.name: sorted(session.jobs_of(queue.name), key=cmp_to_key(compare_jobs)) for queue in busy}
    by_priority = any(entry.name == "priority" and entry.on("enableTaskOrder") for entry in conf.entries())
    tasks = {job.name: _tasks(job, by_priority) for job in session.jobs}
    return Orders(
        [queue.name for queue in queues],
        {name: [job.name for job in each] for name, each in jobs.items()},
        {name: each for name, each in tasks.items() if each},
        any(
            compare_queues(a, b) < 0 and compare_queues(b, c) < 0 and compare_queues(c, a) < 0
            for a, b, c in permutations(busy, 3)
        ),
    )


def _combined(comparisons: Sequence[Compare[T]], fallback: Callable[[T], tuple[int, str]]) -> Compare[T]:
    """The first decisive one, then age and name (S9, S10)."""

    def compare(left: T, right: T) -> int:
        for each in comparisons:
            if verdict := each(left, right):
                return verdict
        return _ordered(fallback(left), fallback(right))

    return compare


def _ordered(left: tuple[object, ...], right: tuple[object, ...]) -> int:
    return (left > right) - (left < right)


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)


def _by(rank: Callable[[T], tuple[object, ...]]) -> Compare[T]:
    return lambda left, right: _ordered(rank(left), rank(right))


# --- queues ---------------------------------------------------------------------------------------------------------


def _queue_orders(session: OpenSession, conf: SessionConf) -> list[Compare[VolcanoQueue]]:
    found = [_queue_order(entry, session, conf) for entry in conf.entries() if entry.on("enableQueueOrder")]
    return [each for each in found if each is not None]


def _queue_order(entry: Entry, session: OpenSession, conf: SessionConf) -> Compare[VolcanoQueue] | None:
    if entry.name == "proportion":
        shares = {name: state.share for name, state in proportion_state(session).items()}
        return _by(lambda queue: (-queue.priority, shares[queue.name]))
    if entry.name == "capacity" and entry.on("enableHierarchy"):
        branches = capacity_branches(session)
        if branches is None:
            return _by(lambda queue: (-queue.priority,))
        return lambda left, right: compare_branches(branches[left.name], branches[right.name])
    if entry.name == "capacity":
        ranks = {name: (state.share, state.deserved.is_empty) for name, state in capacity_state(session).items()}
        return _by(lambda queue: (-queue.priority, ranks[queue.name]))
    if entry.name == "drf" and conf.hierarchical:
        tree = hdrf_tree(session)
        paths = {q.name: parse_hierarchy(q.hierarchy, q.hierarchy_weights)[0] for q in session.queues.values()}
        return lambda left, right: _sign(compare_paths(tree, paths[left.name], paths[right.name]))
    return None


# --- jobs and tasks -------------------------------------------------------------------------------------------------


def _job_orders(session: OpenSession, conf: SessionConf) -> list[Compare[Job]]:
    shares = {uid: dominant.share for uid, dominant in job_shares(session).items()}
    ranks: Mapping[str, Callable[[Job], tuple[object, ...]]] = {
        "priority": lambda job: (-job.priority,),
        "gang": lambda job: (job.ready,),  # G8: the one that is not ready comes first
        "drf": lambda job: (shares[job.uid],),
        "sla": lambda job: (_deadline(job),),
    }
    return [_by(ranks[e.name]) for e in conf.entries() if e.name in ranks and e.on("enableJobOrder")]


def _deadline(job: Job) -> float:
    """When a job's waiting time is over; jobs without a limit come last (N19)."""
    limit = next((job.annotations[key] for key in _SLA if key in job.annotations), None)
    match = _HOURS.fullmatch(limit) if limit is not None else None
    return job.created + int(match[1]) * _HOUR if match is not None else _NEVER


def _tasks(job: Job, by_priority: bool) -> list[str]:
    def compare(left: Task, right: Task) -> int:
        if by_priority and left.priority != right.priority:
            return right.priority - left.priority
        one, other = _index(left.name), _index(right.name)
        if one is not None and other is not None and one != other:
            return one - other
        return _ordered((left.created, left.name), (right.created, right.name))

    pending = [task for task in job.tasks if task.status == "Pending"]
    return [task.name for task in sorted(pending, key=cmp_to_key(compare))]


def _index(name: str) -> int | None:
    """The number of a task called ``job-role-N`` (S10)."""
    parts = name.split("-")
    return int(parts[-1]) if len(parts) >= 3 and parts[-1].isdecimal() else None
