"""Where columns find no node, PreFilter is asked when a PostFilter needs its state, and no sooner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.handle import Handle
from gangsched_framework.interface import PostFilterResult
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Pod
from gangsched_framework.status import Status, unschedulable
from gangsched_plugins.node_ports import NodePorts
from tests.cycles.harness import Cluster, node, pod


class Reading:
    """A PostFilter that reads the state without ado."""

    name = "Reading"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._found: list[bool] = args["found"]

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[PostFilterResult | None, Status | None]:
        self._found.append(state.prepared)
        return None, unschedulable("no")


@pytest.mark.parametrize(
    ("cpu", "reads", "asked"),
    [(64, False, []), (4, False, ["big"]), (64, True, ["big"])],
    ids=["no node may help", "a node may help", "another plugin reads the state"],
)
def test_pre_filter_is_asked_when_the_state_is_read(
    cpu: int, reads: bool, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    found: list[bool] = []
    plain = NodePorts.pre_filter

    def noted(
        self: NodePorts, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[frozenset[str] | None, Status | None]:
        seen.append(pod.name)
        return plain(self, state, pod, nodes)

    monkeypatch.setattr(NodePorts, "pre_filter", noted)
    plugins = [("postFilter", Reading, {"found": found})] if reads else []
    cluster = Cluster(node("n"), pod("low", cpu=4, on="n"), pod("big", cpu=cpu, priority=9), plugins=plugins)

    cluster.cycle()

    assert seen == asked
    assert found == [True] * reads
