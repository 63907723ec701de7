"""How often PlacementFeasible is asked about a leaf: as long as each pod finds a node, the plugin's word is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from gangsched.config import default_config
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import GroupScheduling, Settings
from gangsched_framework.cycle_state import PlacementCycleState
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.placement import Progress
from gangsched_framework.profile import PluginRef
from gangsched_framework.status import Status
from gangsched_framework.testing import make_node, make_pod, make_pod_group
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
    registry = default_registry()
    registry.register(plugin.name, plugin)
    profile = default_config().profiles[0]
    point = "placementFeasible"
    points = {**profile.points, point: (*profile.points[point], PluginRef(plugin.name))}
    profile = evolve(profile, points=points, args={**profile.args, plugin.name: {"asked": heard}})
    core = Scheduler([profile], registry, settings=settings)
    core.add(make_node("n").capacity(cpu=8, memory="32Gi", pods=9).obj())
    core.add(make_pod_group("g").min_count(3).obj())
    for number, cpu in enumerate((1, 9, 1, 1)):
        core.add(make_pod(f"g-{number}").requests(cpu=cpu).in_group("g").obj())
    assert core.step() is not None
    assert heard == asked
