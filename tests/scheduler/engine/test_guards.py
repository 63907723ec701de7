"""A column stands for the per-node form only as long as the guards of its plugins hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from gangsched_framework.columns import Columns
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status, unschedulable
from tests.cycles.harness import Cluster, binds, messages, node, pod


class Closing:
    """Refuses every node while it is closed; else it has nothing to say, and so has its column."""

    name = "Closing"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._closed: dict[str, bool] = args["closed"]

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return unschedulable("closed") if self._closed["now"] else None

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        return Columns(guard=lambda: not self._closed["now"])


@pytest.mark.parametrize("from_the_start", [True, False])
def test_a_pod_is_looked_at_node_by_node_while_a_guard_does_not_hold(from_the_start: bool) -> None:
    closed, first = {"now": from_the_start}, pod("a")
    cluster = Cluster(node("n"), first, plugins=[("filter", Closing, {"closed": closed})])
    assert bool(binds(cluster.cycle())) is not from_the_start
    closed["now"] = True
    cluster.add(evolve(pod("b"), spec=first.spec))
    assert messages(cluster.cycle())["b"].startswith("0/1 nodes are available: 1 closed.")
    closed["now"] = False
    cluster.add(evolve(pod("c"), spec=first.spec))
    assert binds(cluster.cycle()) == {"c": "n"}
