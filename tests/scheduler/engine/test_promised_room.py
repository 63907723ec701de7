"""Why a node with promised room refuses a pod: as the per-node form says, also when the promise ends."""

from __future__ import annotations

import pytest
from attrs import evolve

from gangsched.config import default_config
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched_framework.testing import make_node, make_pod
from gangsched_plugins import names
from gangsched_plugins.default_registry import default_registry


@pytest.mark.parametrize("oracle", [False, True])
def test_a_node_of_the_wrong_zone_is_not_called_full_when_the_promise_there_ended(oracle: bool) -> None:
    profile = default_config().profiles[0]
    filters = profile.points["filter"]
    full_first = sorted(filters, key=lambda ref: ref.name != names.NODE_RESOURCES_FIT)  # it is asked before the zone
    profile = evolve(profile, points={**profile.points, "filter": tuple(full_first)})
    core = Scheduler([profile], default_registry(), settings=Settings(oracle=oracle))
    for name, zone, cpu in (("n1", "a", 4), ("n2", "b", 1)):
        core.add(make_node(name).label("zone", zone).capacity(cpu=cpu, memory="32Gi", pods=9).obj())
    promised = [make_pod(f"to-{n}").priority(9).gate("x").requests(cpu=3).nominated(n).obj() for n in ("n1", "n2")]
    for pod in promised:
        core.add(pod)
    assert core.nominator.nominated_node(promised[0]) == "n1"

    def why() -> str:
        report = core.step()
        assert report is not None
        (verdict,) = report.pods.values()
        assert verdict.status is not None
        return verdict.status.message.partition(" preemption:")[0]

    waiting = make_pod("p").requests(cpu=2).node_selector("zone", "b").obj()
    core.add(waiting)
    assert why() == "0/2 nodes are available: 2 Insufficient cpu."
    core.delete(promised[0])
    core.add(evolve(waiting, name="q", uid="q"))
    assert why() == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector."
    )
