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


def _arena(drawn: Sequence[tuple[int, int, int, str, str, str]], protected: bool) -> tuple[Arena, list[Pod]]:
    pods = [
        _pod(f"r{i}", cpu, priority, group, app, avoids).node(NODES[on].name).obj()
        for i, (on, cpu, priority, group, app, avoids) in enumerate(drawn)
    ]
    budget = PodDisruptionBudget("default", "budget", LabelSelector((("app", "db"),)), 0)
    return Arena(NODES, pods, GROUPS, [budget] if protected else []), pods


def _check_victims(victims: Sequence[Pod], pods: Sequence[Pod], arena: Arena, below: int) -> None:
    gone = {victim.name for victim in victims}
    assert len(gone) == len(victims)
    for victim in victims:
        group = arena.snapshot.forest.group(victim.group_key) if victim.group_key else None
        assert (group.effective_priority if group else victim.priority) < below
        together = WHOLE.get(victim.group_name, set[str]())
        assert {pod.name for pod in pods if pod.group_name in together} <= gone


@settings(deadline=None)
@given(running_pods, st.integers(1, 3), apps, apps, st.booleans())
def test_plain_pods(drawn: Any, cpu: int, app: str, avoids: str, protected: bool) -> None:
    arena, pods = _arena(drawn, protected)
    pod = _pod("p", cpu, 5, "", app, avoids).obj()
    assume(isinstance(arena.algorithm.schedule(arena.framework, CycleState(), pod), FitError))
    result, _ = arena.preempt(pod)  # asserts that the snapshot is as it was
    if result is None or not result.victims:
        return
    _check_victims(result.victims, pods, arena, 5)
    for victim in result.victims:
        arena.snapshot.remove(victim, victim.node_name)
    arena.algorithm.nominations.nominate(pod, result.nominated_node)  # type: ignore[attr-defined]
    answer = arena.algorithm.schedule(arena.framework, CycleState(), pod)
    assert isinstance(answer, str), answer


@settings(deadline=None)
@given(running_pods, st.lists(st.tuples(st.integers(1, 3), apps, apps), min_size=2, max_size=3), st.booleans())
def test_groups(drawn: Any, members: list[tuple[int, str, str]], protected: bool) -> None:
    arena, pods = _arena(drawn, protected)
    waiting = [_pod(f"w{i}", cpu, 5, "high", app, avoids).obj() for i, (cpu, app, avoids) in enumerate(members)]
    result, text = arena.preempt_group(PREEMPTOR, waiting)
    if result is None:
        return
    assert result.victims, text
    _check_victims(result.victims, pods, arena, 5)
    for victim in result.victims:
        arena.snapshot.remove(victim, victim.node_name)
    for pod in waiting:
        if pod.key in result.nominations:
            node = arena.snapshot.node(result.nominations[pod.key])
            assert node is not None
            state = CycleState()
            assert arena.framework.run_pre_filter(state, pod, arena.snapshot.nodes).status is None
            assert arena.framework.run_filter(state, pod, node) is None
            arena.snapshot.assume(pod, node.name)
