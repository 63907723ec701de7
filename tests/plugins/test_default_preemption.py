"""DefaultPreemption: spec podgroup-scheduling.md §5, rows 161-176 of §8.5, node-plugins.md §7.13 and §8.3."""

from __future__ import annotations

import pytest
from attrs import evolve, frozen

from gangsched_framework.events import Hint
from gangsched_framework.objects import Group, Node, Pod, PodDisruptionBudget
from gangsched_framework.pod_spec import LabelSelector, Requirement
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group
from gangsched_framework.words import PreemptionPolicy
from tests.plugins.arena import Arena


def node(name: str, cpu: int = 2, **labels: str) -> Node:
    built = make_node(name).capacity(cpu=cpu, memory="16Gi", pods=110).label("kubernetes.io/hostname", name).obj()
    return evolve(built, labels={**built.labels, **labels})


def running(name: str, on: str, cpu: int = 1, priority: int = 0, group: str = "", app: str = "", at: int = 0) -> Pod:
    builder = make_pod(name).requests(cpu=cpu).node(on).priority(priority).started(at)
    builder = builder.in_group(group) if group else builder
    return (builder.label("app", app) if app else builder).obj()


def waiting(name: str = "p", cpu: int = 2, priority: int = 10, group: str = "") -> Pod:
    builder = make_pod(name).requests(cpu=cpu).priority(priority)
    return (builder.in_group(group) if group else builder).obj()


def leaf(name: str, minimum: int | None = None, priority: int = 0, parent: str = "", whole: bool = False) -> Group:
    builder = make_pod_group(name).priority(priority).disruption("all" if whole else "single")
    builder = builder.parent(parent) if parent else builder
    return (builder.min_count(minimum) if minimum is not None else builder).obj()


def inner(name: str, minimum: int = 1, priority: int = 0, parent: str = "", whole: bool = False) -> Group:
    builder = make_composite_pod_group(name).priority(priority).disruption("all" if whole else "single")
    builder = builder.parent(parent) if parent else builder
    return builder.min_group_count(minimum).obj()


def budget(app: str, allowed: int = 0) -> PodDisruptionBudget:
    return PodDisruptionBudget("default", f"budget-{app}", LabelSelector((("app", app),)), allowed)


def being_preempted(pod: Pod) -> Pod:
    leaving = evolve(pod, deletion_timestamp=1)
    return leaving.with_condition(
        make_pod("x").condition("DisruptionTarget", "True", "PreemptionByScheduler").obj().status.conditions[0]
    )


# --- plain pods: the messages ---------------------------------------------------------------------------------------


@frozen
class Case:
    name: str
    pod: Pod
    nodes: list[Node]
    running: list[Pod]
    text: str
    victims: tuple[str, ...] = ()
    nominated: str | None = None
    groups: tuple[Group, ...] = ()
    budgets: tuple[PodDisruptionBudget, ...] = ()


