"""The runtime of a profile: who is asked, in which order, and what becomes of the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import pytest
from attrs import field, frozen

from gangsched_framework.cycle_state import CycleState, PlacementCycleState, PodGroupCycleState
from gangsched_framework.errors import ConfigurationError
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Resource
from gangsched_framework.framework import Framework
from gangsched_framework.infos import PodGroupInfo, PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.interface import PodGroupPostFilterResult, PostFilterResult, RootAttempt
from gangsched_framework.objects import Group, Pod
from gangsched_framework.placement import Placement, Progress
from gangsched_framework.profile import PluginRef, Profile
from gangsched_framework.registry import Registry
from gangsched_framework.run_pod import ScoreTable
from gangsched_framework.snapshot import ALL_NODES
from gangsched_framework.status import SUCCESS, Code, Status, error, skip, unresolvable, unschedulable
from gangsched_framework.testing import (
    FakeHandle,
    NameSort,
    ScriptedFilter,
    make_composite_pod_group,
    make_node,
    make_pod,
    make_pod_group,
    make_snapshot,
)

POD = make_pod("p").requests(cpu=1).obj()
GROUP = PodGroupInfo(make_pod_group("g").obj())
WAIT, UNSCHEDULABLE, UU, ERROR = (
    Status(Code.WAIT, ("wait",)),
    unschedulable("busy"),
    unresolvable("never"),
    error("broken"),
)


def plugin(name: str, **methods: Callable[..., object]) -> type[Any]:
    """A plugin class whose methods are functions of the contract's arguments (without self)."""
    body: dict[str, Any] = {"name": name, "__init__": lambda self, args, handle: None}
    return type(name, (), body | {method: staticmethod(function) for method, function in methods.items()})


def build(
    point: str, *plugins: type[Any], handle: FakeHandle | None = None, weights: Sequence[int] = (), **more: Any
) -> Framework:
    """A framework whose ``point`` (and further ones, by keyword) has the given plugins."""
    points = {"queueSort": (NameSort,), point: plugins, **more}
    registry, refs = Registry(), {}
    for where, classes in points.items():
        for cls in classes:
            name = cls.name if isinstance(cls.name, str) else cls.__name__
            if name not in registry:
                registry.register(name, cls)
        each = weights if where == point and weights else [1] * len(classes)
        names = [cls.name if isinstance(cls.name, str) else cls.__name__ for cls in classes]
        refs[where] = tuple(PluginRef(name, weight) for name, weight in zip(names, each, strict=True))
    return Framework(Profile("default-scheduler", refs), registry, handle or FakeHandle())


def answering(method: str, name: str, answer: object, asked: list[str] | None = None) -> type[Any]:
    def call(*_: object) -> object:
        if asked is not None:
            asked.append(name)
        return answer

    return plugin(name, **{method: call})


def text(status: Status | None) -> tuple[str, str, str]:
    """(code, message, plugin); Success is nothing."""
    return (status.code.value, status.message, status.plugin) if status is not None else ("Success", "", "")


# --- building ---------------------------------------------------------------------------------------------------


def test_a_plugin_named_at_two_points_is_one_object() -> None:
    both = plugin("Both", filter=lambda *_: None, score=lambda *_: 1)
    framework = build("filter", both, score=(both,))
    assert framework.filter_plugins[0] is framework.score_plugins[0][0]


def test_an_unknown_plugin_is_refused_with_its_point() -> None:
    profile = Profile("s", {"preFilter": (PluginRef("Nobody"),)})
    with pytest.raises(ConfigurationError, match='PreFilterPlugin "Nobody" does not exist'):
        Framework(profile, Registry(), FakeHandle())


def test_a_plugin_at_a_point_it_does_not_serve_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='plugin "NameSort" does not extend FilterPlugin plugin'):
        build("filter", NameSort)


def test_exactly_one_queue_sort_is_needed() -> None:
    with pytest.raises(ConfigurationError, match="exactly one queueSort plugin is needed, the profile has 0"):
        Framework(Profile("s", {}), Registry(), FakeHandle())


