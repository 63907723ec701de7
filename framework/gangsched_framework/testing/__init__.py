"""For authors of plugins: builders of the objects a plugin sees, and fakes of what the engine lends it.

snapshot = make_snapshot([make_node("n1").capacity(cpu=4).obj()], [make_pod("a").requests(cpu=1).node("n1").obj()])
plugin = MyPlugin({}, FakeHandle(snapshot))
assert plugin.filter(CycleState(), make_pod("b").requests(cpu=4).obj(), snapshot.nodes[0]) is not None
"""

from gangsched_framework.testing.builders import (
    NodeBuilder,
    PodBuilder,
    PodsBuilder,
    make_node,
    make_pod,
    make_pods,
    selector,
)
from gangsched_framework.testing.fakes import (
    AlwaysFits,
    FakeClock,
    FakeHandle,
    FakeNominations,
    NameSort,
    ScriptedFilter,
    ScriptedPlacementFeasible,
    ScriptedScore,
    make_snapshot,
)
from gangsched_framework.testing.group_builders import (
    CompositePodGroupBuilder,
    PodGroupBuilder,
    make_composite_pod_group,
    make_pod_group,
)

__all__ = [
    "AlwaysFits",
    "CompositePodGroupBuilder",
    "FakeClock",
    "FakeHandle",
    "FakeNominations",
    "NameSort",
    "NodeBuilder",
    "PodBuilder",
    "PodGroupBuilder",
    "PodsBuilder",
    "ScriptedFilter",
    "ScriptedPlacementFeasible",
    "ScriptedScore",
    "make_composite_pod_group",
    "make_node",
    "make_pod",
    "make_pod_group",
    "make_pods",
    "make_snapshot",
    "selector",
]
