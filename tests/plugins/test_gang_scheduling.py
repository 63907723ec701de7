"""GangScheduling: spec podgroup-scheduling.md §3.6, §3.7, §4.8 and rows 1-52 of §8.1 a plugin alone can show."""

from __future__ import annotations

import pytest

from gangsched_framework.cycle_state import PlacementCycleState, PodGroupCycleState
from gangsched_framework.events import Action, ClusterEvent, Hint, Resource
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import Group, Pod
from gangsched_framework.placement import Progress
from gangsched_framework.status import Code
from gangsched_plugins.gang_scheduling import GangScheduling
from tests.plugins.group_world import handle_over, inner, leaf, pod

CHAIN: list[Group] = [inner("c1"), inner("c2", parent="c1"), inner("c3", parent="c2"), inner("c4", parent="c3")]

PRE_ENQUEUE: list[tuple[str, list[Group], list[Pod], str]] = [
    ("a plain pod passes", [], [pod("p")], ""),
    ("a basic group passes with its one pod", [leaf("g")], [pod("p", "g")], ""),
    (
        "a group that is not there keeps its pods back",
        [],
        [pod("p", "g")],
        "failed to build hierarchy snapshot: group podgroup/default/g not found",
    ),
    (
        "a gang of three with two pods waits",
        [leaf("g", 3)],
        [pod("p", "g"), pod("q", "g")],
        "waiting for minCount pods from a gang to appear in scheduling queue",
    ),
    ("a running pod counts for the quorum", [leaf("g", 2)], [pod("p", "g"), pod("q", "g", "n")], ""),
    (
        "a missing ancestor keeps the whole branch back",
        [leaf("g", 1, "r")],
        [pod("p", "g")],
        "failed to build hierarchy snapshot: group compositepodgroup/default/r not found",
    ),
    (
        "a tree without quorum names its root",
        [inner("r", 2), leaf("g", 1, "r"), leaf("h", 2, "r")],
        [pod("p", "g"), pod("q", "h")],
        'waiting for composite pod group "r" tree to meet quorum',
    ),
    (
        "a ready root lets pods of an unready subtree pass",
        [inner("r", 1), leaf("g", 1, "r"), leaf("h", 2, "r")],
        [pod("p", "h"), pod("q", "g")],
        "",
    ),
    ("four parent links are accepted", [*CHAIN, leaf("g", 1, "c4")], [pod("p", "g")], ""),
    (
        "five parent links fail closed",
        [*CHAIN, inner("c5", parent="c4"), leaf("g", 1, "c5")],
        [pod("p", "g")],
        "failed to build hierarchy snapshot: "
        "hierarchy of podgroup/default/g is deeper than maximum of 4 or has a cycle",
    ),
    (
        "a branch that is too deep does not gate its shallow sibling",
        [*CHAIN, inner("c5", parent="c4"), leaf("deep", 1, "c5"), leaf("g", 1, "c1")],
        [pod("p", "g"), pod("q", "deep")],
        "",
    ),
]


@pytest.mark.parametrize("groups, pods, message", [c[1:] for c in PRE_ENQUEUE], ids=[c[0] for c in PRE_ENQUEUE])
def test_pre_enqueue(groups: list[Group], pods: list[Pod], message: str) -> None:
    plugin = GangScheduling({}, handle_over(groups=groups, pods=pods))
    status = plugin.pre_enqueue(pods[0])
    assert ("" if status is None else status.message) == message
    assert status is None or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def test_without_composite_groups_a_parent_is_ignored_and_a_missing_group_is_named() -> None:
    plugin = GangScheduling(
        {}, handle_over(groups=[leaf("g", 1, "r")], pods=[pod("p", "g")], gates=["GenericWorkload"])
    )
    assert plugin.pre_enqueue(pod("p", "g")) is None
    status = plugin.pre_enqueue(pod("q", "h"))
    assert status is not None
    assert status.message == 'waiting for pods\'s pod group "h" to appear in scheduling queue'