# --- queueing ---------------------------------------------------------------------------------------------------


def test_pre_enqueue_asks_the_plugin_that_gated_last_time_first() -> None:
    asked: list[str] = []
    framework = build(
        "preEnqueue",
        answering("pre_enqueue", "A", None, asked),
        answering("pre_enqueue", "B", UU, asked),
        answering("pre_enqueue", "C", UU, asked),
    )
    assert text(framework.run_pre_enqueue(POD)) == ("UnschedulableAndUnresolvable", "never", "B")
    assert text(framework.run_pre_enqueue(POD, first="C")) == ("UnschedulableAndUnresolvable", "never", "C")
    assert asked == ["A", "B", "C"]


def test_registrations_are_kept_by_plugin() -> None:
    event = ClusterEventWithHint(ClusterEvent(Resource.NODE, Action.ADD))
    registering = plugin("R", filter=lambda *_: None, events_to_register=lambda: [event])
    framework = build("filter", registering)
    assert framework.registrations == {"R": (event,)}


def test_a_plugin_that_may_reject_and_registers_nothing_hears_of_every_event() -> None:
    silent = build("filter", plugin("Silent", filter=lambda *_: None)).registrations["Silent"]
    for resource in Resource:
        if resource is not Resource.WILDCARD:
            assert any(each.hint is None and each.event.matches(ClusterEvent(resource, Action.ADD)) for each in silent)


def test_a_plugin_that_only_scores_registers_nothing() -> None:
    assert build("score", plugin("Scores", score=lambda *_: 0)).registrations == {}


# --- PreFilter (node-plugins.md §4.1) ---------------------------------------------------------------------------


@frozen
class PreFilterCase:
    name: str
    answers: dict[str, tuple[set[str] | None, Status | None]]
    want: tuple[str, str, str] = ("Success", "", "")
    nodes: set[str] | None = None
    plugins: tuple[str, ...] = ()
    skipped: set[str] = field(factory=set)


PRE_FILTER = [
    PreFilterCase("nobody objects", {"A": (None, None), "B": (None, SUCCESS)}),
    PreFilterCase("those that skip are remembered", {"A": (None, skip()), "B": (None, None)}, skipped={"A"}),
    PreFilterCase(
        "narrowed sets are intersected",
        {"A": ({"n1", "n2"}, None), "B": ({"n2", "n3"}, None)},
        nodes={"n2"},
        plugins=("A", "B"),
    ),
    PreFilterCase("names of unknown nodes stay in the set", {"A": ({"n9"}, None)}, nodes={"n9"}, plugins=("A",)),
    PreFilterCase(
        "one plugin that leaves nothing is named alone",
        {"A": (set(), None), "B": (None, ERROR)},
        want=("UnschedulableAndUnresolvable", "node(s) didn't satisfy plugin A", ""),
        nodes=set(),
        plugins=("A",),
    ),
    PreFilterCase(
        "several that leave nothing are named together, sorted",
        {"B": ({"n1"}, None), "A": ({"n2"}, None)},
        want=("UnschedulableAndUnresolvable", "node(s) didn't satisfy plugin(s) [A B] simultaneously", ""),
        nodes=set(),
        plugins=("B", "A"),
    ),
    PreFilterCase(
        "UU stops at once",
        {"A": (None, UU), "B": (None, ERROR)},
        want=("UnschedulableAndUnresolvable", "never", "A"),
        plugins=("A",),
    ),
    PreFilterCase(
        "those that skipped before a refusal are remembered too",
        {"A": (None, skip()), "B": (None, UU)},
        want=("UnschedulableAndUnresolvable", "never", "B"),
        plugins=("B",),
        skipped={"A"},
    ),
    PreFilterCase(
        "Unschedulable is remembered while the others are asked",
        {"A": (None, UNSCHEDULABLE), "B": (None, UU)},
        want=("UnschedulableAndUnresolvable", "never", "B"),
        plugins=("B",),
    ),
    PreFilterCase(
        "Unschedulable alone refuses in the end",
        {"A": (None, UNSCHEDULABLE), "B": (None, None)},
        want=("Unschedulable", "busy", "A"),
        plugins=("A",),
    ),
    PreFilterCase(
        "anything else is an error of the attempt",
        {"A": (None, ERROR), "B": (None, UU)},
        want=("Error", 'running PreFilter plugin "A": broken', "A"),
    ),
]


