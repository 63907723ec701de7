"""A refusal is remembered for equal trees only where every plugin that is asked about groups declares what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from gangsched.config import default_config
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched_framework.cycle_state import CycleState, PlacementCycleState, PodGroupCycleState
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo, PoppedPodGroupInfo
from gangsched_framework.interface import PodGroupPostFilterResult, SchedulingFunction
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Placement, Progress
from gangsched_framework.profile import PluginRef
from gangsched_framework.status import Status, unresolvable, unschedulable
from gangsched_framework.testing import make_node, make_pod, make_pod_group
from gangsched_plugins.default_registry import default_registry


class _ByName:
    """Dislikes what is called ``bad``, which no kind of tree tells."""

    name = "ByName"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        pass


class _Feasible(_ByName):
    def placement_feasible(self, state: PlacementCycleState, group: PodGroupInfo, progress: Progress) -> Status | None:
        return unschedulable("disliked") if group.group.name == "bad" else None


class _Generate(_ByName):
    def generate_placements(
        self, state: PodGroupCycleState, group: PodGroupInfo, parent: Placement
    ) -> tuple[tuple[Placement, ...], Status | None]:
        return () if group.group.name == "bad" else (parent,), None


class _Reserve(_ByName):
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return unschedulable("disliked") if pod.name == "bad-0" else None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        pass


class _PostFilter(_ByName):
    def pod_group_post_filter(
        self, state: PodGroupCycleState, root: PoppedPodGroupInfo, schedule: SchedulingFunction
    ) -> tuple[PodGroupPostFilterResult | None, Status | None]:
        return None, unresolvable(f"no help for {root.tree.group.name}")


@pytest.mark.parametrize(
    ("plugin", "point", "cpu"),
    [
        pytest.param(_Feasible, "placementFeasible", 1, id="PlacementFeasible may look at the group's name"),
        pytest.param(_Generate, "placementGenerate", 1, id="PlacementGenerate may look at the group's name"),
        pytest.param(_Reserve, "reserve", 1, id="Reserve may look at the pod's name"),
        pytest.param(_PostFilter, "podGroupPostFilter", 9, id="PodGroupPostFilter may tell the group's name"),
    ],
)
def test_a_group_is_judged_by_itself(plugin: type[_ByName], point: str, cpu: int) -> None:
    remembering, forgetful = (_second_of_two(plugin, point, cpu, memo=memo) for memo in (True, False))
    assert remembering == forgetful


def _second_of_two(plugin: type[_ByName], point: str, cpu: int, *, memo: bool) -> tuple[object, ...]:
    """What becomes of a group after an equal one of another name has been refused."""
    registry = default_registry()
    registry.register(plugin.name, plugin)
    profile = default_config().profiles[0]
    points = {**profile.points, point: (PluginRef(plugin.name), *profile.points.get(point, ()))}
    core = Scheduler([evolve(profile, points=points)], registry, settings=Settings(memo=memo))
    core.add(make_node("n").capacity(cpu=8, memory="32Gi", pods=9).obj())
    for name in ("bad", "good"):
        core.add(make_pod_group(name).min_count(1).obj())
        core.add(make_pod(f"{name}-0").requests(cpu=cpu).in_group(name).obj())
    first, second = core.step(), core.step()
    assert first is not None
    assert second is not None
    assert first.entity == "podgroup/default/bad"
    assert first.root is not None
    assert not first.root.ok
    assert second.root is not None
    groups = [(verdict.status.code, verdict.status.reasons) for verdict in second.groups.values()]
    return (second.root.code, second.root.reasons, groups)
