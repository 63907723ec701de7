"""Any order of the same creations ends in the same places (spec §8.7.5)."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched_framework.objects import ClusterObject, CompositePodGroup, PodGroup
from tests.cycles.harness import Cluster, inner, leaf, node, pods
from tests.properties.test_engine_machine import CHECKS

MINIMA = st.sampled_from([None, 1, 2, 3])
NAMES = ("a", "b", "c")


@st.composite
def trees(draw: st.DrawFn) -> list[ClusterObject]:
    """One tree of two levels, a lone group, their pods, some of which run already."""
    objects: list[ClusterObject] = [node("n", cpu=99), inner("R", draw(MINIMA)), inner("S", draw(MINIMA), "R")]
    for name in (*NAMES, "lone"):
        parent = "" if name == "lone" else draw(st.sampled_from(["R", "S", "missing"]))
        objects.append(leaf(name, draw(MINIMA), parent))
        waiting, running = draw(st.integers(0, 3)), draw(st.integers(0, 2))
        objects += pods(name, waiting)
        objects += pods(name, running, start=waiting, on="n")
    return objects


@settings(max_examples=20, deadline=None, suppress_health_check=CHECKS)
@given(objects=trees(), data=st.data())
def test_any_order_of_creation_leads_to_the_same_places(objects: Sequence[ClusterObject], data: st.DataObject) -> None:
    one, other = Cluster(list(objects)), Cluster(data.draw(st.permutations(objects)))
    assert one.where == other.where
    forests = [cluster.core.world.forest for cluster in (one, other)]
    for obj in objects:
        if isinstance(obj, PodGroup | CompositePodGroup):
            assert len({forest.ready(obj.key) for forest in forests}) == 1


@settings(max_examples=12, deadline=None, suppress_health_check=CHECKS)
@given(objects=trees(), data=st.data())
def test_any_order_of_creation_leads_to_the_same_bindings(
    objects: Sequence[ClusterObject], data: st.DataObject
) -> None:
    one, other = Cluster(list(objects)), Cluster(data.draw(st.permutations(objects)))
    for cluster in (one, other):
        while cluster.core.queue.has_ready():
            cluster.cycle()
            if len(cluster.reports) > 20:
                break
    assert set(one.bound) == set(other.bound)
    assert one.used_cpu() == other.used_cpu()