@pytest.mark.parametrize("case", PRE_FILTER, ids=attrgetter("name"))
def test_pre_filter(case: PreFilterCase) -> None:
    answers = {
        name: (None if nodes is None else frozenset(nodes), status) for name, (nodes, status) in case.answers.items()
    }
    framework = build("preFilter", *(answering("pre_filter", name, answer) for name, answer in answers.items()))
    state = CycleState()
    outcome = framework.run_pre_filter(state, POD, [])
    assert text(outcome.status) == case.want
    assert outcome.names == case.nodes
    assert outcome.plugins == case.plugins
    assert state.skip_filter == case.skipped


# --- Filter (node-plugins.md §4.2) ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answers, want",
    [
        ({"A": None, "B": None}, ("Success", "", "")),
        ({"A": None, "B": UNSCHEDULABLE, "C": UU}, ("Unschedulable", "busy", "B")),
        ({"A": ERROR, "B": UU}, ("Error", 'running "A" filter plugin: broken', "A")),
        ({"A": WAIT}, ("Error", 'running "A" filter plugin: wait', "A")),
    ],
)
def test_the_first_refusal_is_the_nodes_status(answers: dict[str, Status | None], want: tuple[str, str, str]) -> None:
    handle = FakeHandle(make_snapshot([make_node("n1").obj()]))
    framework = build("filter", *(answering("filter", *answer) for answer in answers.items()), handle=handle)
    assert text(framework.run_filter(CycleState(), POD, handle.snapshot.nodes[0])) == want


def test_a_plugin_that_skipped_in_pre_filter_is_not_asked() -> None:
    handle = FakeHandle(make_snapshot([make_node("n1").obj()]))
    framework = build("filter", answering("filter", "A", UU), handle=handle)
    state = CycleState()
    state.skip_filter = frozenset({"A"})
    assert framework.run_filter(state, POD, handle.snapshot.nodes[0]) is None


def fit(asked: list[int] | None = None) -> type[Any]:
    """Refuses when the node cannot hold the pod; logs the cpu it saw in use."""

    def check(state: CycleState, pod: Pod, node: Any) -> Status | None:
        if asked is not None:
            asked.append(node.requested_milli_cpu)
        free = node.allocatable.milli_cpu - node.requested_milli_cpu
        return None if pod.incoming.requested.milli_cpu <= free else unschedulable("full")

    return plugin("Fit", filter=check)


NOMINATED = {
    "of lower priority is ignored": (make_pod("o").requests(cpu=1).priority(-1).obj(), True, [0]),
    "of equal priority is counted in": (make_pod("o").requests(cpu=1).obj(), False, [1000]),
    "that leaves room is counted in first, then out": (make_pod("o").priority(1).obj(), True, [0, 0]),
    "is not the pod itself": (POD, True, [0]),
}


@pytest.mark.parametrize("name", NOMINATED)
def test_a_nominated_pod(name: str) -> None:
    other, fits, seen = NOMINATED[name]
    handle = FakeHandle(make_snapshot([make_node("n1").capacity(cpu=1).obj()]))
    handle.nominations.nominate(other, "n1")
    asked: list[int] = []
    framework = build("filter", fit(asked), handle=handle)
    status = framework.run_filter_with_nominated_pods(CycleState(), POD, handle.snapshot.nodes[0])
    assert (status is None) is fits
    assert asked == seen
    handle.snapshot._check()