PLAIN = [
    Case(
        "no node has a code that preemption can change",
        waiting(cpu=3),
        [node("n1"), node("n2")],
        [running("a", "n1")],
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
        nominated="",
    ),
    Case(
        "equal priority gives no victims",
        waiting(priority=5),
        [node("n1"), node("n2", cpu=1)],
        [running("a", "n1", priority=5)],
        "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling.",
        nominated="",
    ),
    Case(
        "a pod that must not preempt does not",
        evolve(waiting(), preemption_policy="Never"),
        [node("n1")],
        [running("a", "n1")],
        "preemption: not eligible due to preemptionPolicy=Never.",
    ),
    Case(
        "victims on the nominated node are waited for",
        make_pod("p").requests(cpu=2).priority(10).nominated("n1").obj(),
        [node("n1"), node("n2")],
        [being_preempted(running("a", "n1")), running("b", "n2")],
        "preemption: not eligible due to a terminating pod on the nominated node.",
    ),
    Case(
        "a pod that terminates for another reason is not waited for",
        make_pod("p").requests(cpu=2).priority(10).nominated("n1").obj(),
        [node("n1")],
        [evolve(running("a", "n1"), deletion_timestamp=1)],
        "preemption: found a potential placement for pod on node n1, preempting 1 victims",
        ("a",),
        "n1",
    ),
    Case(
        "a nominated node that became unresolvable is not waited for",
        make_pod("p").requests(cpu=2).priority(10).nominated("n1").node_selector("rack", "b").obj(),
        [node("n1"), node("n2", rack="b")],
        [being_preempted(running("a", "n1")), running("b", "n2")],
        "preemption: found a potential placement for pod on node n2, preempting 1 victims",
        ("b",),
        "n2",
    ),
    Case(
        "a terminating pod of an important group is none of our victims",
        make_pod("p").requests(cpu=2).priority(10).nominated("n1").obj(),
        [node("n1")],
        [being_preempted(running("a", "n1", group="g")), running("b", "n1")],
        "preemption: 0/1 nodes are available: 1 Insufficient cpu.",
        nominated="",
        groups=(leaf("g", 1, priority=10),),
    ),
    Case(
        "a node that does not fit without its victims gives its own reasons",
        waiting(cpu=2),
        [node("n1")],
        [running("a", "n1"), running("b", "n1", priority=10)],
        "preemption: 0/1 nodes are available: 1 Insufficient cpu.",
        nominated="",
    ),
    Case(
        "the most important of two victims is given back",
        waiting(cpu=1),
        [node("n1")],
        [running("a", "n1", priority=1), running("b", "n1", priority=2)],
        "preemption: found a potential placement for pod on node n1, preempting 1 victims",
        ("a",),
        "n1",
    ),
    Case(
        "of equal victims the older one stays",
        waiting(cpu=1),
        [node("n1")],
        [running("a", "n1", at=5), running("b", "n1", at=3)],
        "preemption: found a potential placement for pod on node n1, preempting 1 victims",
        ("a",),
        "n1",
    ),
    Case(
        "of equal victims of one age the one with the smaller name stays",
        waiting(cpu=1),
        [node("n1")],
        [running("b", "n1"), running("a", "n1")],
        "preemption: found a potential placement for pod on node n1, preempting 1 victims",
        ("b",),
        "n1",
    ),
    Case(
        "a budget protects a less important pod as long as another suffices",
        waiting(cpu=1),
        [node("n1")],
        [running("a", "n1", priority=1, app="db"), running("b", "n1", priority=2)],
        "preemption: found a potential placement for pod on node n1, preempting 1 victims",
        ("b",),
        "n1",
        budgets=(budget("db"),),
    ),
    Case(
        "a budget with room protects nobody",
        waiting(cpu=1),
        [node("n1")],
        [running("a", "n1", priority=1, app="db"), running("b", "n1", priority=2)],
        "preemption: found a potential placement for pod on node n1, preempting 1 victims",
        ("a",),
        "n1",
        budgets=(budget("db", 1),),
    ),
    Case(
        "an all group goes whole, from other nodes too",
        waiting(cpu=2),
        [node("n1"), node("n2", cpu=1)],
        [running("a", "n1", group="g"), running("b", "n2", group="g"), running("c", "n1", priority=9)],
        "preemption: found a potential placement for pod on node n1, preempting 3 victims",
        ("c", "a", "b"),
        "n1",
        groups=(leaf("g", whole=True),),
    ),
    Case(
        "of a single group only the pod that is in the way goes",
        waiting(cpu=1),
        [node("n1"), node("n2", cpu=1)],
        [running("a", "n1", group="g"), running("b", "n2", group="g"), running("c", "n1", priority=9)],
        "preemption: found a potential placement for pod on node n1, preempting 1 victims",
        ("a",),
        "n1",
        groups=(leaf("g", 1),),
    ),
    Case(
        "the priority of the group decides, not the pod's",
        waiting(cpu=2),
        [node("n1")],
        [running("a", "n1", priority=0, group="g")],
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
        nominated="",
        groups=(leaf("g", 1, priority=10),),
    ),
]


@pytest.mark.parametrize("case", PLAIN, ids=[case.name for case in PLAIN])
def test_plain_pod(case: Case) -> None:
    arena = Arena(case.nodes, case.running, case.groups, case.budgets)
    result, text = arena.preempt(case.pod)
    assert text == case.text
    assert (result.nominated_node if result else None) == case.nominated
    assert tuple(pod.name for pod in (result.victims if result else ())) == case.victims


# --- plain pods: which node -----------------------------------------------------------------------------------------

