"""Complete (pure): every group and every pod of the tree gets exactly one verdict (spec §4.9).

Statuses are shared by identity where the real scheduler shares one object: a child that takes over its parent's status
and that parent both show what is appended later, once per sharer (§4.9.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

from gangsched.engine.placement_algorithm import GROUP_UNSCHEDULABLE
from gangsched.engine.results import GroupResult, PodOutcome
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.status import Code, FitError, Status, error
from gangsched_framework.values import value


@value(eq=False)
class Failure:
    """How a pod fails; one object for all pods of a leaf that fail alike.

    ``nominate``: None = its nomination stays, '' = cleared, else the node to nominate. ``fit_error`` fills its rejector
    set (None = empty set).
    """

    status: Status
    nominate: str | None = None
    fit_error: FitError | None = None


End = PodOutcome | tuple[QueuedPodInfo, Failure]
"""What becomes of a queued pod: it is bound where it was placed, fails as it was refused, or fails otherwise."""

NOMINATION_CLEARED = ""

Statuses = dict[EntityKey, Status]


def complete_groups(tree: PodGroupInfo, evaluated: Mapping[EntityKey, GroupResult]) -> Statuses:
    """Final status of every group, top-down (table of §4.9.3)."""
    final: Statuses = {tree.key: evaluated[tree.key].status}
    for parent in tree.walk():
        for child in parent.children:
            result = evaluated.get(child.key)
            final[child.key] = _complete_child(final[parent.key], result.status if result is not None else None)
    return final


def _complete_child(parent: Status, raw: Status | None) -> Status:
    if raw is None:
        return parent
    if parent.ok:
        return raw
    if parent.code is Code.ERROR:
        return raw if raw.code is Code.ERROR else parent
    return parent if raw.ok else raw  # S→F


def append_reasons(final: Mapping[EntityKey, Status], reason: str) -> Statuses:
    """Append the post-filter's reason to every group, once per group that shares the status (spec §4.9.2)."""
    sharers: dict[int, int] = {}
    for status in final.values():
        sharers[id(status)] = sharers.get(id(status), 0) + 1
    appended = {id(status): status.with_reasons(*[reason] * sharers[id(status)]) for status in final.values()}
    return {key: appended[id(status)] for key, status in final.items()}


@value(eq=False)
class Completed:
    """The groups before and after the post-filter spoke, and its nominations when the tree waits on preemption."""

    before: Statuses
    after: Statuses
    nominations: Mapping[str, str] | None = None


def complete_pods(
    tree: PodGroupInfo,
    evaluated: Mapping[EntityKey, GroupResult],
    leaves: Mapping[EntityKey, Sequence[QueuedPodInfo]],
    groups: Completed,
) -> list[End]:
    """End of every queued pod, in tree and member order (table of §4.9.4)."""
    ends: list[End] = []
    for leaf in tree.leaves():
        infos = leaves.get(leaf.key)
        if not infos:
            continue
        result, status = evaluated.get(leaf.key), groups.after[leaf.key]
        outcomes = result.pods if result is not None else []
        tried = len(outcomes)
        if status.ok:
            ends += outcomes
            if tried < len(infos):
                ends += zip(infos[tried:], repeat(Failure(status)))
        elif status.code is Code.ERROR:
            given = Failure(error(*status.reasons), NOMINATION_CLEARED)
            errors = [_error(each) or given for each in outcomes]
            ends += zip(infos, errors + [given] * (len(infos) - tried), strict=True)
        else:
            ends += zip(infos, _refused(leaf.key, infos, result, groups), strict=True)
    return ends


def _refused(
    leaf: EntityKey, infos: Sequence[QueuedPodInfo], result: GroupResult | None, groups: Completed
) -> list[Failure]:
    """A leaf that is refused, by itself or with its tree."""
    status, nominations = groups.after[leaf], groups.nominations
    untried = Failure(groups.before[leaf])  # or pushed down
    ends: list[Failure] = []
    if result is not None and not result.ok:
        if nominations is None:  # one status for all pods that fail with their leaf (spec §4.9.4 a)
            status = Status(status.code, (GROUP_UNSCHEDULABLE, *status.reasons), status.plugin)
        placed = Failure(status, NOMINATION_CLEARED)
        ends += [placed if each.status is None else own_failure(each) for each in result.pods]
    ends += [untried] * (len(infos) - len(ends))
    if not nominations:
        return ends
    nodes = [nominations.get(info.pod.key) for info in infos]
    return [
        end if node is None else Failure(end.status, node, end.fit_error) for end, node in zip(ends, nodes, strict=True)
    ]


def _error(outcome: PodOutcome) -> Failure | None:
    """The error that a pod met itself."""
    status = outcome.status
    return None if status is None or status.code is not Code.ERROR else Failure(status, NOMINATION_CLEARED)


def own_failure(outcome: PodOutcome) -> Failure:
    """A pod that found no node says so itself."""
    assert outcome.status is not None
    return Failure(outcome.status, NOMINATION_CLEARED if outcome.clear_nomination else None, outcome.fit_error)
