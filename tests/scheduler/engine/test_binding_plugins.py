"""Plugins around a binding: what the submit asks them, and who hears that it was carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.handle import Handle
from gangsched_framework.objects import ClusterObject, Pod
from gangsched_framework.status import Status
from tests.cycles.harness import Cluster, inner, leaf, node, pod, pods

Asked = tuple[str, type[Any], Mapping[str, Any]]


class _Noting:
    """Keeps in ``args["heard"]`` what it is told."""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._heard: list[tuple[str, ...]] = args["heard"]

    @property
    def name(self) -> str:
        return type(self).__name__


class Listener(_Noting):
    def post_bind(self, pod: Pod, node_name: str) -> None:
        self._heard.append((pod.name, node_name))


class _Asked(_Noting):
    """Notes whether the state belongs to a placement."""

    def _note(self, point: str, state: CycleState) -> None:
        self._heard.append((point, "pod alone" if state.placement is None else "in a placement"))


class Keeper(_Asked):
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        self._note("reserve", state)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._note("unreserve", state)


class Guard(_Asked):
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        self._note("permit", state)
        return None


BOUND: dict[str, list[ClusterObject]] = {
    "a plain pod": [pod("a")],
    "a gang": [leaf("g", 3), *pods("g", 3)],
    "a large gang": [leaf("g", 12), *pods("g", 12)],
    "a large tree": [inner("R", 2), leaf("g", 6, "R"), leaf("h", 6, "R"), *pods("g", 6), *pods("h", 6)],
    "a large gang of which one finds no node": [leaf("g", 12), *pods("g", 12), pod("wide", "g", cpu=50)],
}


@pytest.mark.parametrize("waiting", BOUND.values(), ids=BOUND)
def test_a_post_bind_plugin_hears_once_of_each_binding(waiting: Sequence[ClusterObject]) -> None:
    heard: list[tuple[str, ...]] = []
    cluster = Cluster(node("n", cpu=20), waiting, plugins=[("postBind", Listener, {"heard": heard})])
    cluster.cycle()
    assert heard == sorted(cluster.bound.items())
    assert len(heard) == sum(isinstance(each, Pod) and each.name != "wide" for each in waiting)


def test_a_post_bind_plugin_hears_nothing_of_a_binding_that_failed() -> None:
    heard: list[tuple[str, ...]] = []
    cluster = Cluster(node("n"), leaf("g", 3), pods("g", 3), plugins=[("postBind", Listener, {"heard": heard})])
    cluster.cycle(fail_bind=["g-1"])
    assert heard == [("g-0", "n"), ("g-2", "n")]


def test_binding_is_about_the_pod_alone_even_where_a_placement_chose_its_node() -> None:
    heard: list[tuple[str, ...]] = []
    plugins: list[Asked] = [("reserve", Keeper, {"heard": heard}), ("permit", Guard, {"heard": heard})]
    waiting: list[ClusterObject] = [leaf("g", 1, topology="rack"), *pods("g", 1)]
    cluster = Cluster(node("n", rack="r"), waiting, plugins=plugins)
    report = cluster.cycle(fail_bind=["g-0"])
    assert len(report.pods) == 1
    at_submit = heard[heard.index(("reserve", "pod alone")) :]
    assert at_submit == [("reserve", "pod alone"), ("permit", "pod alone"), ("unreserve", "pod alone")]
    assert ("reserve", "in a placement") in heard