RANKING: list[tuple[str, list[Pod], str]] = [
    ("fewer budget violations win", [running("a", "n1", 2, app="db"), running("b", "n2", 2, priority=9)], "n2"),
    ("the lower top priority wins", [running("a", "n1", 2, priority=3), running("b", "n2", 2, priority=2)], "n2"),
    (
        "the smaller sum of priorities wins",
        [running("a", "n1", priority=3), running("b", "n1", priority=2),
         running("c", "n2", priority=3), running("d", "n2", priority=1)],
        "n2",
    ),
    (
        "more victims weigh more, even of negative priority",
        [running("a", "n1", priority=-1), running("b", "n1", priority=-9), running("c", "n2", 2, priority=-1)],
        "n2",
    ),
    ("the younger one goes", [running("a", "n1", 2, at=1), running("b", "n2", 2, at=2)], "n2"),
    ("the first node wins", [running("a", "n1", 2), running("b", "n2", 2)], "n1"),
]  # fmt: skip


@pytest.mark.parametrize("pods, want", [case[1:] for case in RANKING], ids=[case[0] for case in RANKING])
def test_the_cheapest_node_is_emptied(pods: list[Pod], want: str) -> None:
    result, _ = Arena([node("n1"), node("n2")], pods, budgets=[budget("db")]).preempt(waiting())
    assert result is not None
    assert result.nominated_node == want


NOT_TIER = LabelSelector(match_expressions=(Requirement("tier", "NotIn", ("x",)),))
DRAWS: list[tuple[str, list[PodDisruptionBudget], list[Pod], str]] = [
    (
        "of a whole group only the pods that break a budget are counted",
        [budget("db")],
        [running("a", "n1", 2, group="g", app="db"), running("b", "n3", 0, group="g"),
         running("c", "n2", priority=-1, app="db"), running("d", "n2", priority=-1, app="db")],
        "n1",
    ),
    (
        "a pod without labels breaks no budget, whatever its selector",
        [PodDisruptionBudget("default", "b", NOT_TIER)],
        [running("a", "n1", 2, app="db"), running("b", "n2", 2, priority=9)],
        "n2",
    ),
    (
        "a pod its budget counts as gone breaks it no more",
        [PodDisruptionBudget("default", "b", LabelSelector((("app", "db"),)), disrupted=frozenset({"a"}))],
        [running("a", "n1", 2, app="db"), running("b", "n2", 2, app="db", priority=-9)],
        "n1",
    ),
    (
        "a pod that breaks one budget takes nothing from the next",
        [PodDisruptionBudget("default", "none", LabelSelector((("app", "db"),))),
         PodDisruptionBudget("default", "one", NOT_TIER, 1)],
        [running("a", "n1", 1, app="db"), running("b", "n1", 1, app="web"),
         running("c", "n2", 1, priority=-1, app="db"), running("d", "n2", 1, priority=-2, app="db")],
        "n1",
    ),
]  # fmt: skip


@pytest.mark.parametrize("budgets, pods, want", [case[1:] for case in DRAWS], ids=[case[0] for case in DRAWS])
def test_what_breaks_a_budget(budgets: list[PodDisruptionBudget], pods: list[Pod], want: str) -> None:
    nodes = [node("n1"), node("n2"), node("n3", cpu=1)]
    result, _ = Arena(nodes, pods, [leaf("g", whole=True)], budgets).preempt(waiting())
    assert result is not None
    assert result.nominated_node == want


def test_an_all_unit_counts_as_all_its_pods_when_nodes_are_compared() -> None:
    pods = [running("a", "n1", 2, group="g"), running("b", "n3", 1, group="g"), running("c", "n2"), running("d", "n2")]
    arena = Arena([node("n1"), node("n2"), node("n3", cpu=1)], pods, [leaf("g", whole=True)])
    result, _ = arena.preempt(waiting())
    assert result is not None
    assert result.nominated_node == "n1"  # two pods each, equal in everything: the first node
    pods.append(running("e", "n3", 0, group="g"))
    result, _ = Arena([node("n1"), node("n2"), node("n3", cpu=1)], pods, [leaf("g", whole=True)]).preempt(waiting())
    assert result is not None
    assert result.nominated_node == "n2"