def test_a_nominated_pod_whose_forerunner_still_stands_there_is_not_counted_twice() -> None:
    """A pod was deleted and made anew while the cycle holds the nodes as they were."""
    forerunner = make_pod("o").requests(cpu=1).node("n1").obj()
    handle = FakeHandle(make_snapshot([make_node("n1").capacity(cpu=2).obj()], [forerunner]))
    handle.nominations.nominate(make_pod("o").requests(cpu=1).priority(1).obj(), "n1")
    asked: list[int] = []
    framework = build("filter", fit(asked), handle=handle)
    assert framework.run_filter_with_nominated_pods(CycleState(), POD, handle.snapshot.nodes[0]) is None
    assert asked == [1000]
    handle.snapshot._check()


def test_nominations_of_the_pods_own_tree_are_left_out() -> None:
    groups: list[Group] = [
        make_composite_pod_group("R").obj(),
        *(make_pod_group(name).parent("R").obj() for name in "ab"),
        make_pod_group("c").obj(),
    ]
    handle = FakeHandle(make_snapshot([make_node("n1").capacity(cpu=1).obj()], groups=groups))
    framework = build("filter", fit(), handle=handle)
    node, mine = handle.snapshot.nodes[0], make_pod("mine").in_group("a").requests(cpu=1).obj()
    handle.nominations.nominate(make_pod("cousin").in_group("b").requests(cpu=1).obj(), "n1")
    assert framework.run_filter_with_nominated_pods(CycleState(), mine, node) is None
    handle.nominations.nominate(make_pod("stranger").in_group("c").requests(cpu=1).obj(), "n1")
    assert framework.run_filter_with_nominated_pods(CycleState(), mine, node) is not None


def test_nominated_pods_reach_the_state_through_add_pod_on_a_copy() -> None:
    def pre_filter(state: CycleState, pod: Pod, nodes: object) -> tuple[None, None]:
        return None, None

    def add_pod(state: CycleState, pod: Pod, other: Pod, node: object) -> None:
        state.write("added", other.name)

    seen: list[object] = []
    counting = plugin(
        "Counting",
        pre_filter=pre_filter,
        add_pod=add_pod,
        remove_pod=lambda *_: None,
        filter=lambda state, pod, node: seen.append(state.read("added")),
    )
    handle = FakeHandle(make_snapshot([make_node("n1").obj()]))
    handle.nominations.nominate(make_pod("o").obj(), "n1")
    framework = build("preFilter", counting, filter=(counting,), handle=handle)
    state = CycleState()
    framework.run_filter_with_nominated_pods(state, POD, handle.snapshot.nodes[0])
    assert seen == ["o", None]
    assert state.read("added") is None


@pytest.mark.parametrize("verb, want", [("add_pod", "AddPod"), ("remove_pod", "RemovePod")])
def test_a_failed_extension_is_an_error(verb: str, want: str) -> None:
    methods: dict[str, Callable[..., object]] = {"add_pod": lambda *_: None, "remove_pod": lambda *_: None}
    methods[verb] = lambda *_: UNSCHEDULABLE
    handle = FakeHandle(make_snapshot([make_node("n1").obj()]))
    framework = build("preFilter", plugin("A", pre_filter=lambda *_: (None, None), **methods), handle=handle)
    run = framework.run_add_pod if verb == "add_pod" else framework.run_remove_pod
    status = run(CycleState(), POD, POD, handle.snapshot.nodes[0])
    assert text(status) == ("Error", f'running {want} on PreFilter plugin "A": busy', "")
    skipping = CycleState()
    skipping.skip_filter = frozenset({"A"})
    assert run(skipping, POD, POD, handle.snapshot.nodes[0]) is None


# --- PostFilter -------------------------------------------------------------------------------------------------

NOMINATION = PostFilterResult("n1")