FEASIBLE = [
    # minimum, remaining, scheduled, code, message (spec §4.8 and its call traces)
    (2, 3, 0, Code.WAIT, "minCount (2) is not yet satisfied: 0 scheduled, 3 remaining"),
    (2, 1, 2, Code.SUCCESS, ""),
    (2, 1, 0, Code.UNSCHEDULABLE, "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"),
    (None, 2, 0, Code.WAIT, "minCount (1) is not yet satisfied: 0 scheduled, 2 remaining"),
    (None, 0, 0, Code.UNSCHEDULABLE, "minCount (1) cannot be satisfied: 0 scheduled, 0 remaining"),
    (2, 0, 2, Code.SUCCESS, ""),
]


@pytest.mark.parametrize("minimum, remaining, scheduled, code, message", FEASIBLE)
def test_placement_feasible(minimum: int | None, remaining: int, scheduled: int, code: Code, message: str) -> None:
    plugin = GangScheduling({}, handle_over())
    state = PlacementCycleState(PodGroupCycleState())
    for group in (leaf("g", minimum), inner("g", minimum)):
        status = plugin.placement_feasible(state, PodGroupInfo(group), Progress(remaining, scheduled))
        assert (Code.SUCCESS if status is None else status.code) is code
        assert ("" if status is None else status.message) == message


COMPOSITE = Resource.COMPOSITE_POD_GROUP
TREE: list[Group] = [inner("r", 2), leaf("g", 2, "r"), leaf("h", 2, "r"), leaf("other", 2)]

HINTS = [
    ("a pod of a cousin appears", Resource.UNSCHEDULED_POD, Action.ADD, None, pod("x", "h"), Hint.QUEUE),
    ("a pod of another tree appears", Resource.UNSCHEDULED_POD, Action.ADD, None, pod("x", "other"), Hint.SKIP),
    ("a plain pod appears", Resource.UNSCHEDULED_POD, Action.ADD, None, pod("x"), Hint.SKIP),
    ("a bound pod of the tree appears", Resource.ASSIGNED_POD, Action.ADD, None, pod("x", "g", "n"), Hint.QUEUE),
    ("a group of the tree appears", Resource.POD_GROUP, Action.ADD, None, leaf("h", 2, "r"), Hint.QUEUE),
    ("another group appears", Resource.POD_GROUP, Action.ADD, None, leaf("other", 2), Hint.SKIP),
    ("the root appears", COMPOSITE, Action.ADD, None, inner("r", 2), Hint.QUEUE),
    ("minCount falls", Resource.POD_GROUP, Action.UPDATE_OTHER, leaf("h", 2), leaf("h", 1), Hint.QUEUE),
    ("minCount rises", Resource.POD_GROUP, Action.UPDATE_OTHER, leaf("h", 2), leaf("h", 3), Hint.SKIP),
    ("minCount stays", Resource.POD_GROUP, Action.UPDATE_OTHER, leaf("h", 2), leaf("h", 2), Hint.SKIP),
    ("basic becomes gang", Resource.POD_GROUP, Action.UPDATE_OTHER, leaf("h"), leaf("h", 1), Hint.SKIP),
    ("minGroupCount falls", COMPOSITE, Action.UPDATE_OTHER, inner("r", 2), inner("r", 1), Hint.QUEUE),
    ("minGroupCount rises", COMPOSITE, Action.UPDATE_OTHER, inner("r", 2), inner("r", 3), Hint.SKIP),
]


@pytest.mark.parametrize("resource, action, old, new, hint", [c[1:] for c in HINTS], ids=[c[0] for c in HINTS])
def test_hints(resource: Resource, action: Action, old: Group | None, new: Pod | Group, hint: Hint) -> None:
    plugin = GangScheduling({}, handle_over(groups=TREE))
    event = ClusterEvent(resource, action)
    asked = [r.hint(pod("p", "g"), old, new) for r in plugin.events_to_register() if r.event.matches(event) and r.hint]
    assert asked == [hint]
    plain = [r.hint(pod("p"), old, new) for r in plugin.events_to_register() if r.event.matches(event) and r.hint]
    assert plain == [Hint.SKIP]


def test_composite_groups_are_watched_only_with_their_gate() -> None:
    labels = [r.event.label for r in GangScheduling({}, handle_over(gates=[])).events_to_register()]
    group = "scheduling.k8s.io/PodGroup"
    assert labels == ["UnscheduledPod/Add", "AssignedPod/Add", f"{group}/Add", f"{group}/Update"]