def test_the_search_ends_when_enough_candidates_are_found_and_one_breaks_no_budget() -> None:
    nodes = [node(f"n{i}") for i in range(4)]
    pods = [running("a", "n0", 2, app="db"), running("b", "n1", 2, 5), running("c", "n2", 2, 4), running("d", "n3", 2)]
    few = {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 1}
    result, _ = Arena(nodes, pods, budgets=[budget("db")], args=few).preempt(waiting())
    assert result is not None
    assert result.nominated_node == "n1"
    result, _ = Arena(nodes, pods, budgets=[budget("db")]).preempt(waiting())
    assert result is not None
    assert result.nominated_node == "n3"


CLEARED: list[tuple[str, list[str], bool, str, list[str]]] = [
    ("are cleared", [], False, "n1", ["lower"]),
    ("are left alone while their status does not show them", [], False, "", []),
    ("are cleared though all victims are leaving already", [], True, "n1", ["lower"]),
    ("are cleared beside asynchronous evictions", ["SchedulerAsyncPreemption"], False, "n1", ["lower"]),
    ("stay where there is nothing to evict asynchronously", ["SchedulerAsyncPreemption"], True, "n1", []),
]


@pytest.mark.parametrize(
    "gates, leaving, shown, want", [case[1:] for case in CLEARED], ids=[case[0] for case in CLEARED]
)
def test_nominations_of_lower_pods_on_the_chosen_node(
    gates: list[str], leaving: bool, shown: str, want: list[str]
) -> None:
    victim = evolve(running("a", "n1", 2), deletion_timestamp=1 if leaving else None)
    arena = Arena([node("n1")], [victim], gates=gates)
    lower, equal = waiting("lower", priority=5), waiting("equal", cpu=0, priority=10)
    lower = evolve(lower, status=evolve(lower.status, nominated_node_name=shown))
    arena.handle.nominations.nominate(lower, "n1")
    arena.handle.nominations.nominate(equal, "n1")
    result, _ = arena.preempt(waiting())
    assert result is not None
    assert [pod.name for pod in result.cleared] == want


def test_a_nominated_pod_of_higher_priority_keeps_the_room_it_was_promised() -> None:
    arena = Arena([node("n1")], [running("a", "n1", 2)])
    arena.handle.nominations.nominate(waiting("higher", priority=20), "n1")
    result, text = arena.preempt(waiting())
    assert result is not None
    assert result.victims == ()
    assert text == "preemption: 0/1 nodes are available: 1 Insufficient cpu."


def test_an_anti_affinity_that_goes_with_its_pod_makes_room() -> None:
    keeper = make_pod("keeper").node("n1").anti_affinity("kubernetes.io/hostname", {"app": "web"}).obj()
    other = running("other", "n1", priority=0)
    arena = Arena([node("n1", cpu=4)], [keeper, other])
    result, _ = arena.preempt(evolve(waiting(cpu=1), labels={"app": "web"}))
    assert result is not None
    assert [pod.name for pod in result.victims] == ["keeper"]


# --- groups ---------------------------------------------------------------------------------------------------------

HIGH = leaf("high", 1, priority=10)
FOUND = "pod group preemption: found a placement for podgroup, preempting {} victims"


def members(count: int, cpu: int = 2, group: str = "high") -> list[Pod]:
    return [waiting(f"{group}-{i}", cpu, group=group) for i in range(count)]


def test_a_gang_of_equal_priority_finds_no_victims() -> None:
    arena = Arena([node("n1")], [running("a", "n1", 2, priority=10)], [HIGH])
    result, text = arena.preempt_group(HIGH, members(1))
    assert result is None
    assert text == "pod group preemption: No preemption victims found for incoming preemptor"


def test_a_member_that_must_not_preempt_stops_the_group() -> None:
    pods = [*members(1), evolve(waiting("x", group="high"), preemption_policy="Never")]
    arena = Arena([node("n1")], [running("a", "n1", 2)], [HIGH])
    assert arena.preempt_group(HIGH, pods) == (
        None,
        "pod group preemption: not eligible due to preemptionPolicy=Never.",
    )


@pytest.mark.parametrize(("policy", "preempts"), [("Never", False), ("PreemptLowerPriority", True)])
def test_with_its_gate_the_policy_of_the_root_counts_and_not_that_of_the_pods(
    policy: PreemptionPolicy, preempts: bool
) -> None:
    root = make_pod_group("high").priority(10).min_count(1).preemption_policy(policy).obj()
    pods = [evolve(pod, preemption_policy="Never") for pod in members(1)]
    arena = Arena([node("n1")], [running("a", "n1", 2)], [root], gates=["PodGroupPreemptionPolicy"])
    assert (arena.preempt_group(root, pods)[0] is not None) is preempts


