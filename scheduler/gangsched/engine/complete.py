"""Complete (pure): every group and every pod of the tree gets exactly one verdict (spec §4.9).

Statuses are shared by identity where the real scheduler shares one object: a child that takes over its parent's status
and that parent both show what is appended later, once per sharer (§4.9.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gangsched.engine.placement_algorithm import GROUP_UNSCHEDULABLE
from gangsched.engine.results import GroupResult, PodOutcome
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.status import Code, FitError, Status, error
from gangsched_framework.values import value


@value(eq=False)
class FinalPod:
    """What becomes of one queued pod: bound to ``outcome.node`` when ``status`` is None, else refused.

    ``nominate``: None = its nomination stays, '' = cleared, else the node to nominate. ``fit_error`` fills its rejector
    set (None = empty set).
    """

    info: QueuedPodInfo
    outcome: PodOutcome | None
    status: Status | None = None
    nominate: str | None = None
    fit_error: FitError | None = None


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
    if parent.code is Code.SUCCESS:
        return raw
    if parent.code is Code.ERROR:
        return raw if raw.code is Code.ERROR else parent
    return parent if raw.code is Code.SUCCESS else raw  # S→F


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
) -> list[FinalPod]:
    """Verdict of every queued pod, in tree and member order (table of §4.9.4)."""
    finals: list[FinalPod] = []
    for leaf in tree.leaves():
        key = leaf.key
        result, status = evaluated.get(key), groups.after[key]
        outcomes = result.pods if result is not None else []
        given = status if status.code is Code.SUCCESS else _given(status, groups)
        for at, info in enumerate(leaves.get(key, ())):
            outcome = outcomes[at] if at < len(outcomes) else None
            if outcome is not None and outcome.status is None and status.code is Code.SUCCESS:
                finals.append(FinalPod(info, outcome))
            else:
                finals.append(_complete_pod(leaf.key, result, info, outcome, groups, given))
    return finals


def _given(status: Status, groups: Completed) -> Status:
    """What a failed leaf says of the pods that fail with it, one status for all of them (spec §4.9.4 a)."""
    if status.code is Code.ERROR:
        return error(*status.reasons)
    if groups.nominations is not None:
        return status
    return Status(status.code, (GROUP_UNSCHEDULABLE, *status.reasons), status.plugin)


def _complete_pod(
    leaf: EntityKey,
    result: GroupResult | None,
    info: QueuedPodInfo,
    outcome: PodOutcome | None,
    groups: Completed,
    given: Status,
) -> FinalPod:
    status = groups.after[leaf]
    nominate = None if groups.nominations is None else groups.nominations.get(info.pod.key)
    if status.code is Code.ERROR:
        if outcome is not None and outcome.status is not None and outcome.status.code is Code.ERROR:
            return FinalPod(info, outcome, outcome.status, "")
        return FinalPod(info, outcome, given, "")
    if status.code is Code.SUCCESS:
        return FinalPod(info, None, status) if outcome is None else _own(info, outcome, None)
    if outcome is None or (result is not None and result.ok):  # not tried, or pushed down
        return FinalPod(info, outcome, groups.before[leaf], nominate)
    if outcome.placed:
        return FinalPod(info, outcome, given, "" if nominate is None else nominate)
    return _own(info, outcome, nominate)


def _own(info: QueuedPodInfo, outcome: PodOutcome, nominate: str | None) -> FinalPod:
    if nominate is None and outcome.clear_nomination:
        nominate = ""
    return FinalPod(info, outcome, outcome.status, nominate, outcome.fit_error)
