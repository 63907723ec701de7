"""How often PlacementFeasible is asked about a group: while each child finds its place, the plugin's word is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from gangsched.bench import workloads
from gangsched.config import default_config
from gangsched.engine import run_ahead
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import GroupScheduling, Settings
from gangsched_framework.cycle_state import PlacementCycleState
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.placement import Progress
from gangsched_framework.profile import PluginRef
from gangsched_framework.status import Status, unschedulable
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry

Asked = list[tuple[int, int]]


class Listener:
    """Hears of the progress it is asked about, in ``args["asked"]``, and never objects."""

    name = "Listener"
    keeps_to_placement = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._asked: Asked = args["asked"]

    def placement_feasible(self, state: PlacementCycleState, group: PodGroupInfo, progress: Progress) -> Status | None:
        self._asked.append((progress.remaining, progress.scheduled))
        return None


class Capricious(Listener):
    """Promises nothing."""

    name = "Capricious"
    keeps_to_placement = False


class Objector(Listener):
    """Objects to every gang of one."""

    name = "Objector"

    def placement_feasible(self, state: PlacementCycleState, group: PodGroupInfo, progress: Progress) -> Status | None:
        super().placement_feasible(state, group, progress)
        return unschedulable("one is none") if group.group.required == 1 else None


class Latecomer(Objector):
    """Objects at the end only, which it has promised not to do."""

    name = "Latecomer"

    def placement_feasible(self, state: PlacementCycleState, group: PodGroupInfo, progress: Progress) -> Status | None:
        answer = super().placement_feasible(state, group, progress)
        return None if progress.remaining else answer


EACH: Asked = [(4, 0), (3, 1), (2, 1), (1, 2), (0, 3)]
"""Of four pods the second finds no node."""


@pytest.mark.parametrize(
    ("plugin", "settings", "asked"),
    [
        pytest.param(Listener, Settings(), [(4, 0), (2, 1), (0, 3)], id="first, last, and after a refused pod"),
        pytest.param(Capricious, Settings(), EACH, id="after each pod when a plugin does not keep to the placement"),
        pytest.param(Listener, Settings(tracing=True), EACH, id="after each pod for who traces"),
        pytest.param(Listener, Settings(oracle=True), EACH, id="after each pod by the oracle"),
        pytest.param(
            Listener,
            Settings(groups=GroupScheduling(pre_check=False)),
            EACH[1:],
            id="after each pod when nobody was asked before the first",
        ),
    ],
)
def test_placement_feasible_is_asked(plugin: type[Listener], settings: Settings, asked: Asked) -> None:
    heard: Asked = []
    core = _core(plugin, heard, settings)
    core.add(make_pod_group("g").min_count(3).obj())
    for number, cpu in enumerate((1, 9, 1, 1)):
        core.add(make_pod(f"g-{number}").requests(cpu=cpu).in_group("g").obj())
    assert core.step() is not None
    assert heard == asked


LEAF: Asked = [(1, 0), (0, 1)]


@pytest.mark.parametrize(
    ("plugin", "asked"),
    [
        pytest.param(Listener, [(2, 0), *LEAF, *LEAF, (0, 2)], id="first and last, each leaf in between"),
        pytest.param(
            Capricious, [(2, 0), *LEAF, (1, 1), *LEAF, (0, 2)], id="after each child when it promises nothing"
        ),
    ],
)
def test_about_a_tree_of_two_gangs_placement_feasible_is_asked(plugin: type[Listener], asked: Asked) -> None:
    heard: Asked = []
    core = _core(plugin, heard, Settings())
    core.add(make_composite_pod_group("t").min_group_count(2).obj())
    for leaf in ("a", "b"):
        core.add(make_pod_group(leaf).min_count(1).parent("t").obj())
    for leaf in ("a", "b"):
        core.add(make_pod(leaf).requests(cpu=1).in_group(leaf).obj())
    assert core.step() is not None
    assert heard == asked


@pytest.mark.parametrize(
    ("plugin", "asked", "bound"),
    [
        pytest.param(Listener, [(0, 2)], True, id="once, at the end"),
        pytest.param(Objector, [(0, 2), (2, 0)], False, id="once more from the beginning when somebody objects"),
        pytest.param(Latecomer, [(0, 2), (2, 0), (0, 2)], False, id="as if they were not known when he objects late"),
    ],
)
def test_about_a_leaf_whose_nodes_are_known_ahead_placement_feasible_is_asked(
    plugin: type[Listener], asked: Asked, bound: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_ahead, "START", 1)
    heard: Asked = []
    core = _core(plugin, heard, Settings())
    like, reports = make_pod("t").requests(cpu=1), []
    for group, minimum in (("a", 2), ("b", 2), ("c", 1), ("d", 2)):
        core.add(make_pod_group(group).min_count(minimum).obj())
        for pod in workloads.pods_like(like, 2, group, group):
            core.add(pod)
        heard.clear()
        reports.append(core.step())
        if group == "c":
            assert heard == asked
    verdicts = [[verdict.node is not None for verdict in report.pods.values()] for report in reports if report]
    assert verdicts == [[True, True], [True, True], [bound, bound], [True, True]]
    core._check()


def _core(plugin: type[Listener], heard: Asked, settings: Settings) -> Scheduler:
    registry = default_registry()
    registry.register(plugin.name, plugin)
    profile = default_config().profiles[0]
    point = "placementFeasible"
    points = {**profile.points, point: (*profile.points[point], PluginRef(plugin.name))}
    profile = evolve(profile, points=points, args={**profile.args, plugin.name: {"asked": heard}})
    core = Scheduler([profile], registry, settings=settings)
    core.add(make_node("n").capacity(cpu=8, memory="32Gi", pods=9).obj())
    return core