def test_an_overcommitted_node_keeps_its_most_important_pods() -> None:
    """Row 163: the node takes three pods and holds four; the preemptor is one pod."""
    low = [running(name, "n1", 1, priority=i) for i, name in enumerate("abcd")]
    arena = Arena([node("n1", cpu=3)], low, [HIGH])
    result, text = arena.preempt_group(HIGH, members(1, cpu=1))
    assert result is not None
    assert [pod.name for pod in result.victims] == ["b", "a"]
    assert text == FOUND.format(2)
    assert result.nominations == {"default/high-0": "n1"}


def test_the_unprotected_one_of_two_victims_goes() -> None:
    low = [running("a", "n1", 1, priority=1, app="db"), running("b", "n1", 1, priority=2)]
    arena = Arena([node("n1")], low, [HIGH], [budget("db")])
    result, _ = arena.preempt_group(HIGH, members(1, cpu=1))
    assert result is not None
    assert [pod.name for pod in result.victims] == ["b"]


SUBTREES: list[tuple[str, list[Group], set[str]]] = [
    ("a group of mode all goes whole", [leaf("g", 1, whole=True)], {"a", "b", "c"}),
    ("of a group of mode single one pod goes", [leaf("g", 1)], {"c"}),
    (
        "a composite group of mode all takes its single children along",
        [inner("r", whole=True), leaf("g", 1, parent="r"), leaf("h", 1, parent="r")],
        {"a", "b", "c", "x"},
    ),
    (
        "a leaf of mode all below a single root goes alone",
        [inner("r"), leaf("g", 1, parent="r", whole=True), leaf("h", 1, parent="r")],
        {"a", "b", "c"},
    ),
    (
        "the highest group of mode all counts",
        [
            inner("q", whole=True),
            inner("r", parent="q"),
            leaf("g", 1, parent="r", whole=True),
            leaf("h", 1, parent="q"),
        ],
        {"a", "b", "c", "x"},
    ),
]


@pytest.mark.parametrize("groups, want", [case[1:] for case in SUBTREES], ids=[case[0] for case in SUBTREES])
def test_what_goes_together(groups: list[Group], want: set[str]) -> None:
    low = [
        running("a", "n1", group="g"), running("b", "n2", group="g"), running("c", "n3", group="g"),
        running("x", "n4", group="h"),
        *(running(f"k{i}", f"n{i}", priority=10) for i in (1, 2, 4)),
    ]  # fmt: skip
    nodes = [node("n1"), node("n2"), node("n3", cpu=1), node("n4")]
    low = [pod for pod in low if pod.group_name != "h" or any(group.name == "h" for group in groups)]
    arena = Arena(nodes, low, [*groups, HIGH])
    chosen = evolve(waiting("high-0", 1, group="high"))
    result, _ = arena.preempt_group(
        HIGH, [evolve(chosen, spec=evolve(chosen.spec, node_selector={"kubernetes.io/hostname": "n3"}))]
    )
    assert result is not None
    assert {pod.name for pod in result.victims} == want


@pytest.mark.parametrize(
    "groups, stays",
    [
        ([leaf("g", 1, whole=True)], "z"),
        ([leaf("b", 1, whole=True), inner("c", whole=True), leaf("g", 1, parent="c")], "z"),
    ],
    ids=["a group is more important than a pod", "a composite group is more important than a group"],
)
def test_of_equal_priority_the_larger_kind_stays(groups: list[Group], stays: str) -> None:
    low = [running("a", "n1", 1, group="b" if len(groups) > 1 else ""), running("z", "n1", 1, group="g")]
    result, _ = Arena([node("n1")], low, [*groups, HIGH]).preempt_group(HIGH, members(1, cpu=1))
    assert result is not None
    assert [pod.name for pod in result.victims if pod.name == stays] == []
    assert len(result.victims) == 1


def test_two_members_on_one_node_need_room_for_both() -> None:
    gang = leaf("high", 2, priority=10)
    low = [running(name, "n1", 1, priority=i) for i, name in enumerate("abc")]
    result, _ = Arena([node("n1", cpu=3)], low, [gang]).preempt_group(gang, members(2, cpu=1))
    assert result is not None
    assert [pod.name for pod in result.victims] == ["b", "a"]