@pytest.mark.parametrize(
    "answers, want_result, want",
    [
        ({"A": (NOMINATION, SUCCESS), "B": (None, ERROR)}, NOMINATION, ("Success", "", "")),
        ({"A": (None, UNSCHEDULABLE), "B": (NOMINATION, None)}, NOMINATION, ("Success", "", "")),
        ({"A": (None, UU), "B": (NOMINATION, None)}, None, ("UnschedulableAndUnresolvable", "never", "")),
        ({"A": (None, UNSCHEDULABLE), "B": (None, unschedulable("too"))}, None, ("Unschedulable", "busy, too", "A")),
        ({"A": (None, ERROR), "B": (NOMINATION, None)}, None, ("Error", "broken", "A")),
        ({}, None, ("Unschedulable", "", "")),
    ],
)
def test_post_filter(
    answers: dict[str, tuple[object, Status | None]], want_result: object, want: tuple[str, str, str]
) -> None:
    framework = build("postFilter", *(answering("post_filter", *answer) for answer in answers.items()))
    result, status = framework.run_post_filter(CycleState(), POD, {})
    assert result is want_result
    assert text(None if status is SUCCESS else status) == want
    assert framework.has_post_filter is bool(answers)


# --- Score (node-plugins.md §5) ---------------------------------------------------------------------------------

TWO = make_snapshot([make_node("n1").obj(), make_node("n2").obj()])


def scorer(name: str, scores: dict[str, object], **more: Callable[..., object]) -> type[Any]:
    return plugin(name, score=lambda state, pod, node: scores[node.name], **more)


