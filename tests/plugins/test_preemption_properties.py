"""Whatever the world, preemption takes lesser units only, whole, enough of them, and leaves the snapshot as found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.objects import Group, Pod, PodDisruptionBudget
from gangsched_framework.pod_spec import LabelSelector
from gangsched_framework.status import FitError
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group
from gangsched_plugins.default_preemption.units import Unit, UnitFinder
from tests.plugins.arena import Arena

HOST = "kubernetes.io/hostname"
NODES = [make_node(name).capacity(cpu=3, memory="1Gi", pods=9).label(HOST, name).obj() for name in ("a", "b", "c")]
PREEMPTOR = make_pod_group("high").min_count(2).priority(5).obj()
GROUPS: list[Group] = [
    PREEMPTOR,
    make_composite_pod_group("whole").disruption("all").priority(1).obj(),
    make_pod_group("g").parent("whole").priority(1).obj(),
    make_pod_group("h").disruption("all").priority(2).obj(),
    make_pod_group("i").priority(9).obj(),
]
WHOLE = {"g": {"g"}, "h": {"h"}}
"""Group -> groups that go with it."""

apps = st.sampled_from(["web", "db", ""])
budgets = st.sampled_from([9, 0, 1, 2])
running_pods = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 2), st.integers(0, 6), st.sampled_from(["", "", "g", "h", "i"]), apps, apps
    ),
    max_size=9,
)


def _pod(name: str, cpu: int, priority: int, group: str, app: str, avoids: str) -> Any:
    builder = make_pod(name).requests(cpu=cpu).priority(priority)
    builder = builder.in_group(group) if group else builder
    builder = builder.label("app", app) if app else builder
    return builder.anti_affinity(HOST, {"app": avoids}) if avoids else builder


def _arena(drawn: Sequence[tuple[int, int, int, str, str, str]], allowed: int) -> tuple[Arena, list[Pod]]:
    """``allowed``: how many of the pods of app db a budget lets go; 9 = there is no budget."""
    pods = [
        _pod(f"r{i}", cpu, priority, group, app, avoids).node(NODES[on].name).obj()
        for i, (on, cpu, priority, group, app, avoids) in enumerate(drawn)
    ]
    budget = PodDisruptionBudget("default", "budget", LabelSelector((("app", "db"),)), allowed)
    return Arena(NODES, pods, GROUPS, [budget] if allowed < 9 else []), pods


def _check_victims(victims: Sequence[Pod], pods: Sequence[Pod], arena: Arena, below: int) -> None:
    gone = {victim.name for victim in victims}
    assert len(gone) == len(victims)
    for victim in victims:
        group = arena.snapshot.forest.group(victim.group_key) if victim.group_key else None
        assert (group.effective_priority if group else victim.priority) < below
        together = WHOLE.get(victim.group_name, set[str]())
        assert {pod.name for pod in pods if pod.group_name in together} <= gone


def _breaks_the_budget(units: Sequence[Unit], allowed: int) -> tuple[list[Unit], list[Unit]]:
    """(units that find no disruption left, the others), the most important unit drawing first."""
    left = allowed
    parts: tuple[list[Unit], list[Unit]] = ([], [])
    for unit in units:
        left -= sum(pod.labels.get("app") == "db" for pod, _ in unit.pods)
        drew = any(pod.labels.get("app") == "db" for pod, _ in unit.pods)
        parts[not (drew and left < 0)].append(unit)
    return parts


def _no_budget_is_broken_in_vain(
    arena: Arena, victims: Sequence[Pod], seats: Sequence[tuple[Pod, str]], allowed: int, units: Sequence[Unit]
) -> None:
    """A unit that breaks a budget goes only if the seats cannot be had from all the others alone."""
    protected, others = _breaks_the_budget(units, allowed)
    gone = {victim.key for victim in victims}
    if not any(pod.key in gone for unit in protected for pod, _ in unit.pods):
        return
    mark = arena.snapshot.mark()
    for unit in others:
        for pod, node in unit.pods:
            arena.snapshot.remove(pod, node.name)
    assert not _fit(arena, seats), "a budget was broken in vain"
    arena.snapshot.rollback(mark)


def _fit(arena: Arena, seats: Sequence[tuple[Pod, str]]) -> bool:
    """Whether each pod passes on its node beside those before it. Leaves them assumed."""
    for pod, name in seats:
        node, state = arena.snapshot.node(name), CycleState()
        assert node is not None
        if arena.framework.run_pre_filter(state, pod, arena.snapshot.nodes).status is not None:
            return False
        if arena.framework.run_filter(state, pod, node) is not None:
            return False
        arena.snapshot.assume(pod, name)
    return True


@settings(deadline=None)
@given(running_pods, st.integers(1, 3), apps, apps, budgets)
def test_plain_pods(drawn: Any, cpu: int, app: str, avoids: str, allowed: int) -> None:
    arena, pods = _arena(drawn, allowed)
    pod = _pod("p", cpu, 5, "", app, avoids).obj()
    assume(isinstance(arena.algorithm.schedule(arena.framework, CycleState(), pod), FitError))
    result, _ = arena.preempt(pod)  # asserts that the snapshot is as it was
    if result is None or not result.victims:
        return
    _check_victims(result.victims, pods, arena, 5)
    node = arena.snapshot.node(result.nominated_node or "")
    assert node is not None
    units = UnitFinder(arena.snapshot.forest, arena.snapshot).on_node(node, 5)
    _no_budget_is_broken_in_vain(arena, result.victims, [(pod, node.name)], allowed, units)
    for victim in result.victims:
        arena.snapshot.remove(victim, victim.node_name)
    arena.algorithm.nominations.nominate(pod, result.nominated_node)  # type: ignore[attr-defined]
    answer = arena.algorithm.schedule(arena.framework, CycleState(), pod)
    assert isinstance(answer, str), answer


@settings(deadline=None)
@given(running_pods, st.lists(st.tuples(st.integers(1, 3), apps, apps), min_size=2, max_size=3), budgets)
def test_groups(drawn: Any, members: list[tuple[int, str, str]], allowed: int) -> None:
    arena, pods = _arena(drawn, allowed)
    waiting = [_pod(f"w{i}", cpu, 5, "high", app, avoids).obj() for i, (cpu, app, avoids) in enumerate(members)]
    result, _ = arena.preempt_group(PREEMPTOR, waiting)
    if result is None:
        return
    _check_victims(result.victims, pods, arena, 5)
    seats = [(pod, result.nominations[pod.key]) for pod in waiting if pod.key in result.nominations]
    units = UnitFinder(arena.snapshot.forest, arena.snapshot).everywhere(5)
    _no_budget_is_broken_in_vain(arena, result.victims, seats, allowed, units)
    for victim in result.victims:
        arena.snapshot.remove(victim, victim.node_name)
    gone = {victim.name for victim in result.victims}
    stay = [avoids for i, (*_, avoids) in enumerate(drawn) if f"r{i}" not in gone]
    # as v1.37.2: whom PreFilter skipped in the emptied cluster is not asked whether a unit given back repels the member
    assume(not any(app and app in stay for _, app, _ in members))
    assert _fit(arena, seats)


full_nodes = st.lists(
    st.tuples(
        st.just(1), st.integers(0, 4), st.sampled_from(["", "", "h"]), st.sampled_from(["db", "web"]), st.just("")
    ),
    min_size=9,
    max_size=9,
).map(lambda drawn: [(i // 3, *rest) for i, rest in enumerate(drawn)])
"""Three pods on each node, which is full then."""


@settings(deadline=None)
@given(full_nodes, st.integers(1, 3), st.integers(0, 2))
def test_budgets_on_full_nodes(drawn: Any, cpu: int, allowed: int) -> None:
    """Somebody must always go here, so that budgets decide."""
    arena, pods = _arena(drawn, allowed)
    pod = _pod("p", cpu, 5, "", "", "").obj()
    plain, _ = arena.preempt(pod)
    assert plain is not None
    assert plain.nominated_node
    node = arena.snapshot.node(plain.nominated_node)
    assert node is not None
    finder = UnitFinder(arena.snapshot.forest, arena.snapshot)
    seats = [(pod, node.name)]
    _no_budget_is_broken_in_vain(arena, plain.victims, seats, allowed, finder.on_node(node, 5))
    waiting = [_pod(f"w{i}", cpu, 5, "high", "", "").obj() for i in range(2)]
    group, text = arena.preempt_group(PREEMPTOR, waiting)
    assert group is not None, text
    _check_victims(group.victims, pods, arena, 5)
    seats = [(each, group.nominations[each.key]) for each in waiting]
    _no_budget_is_broken_in_vain(arena, group.victims, seats, allowed, finder.everywhere(5))