def test_nobody_goes_for_a_gang_that_would_not_fit_into_an_empty_cluster() -> None:
    gang = leaf("high", 2, priority=10)
    arena = Arena([node("n1")], [running("a", "n1", 2)], [gang])
    result, text = arena.preempt_group(gang, members(2))
    assert result is None
    assert text.startswith("pod group preemption: pod group is unschedulable, 0/1 placements are available")


def test_every_pod_of_the_found_assignment_is_nominated() -> None:
    gang = leaf("high", 3, priority=10)
    nodes = [node(f"n{i}") for i in range(3)]
    arena = Arena(nodes, [running(f"a{i}", f"n{i}", 2) for i in range(3)], [gang])
    result, text = arena.preempt_group(gang, members(3))
    assert result is not None
    assert sorted(result.nominations.values()) == ["n0", "n1", "n2"]
    assert text == FOUND.format(3)


@pytest.mark.parametrize("on, ongoing", [("n1", True), ("n2", False)])
def test_victims_on_a_nominated_node_are_waited_for_and_nominations_kept(on: str, ongoing: bool) -> None:
    pods = [evolve(members(1)[0], status=make_pod("x").nominated("n1").obj().status)]
    low = [being_preempted(running("a", on, 2)), running("b", "n2" if on == "n1" else "n1", 2)]
    result, text = Arena([node("n1"), node("n2")], low, [HIGH]).preempt_group(HIGH, pods)
    assert result is not None
    assert (text == "pod group preemption: ongoing preemption on nominated nodes") is ongoing
    assert (result.victims == ()) is ongoing
    assert result.nominations == {"default/high-0": "n1"}


def test_a_unit_that_repels_a_member_stays_where_the_members_pre_filter_had_nothing_to_say() -> None:
    """As v1.37.2: InterPodAffinity skipped the member in the emptied cluster, and is not asked about it again."""
    keeper = make_pod("keeper").node("n1").anti_affinity("kubernetes.io/hostname", {"app": "web"}).obj()
    arena = Arena([node("n1", cpu=4)], [keeper, running("other", "n1")], [HIGH])
    result, text = arena.preempt_group(HIGH, [evolve(members(1, cpu=1)[0], labels={"app": "web"})])
    assert result is not None
    assert result.victims == ()
    assert text == FOUND.format(0)


def test_what_a_node_is_to_its_nominee_it_is_to_nobody_else() -> None:
    """Dry runs are remembered for pods of one kind, but the nominee's own nomination does not count for itself."""
    arena = Arena([node("n1"), node("n2", cpu=1)], [running("a", "n1", 2)])
    nominee = make_pod("first").requests(cpu=2).priority(10).nominated("n1").obj()
    arena.algorithm.nominations.nominate(nominee, "n1")  # type: ignore[attr-defined]
    other = evolve(waiting("second"), spec=nominee.spec)
    for pod, nominated in ((nominee, "n1"), (other, ""), (nominee, "n1")):
        result, text = arena.preempt(pod)
        assert result is not None, text
        assert result.nominated_node == nominated, text


# --- units that cannot be told: errors of v1.37.2 ---------------------------------------------------------------------

BROKEN = 'error in "DefaultPreemption" PodGroupPostFilter plugins: pod group preemption: '
LOST = 'failed to get node info for node "gone" from snapshot: nodeinfo not found for node name "gone"'


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("priority", [0, 10], ids=["of a lesser unit", "of a unit that may not be evicted"])
def test_a_pod_on_a_node_that_has_gone_breaks_the_preemption_of_groups(whole: bool, priority: int) -> None:
    low = leaf("low", priority=priority, whole=whole)
    pods = [running("a", "n1", 1, group="low"), running("b", "gone", 1, group="low"), running("c", "n1", 1)]
    result, text = Arena([node("n1")], pods, [HIGH, low]).preempt_group(HIGH, members(1))
    assert (text == f"{BROKEN}failed to create domain: {LOST}") is whole
    assert result is None or not whole


def test_a_pod_that_came_on_a_node_nobody_knows_while_the_cycle_ran_does_not_matter() -> None:
    low = leaf("low", whole=True)
    arena = Arena([node("n1")], [running("a", "n1", 2, group="low"), running("b", "gone", 1)], [HIGH, low])
    arena.snapshot.forest.add_pod(running("late", "ghost", 1, group="low"))  # the table is held
    assert arena.preempt_group(HIGH, members(1))[1] == FOUND.format(1)


