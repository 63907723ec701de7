"""Spreading over nodes and domains: scores found by kinds of nodes and pods on them are those found node by node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched_framework.columns import View
from gangsched_framework.node_table import NodeTable
from gangsched_framework.testing import make_node, make_pod
from gangsched_plugins.pod_topology_spread.columnar import SpreadSums, score_column
from gangsched_plugins.pod_topology_spread.constraints import HOSTNAME, SOFT, NodeInclusion, compile_constraints

KEYS = st.permutations([HOSTNAME, "zone", "rack"])


@settings(deadline=None)
@given(
    labels=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=8),
    keys=KEYS,
    skews=st.tuples(*[st.integers(1, 5)] * 3),
    rounds=st.lists(st.lists(st.tuples(st.integers(0, 7), st.sampled_from("xxy")), max_size=12), max_size=3),
    all_keys=st.booleans(),
)
def test_scores_by_cells_are_those_of_the_nodes(
    labels: Sequence[tuple[int, int]],
    keys: Sequence[str],
    skews: Sequence[int],
    rounds: Sequence[Sequence[tuple[int, str]]],
    all_keys: bool,
) -> None:
    table = NodeTable()
    for at, (zone, rack) in enumerate(labels):
        node = make_node(f"n{at}").label(HOSTNAME, f"n{at}")
        for key, value in (("zone", zone), ("rack", rack)):
            node = node.label(key, f"{key}-{value}") if value else node
        table.add_node(node.obj())
    table.settle()
    pod = make_pod("p").label("app", "x")
    for key, skew in zip(keys, skews, strict=True):
        pod = pod.spread(key, {"app": "x"}, max_skew=skew, when="ScheduleAnyway")
    asking = pod.obj()
    constraints = compile_constraints(asking.spec.topology_spread_constraints, SOFT, asking)
    parts = SpreadSums().parts(table, asking, constraints, NodeInclusion(asking, False), all_keys)
    score = score_column(parts, all_keys)
    view, number = View(np.arange(len(labels)), whole=True), 0
    for placed in [[], *rounds]:
        for row, app in placed:
            number += 1
            table.add_pod(make_pod(f"r{number}").label("app", app).obj(), f"n{row % len(labels)}")
        by_cells = score.scores(view, None)
        assert by_cells.tolist() == score.scores(view, np.ones(len(labels), np.int64)).tolist()