def test_scores_are_normalised_weighted_and_summed() -> None:
    def halve(state: object, pod: object, nodes: object, scores: list[int]) -> None:
        scores[:] = [score // 2 for score in scores]

    framework = build(
        "score",
        scorer("A", {"n1": 10, "n2": 200}, normalize_score=halve),
        scorer("B", {"n1": 7, "n2": 0}),
        weights=(3, 2),
    )
    table = framework.run_score(CycleState(), POD, TWO.nodes)
    assert isinstance(table, ScoreTable)
    assert table.raw == {"A": [10, 200], "B": [7, 0]}
    assert table.normalized == {"A": [5, 100], "B": [7, 0]}
    assert table.weights == {"A": 3, "B": 2}
    assert table.total == [29, 300]
    assert framework.has_scorers


def test_who_skips_in_pre_score_is_left_out() -> None:
    framework = build("preScore", answering("pre_score", "A", skip()), answering("pre_score", "B", None))
    state = CycleState()
    assert framework.run_pre_score(state, POD, TWO.nodes) is None
    assert state.skip_score == {"A"}
    table = build("score", scorer("A", {"n1": 1, "n2": 1})).run_score(state, POD, TWO.nodes)
    assert isinstance(table, ScoreTable)
    assert (table.total, table.raw) == ([0, 0], {})


def test_a_failed_pre_score_is_an_error() -> None:
    framework = build("preScore", answering("pre_score", "A", UNSCHEDULABLE))
    assert text(framework.run_pre_score(CycleState(), POD, [])) == ("Error", 'running PreScore plugin "A": busy', "")


@pytest.mark.parametrize(
    "scoring, want",
    [
        (scorer("A", {"n1": ERROR, "n2": 0}), 'running Score plugins: plugin "A" failed with: broken'),
        (
            scorer("A", {"n1": 0, "n2": 0}, normalize_score=lambda *_: ERROR),
            'running Normalize on Score plugins: plugin "A" failed with: broken',
        ),
        (
            scorer("A", {"n1": 0, "n2": 101}),
            'plugin "A" returns an invalid score 101, it should in the range of [0, 100] after normalizing',
        ),
        (
            scorer("A", {"n1": -1, "n2": 0}),
            'plugin "A" returns an invalid score -1, it should in the range of [0, 100] after normalizing',
        ),
    ],
)
def test_a_failed_score_is_an_error(scoring: type[Any], want: str) -> None:
    status = build("score", scoring).run_score(CycleState(), POD, TWO.nodes)
    assert isinstance(status, Status)
    assert text(status) == ("Error", want, "")


# --- binding ----------------------------------------------------------------------------------------------------


def reserving(name: str, answer: Status | None, log: list[str]) -> type[Any]:
    def reserve(*_: object) -> Status | None:
        log.append(f"reserve {name}")
        return answer

    return plugin(name, reserve=reserve, unreserve=lambda *_: log.append(f"unreserve {name}"))


def test_a_failed_reserve_unreserves_all_in_reverse() -> None:
    log: list[str] = []
    framework = build("reserve", *(reserving(n, a, log) for n, a in (("A", None), ("B", UU), ("C", None))))
    assert text(framework.run_reserve(CycleState(), POD, "n1")) == ("UnschedulableAndUnresolvable", "never", "B")
    assert log == ["reserve A", "reserve B", "unreserve C", "unreserve B", "unreserve A"]


def test_a_reserve_that_breaks_is_an_error() -> None:
    framework = build("reserve", reserving("A", ERROR, []))
    assert text(framework.run_reserve(CycleState(), POD, "n1")) == ("Error", 'running Reserve plugin "A": broken', "")


@pytest.mark.parametrize(
    "answer, want",
    [
        (None, ("Success", "", "")),
        (UNSCHEDULABLE, ("Unschedulable", "busy", "A")),
        (WAIT, ("Error", 'running Permit plugin "A": wait', "")),
    ],
)
def test_permit_cannot_wait(answer: Status | None, want: tuple[str, str, str]) -> None:
    assert text(build("permit", answering("permit", "A", answer)).run_permit(CycleState(), POD, "n1")) == want


BIND: dict[str, tuple[dict[str, Status | None], Status | None, tuple[str, str, str]]] = {
    "the first that takes the pod decides": ({"A": skip(), "B": None, "C": ERROR}, None, ("Success", "", "")),
    "a failure ends it": ({"A": ERROR, "B": None}, None, ("Error", 'running Bind plugin "A": broken', "")),
    "nobody is an error": ({"A": skip()}, None, ("Error", "no bind plugin took the pod", "")),
    "a failed PreBind ends it before": ({"A": None}, UU, ("Error", 'running PreBind plugin "P": never', "")),
}


@pytest.mark.parametrize("name", BIND)
def test_bind(name: str) -> None:
    binders, before, want = BIND[name]
    framework = build(
        "bind",
        *(answering("bind", *answer) for answer in binders.items()),
        preBind=(answering("pre_bind", "P", before),),
    )
    assert text(framework.run_bind(CycleState(), POD, "n1")) == want


def test_every_post_bind_plugin_is_told() -> None:
    asked: list[str] = []
    build("postBind", *(answering("post_bind", name, None, asked) for name in "AB")).run_post_bind(POD, "n1")
    assert asked == ["A", "B"]


# --- groups -----------------------------------------------------------------------------------------------------


def test_without_a_generator_the_parents_placement_is_the_only_candidate() -> None:
    framework = build("filter", ScriptedFilter)
    assert not framework.generates_placements
    assert framework.run_generate_placements(PodGroupCycleState(), GROUP, ALL_NODES) == ((ALL_NODES,), None)


def test_the_first_generator_decides() -> None:
    racks = (Placement("r1", (0,)), Placement("r2", (1,)))
    framework = build(
        "placementGenerate",
        answering("generate_placements", "A", (racks, None)),
        answering("generate_placements", "B", ((), ERROR)),
    )
    assert framework.generates_placements
    assert framework.run_generate_placements(PodGroupCycleState(), GROUP, ALL_NODES) == (racks, None)


def test_a_generator_that_refuses_is_an_error() -> None:
    framework = build("placementGenerate", answering("generate_placements", "A", ((), UNSCHEDULABLE)))
    placements, status = framework.run_generate_placements(PodGroupCycleState(), GROUP, ALL_NODES)
    assert placements == ()
    assert text(status) == ("Error", "busy", "A")


@pytest.mark.parametrize(
    "answers, want",
    [
        ({"A": None, "B": SUCCESS}, ("Success", "", "")),
        ({"A": WAIT, "B": None}, ("Wait", "wait", "A")),
        ({"A": WAIT, "B": UNSCHEDULABLE}, ("Unschedulable", "busy", "B")),
        ({"A": UU, "B": WAIT}, ("UnschedulableAndUnresolvable", "never", "A")),
        ({"A": ERROR, "B": UNSCHEDULABLE}, ("Error", "broken", "A")),
        ({"A": WAIT, "B": Status(Code.WAIT, ("more",))}, ("Wait", "more", "B")),
    ],
)
def test_placement_feasible(answers: dict[str, Status | None], want: tuple[str, str, str]) -> None:
    framework = build("placementFeasible", *(answering("placement_feasible", *a) for a in answers.items()))
    state = PlacementCycleState(PodGroupCycleState())
    assert text(framework.run_placement_feasible(state, GROUP, Progress(1, 0))) == want


def test_placement_scores_are_normalised_weighted_and_summed() -> None:
    def invert(state: object, scores: list[int]) -> None:
        scores[:] = [100 - score for score in scores]

    by_name = {"r1": 10, "r2": 40}
    score = plugin(
        "A",
        score_placement=lambda state, group, placement, _: by_name[placement.name],
        normalize_placement_score=invert,
    )
    framework = build("placementScore", score, answering("score_placement", "B", 1), weights=(2, 5))
    candidates = [
        (PlacementCycleState(PodGroupCycleState()), Placement(name, (row,)), ()) for row, name in enumerate(by_name)
    ]
    scores = framework.run_placement_score(PodGroupCycleState(), GROUP, candidates)
    assert not isinstance(scores, Status)
    assert scores.totals == [185, 125]


@pytest.mark.parametrize(
    "scoring",
    [
        answering("score_placement", "A", ERROR),
        plugin("A", score_placement=lambda *_: 0, normalize_placement_score=lambda *_: ERROR),
    ],
)
def test_a_failed_placement_score_is_an_error(scoring: type[Any]) -> None:
    candidate = (PlacementCycleState(PodGroupCycleState()), ALL_NODES, ())
    status = build("placementScore", scoring).run_placement_score(PodGroupCycleState(), GROUP, [candidate])
    assert isinstance(status, Status)
    assert text(status) == ("Error", 'running PlacementScore plugins: plugin "A" failed with: broken', "")


FOUND = PodGroupPostFilterResult({"default/p": "n1"})


@pytest.mark.parametrize(
    "answers, want_result, want",
    [
        ({"A": (None, UNSCHEDULABLE), "B": (FOUND, None)}, FOUND, ("Success", "", "")),
        ({"A": (None, UU), "B": (FOUND, None)}, None, ("UnschedulableAndUnresolvable", "never", "")),
        ({"A": (None, UNSCHEDULABLE), "B": (None, unschedulable("too"))}, None, ("Unschedulable", "busy, too", "")),
        (
            {"A": (None, WAIT), "B": (FOUND, None)},
            None,
            ("Error", 'error in "A" PodGroupPostFilter plugins: wait', ""),
        ),
    ],
)
def test_pod_group_post_filter(
    answers: dict[str, tuple[object, Status | None]], want_result: object, want: tuple[str, str, str]
) -> None:
    framework = build("podGroupPostFilter", *(answering("pod_group_post_filter", *a) for a in answers.items()))
    root = PoppedPodGroupInfo(GROUP.key, GROUP, {})
    result, status = framework.run_pod_group_post_filter(
        PodGroupCycleState(), root, lambda: RootAttempt(UNSCHEDULABLE, (), ())
    )
    assert result is want_result
    assert text(status) == want


def test_the_sort_key_is_the_plugins() -> None:
    entity = QueuedPodInfo(POD, 1)
    by_time = plugin("ByTime", sort_key=lambda e: (e.timestamp,))
    profile = Profile("s", {"queueSort": (PluginRef("ByTime"),)})
    assert Framework(profile, Registry({"ByTime": by_time}), FakeHandle()).sort_key(entity) == (1,)