def test_a_pod_on_a_node_that_has_gone_does_not_matter_when_it_goes_alone() -> None:
    pods = [running("a", "n1", 2), running("b", "gone", 1)]
    _, text = Arena([node("n1")], pods, [HIGH]).preempt_group(HIGH, members(1))
    assert text == FOUND.format(1)


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        (["n1"], f"preemption: {LOST}"),
        (["n1", "n2"], f"preemption: [{LOST}, {LOST.replace('gone', 'lost')}]"),
        (["n1", "n3"], "preemption: found a potential placement for pod on node n3, preempting 1 victims"),
    ],
    ids=["one node, one error", "unlike errors in brackets", "another node may still be found"],
)
def test_a_pod_on_a_node_that_has_gone_breaks_the_preemption_on_the_nodes_of_its_unit(
    nodes: list[str], text: str
) -> None:
    groups = [leaf("g1", whole=True), leaf("g2", whole=True)]
    pods = [running("a", "n1", 2, group="g1"), running("b", "gone", 1, group="g1")]
    pods += [running("c", "n2", 2, group="g2"), running("d", "lost", 1, group="g2"), running("e", "n3", 2)]
    pods = [pod for pod in pods if pod.node_name in (*nodes, "gone", "lost")]
    assert Arena([node(name) for name in nodes], pods, groups).preempt(waiting())[1] == text


def test_in_a_tree_of_five_levels_a_pod_of_two_units_breaks_the_preemption() -> None:
    """A leaf of the fourth level belongs to the top, one of the fifth climbs no higher than the second level."""
    tree = [inner("c0", whole=True), inner("c1", parent="c0", whole=True), inner("c2", parent="c1")]
    tree += [inner("c3", parent="c2"), leaf("deep", parent="c3"), leaf("flat", parent="c2")]
    pods = [running("shallow", "n1", 1, group="flat"), running("deepest", "n1", 1, group="deep")]
    _, text = Arena([node("n1")], pods, [HIGH, *tree]).preempt_group(HIGH, members(1))
    assert text == f"{BROKEN}no corresponding pod shallow in pods of node n1"


# --- queueing -------------------------------------------------------------------------------------------------------


def test_its_own_hint_never_queues() -> None:
    (registration,) = Arena([]).plugin.events_to_register()
    assert registration.event.label == "AssignedPod/Delete"
    assert registration.hint is not None
    assert registration.hint(waiting(), running("a", "n1"), None) is Hint.SKIP


def test_with_asynchronous_preemption_the_whole_tree_is_held_back_until_its_victims_leave() -> None:
    victim = running("a", "n1", 2)
    arena = Arena([node("n1")], [victim], [HIGH], gates=["SchedulerAsyncPreemption"])
    pods = members(1)
    assert arena.plugin.pre_enqueue(pods[0]) is None
    arena.preempt_group(HIGH, pods)
    held = arena.plugin.pre_enqueue(pods[0])
    assert held is not None
    assert held.message == "waiting for the preemption for this pod to be finished"
    assert arena.plugin.pre_enqueue(waiting()) is None
    arena.snapshot.table.replace_pod(evolve(victim, deletion_timestamp=1), "n1")
    assert arena.plugin.pre_enqueue(pods[0]) is None


def test_of_several_victims_the_first_that_leaves_opens_the_gate() -> None:
    victims = [running("a", "n1", 1), running("b", "n1", 1)]
    arena = Arena([node("n1", 2)], victims, [HIGH], gates=["SchedulerAsyncPreemption"])
    pods = members(1, 2)
    arena.preempt_group(HIGH, pods)
    assert arena.plugin.pre_enqueue(pods[0]) is not None
    arena.snapshot.table.replace_pod(evolve(victims[0], deletion_timestamp=1), "n1")
    assert arena.plugin.pre_enqueue(pods[0]) is None


def test_without_asynchronous_preemption_nothing_is_held_back() -> None:
    arena = Arena([node("n1")], [running("a", "n1", 2)], [HIGH])
    pods = members(1)
    arena.preempt_group(HIGH, pods)
    assert arena.plugin.pre_enqueue(pods[0]) is None
