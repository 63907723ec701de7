"""The columns of the resource plugins: vector passes, single rows and per-node forms agree, whatever the amounts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched_framework.columns import ScoreColumn
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Node, Pod
from gangsched_framework.testing import FakeHandle, make_node, make_pod
from gangsched_plugins.common.float_columns import MANY, FloatColumns
from gangsched_plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from gangsched_plugins.node_resources_fit import NodeResourcesFit

GPU = "nvidia.com/gpu"
AMOUNTS = st.one_of(st.integers(0, 20), st.sampled_from((2**20, 2**46, 2**47, 2**53, 2**56, 2**57 - 1)))
SMALL = st.integers(0, 20)
STRATEGIES = ("LeastAllocated", "MostAllocated")


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    count = draw(st.integers(1, 5))
    return [
        make_node(f"n{at}")
        .capacity(cpu=f"{draw(AMOUNTS)}m", memory=draw(AMOUNTS), pods=draw(st.integers(0, 3)), **{GPU: draw(SMALL)})
        .obj()
        for at in range(count)
    ]


@st.composite
def pods(draw: st.DrawFn, name: str) -> Pod:
    requests: dict[str, Any] = {}
    for resource, amounts in (("cpu", AMOUNTS), ("memory", AMOUNTS), (GPU, SMALL)):
        if draw(st.booleans()):
            amount = draw(amounts)
            requests[resource] = f"{amount}m" if resource == "cpu" else amount
    return make_pod(name).requests(**requests).obj()


def _table(known: Sequence[Node]) -> NodeTable:
    table = NodeTable()
    for node in known:
        table.add_node(node)
    table.settle()
    return table


def _weights(strategy: str, gpu: int, alone: bool) -> dict[str, Any]:
    """``alone``: the GPU is all that counts, or nothing does."""
    resources = [] if alone and gpu else [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 2}]
    if gpu:
        resources.append({"name": GPU, "weight": gpu})
    return {"scoringStrategy": {"type": strategy, "resources": resources}}


@given(
    known=nodes(),
    running=st.lists(st.tuples(pods("r"), SMALL), max_size=6),
    pod=pods("p"),
    strategy=st.sampled_from(STRATEGIES),
    gpu=st.integers(0, 3),
    alone=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_vector_row_and_node_agree(
    known: list[Node], running: list[tuple[Pod, int]], pod: Pod, strategy: str, gpu: int, alone: bool
) -> None:
    table, handle = _table(known), FakeHandle()
    fit = NodeResourcesFit(_weights(strategy, gpu, alone), handle)
    balanced = NodeResourcesBalancedAllocation({}, handle)
    for at, (other, where) in enumerate([(None, 0), *running]):
        if other is not None:
            placed = make_pod(f"r{at}").obj()
            table.add_pod(Pod("default", placed.name, placed.uid, other.spec), known[where % len(known)].name)
        for plugin in (fit, balanced):
            columns = plugin.columns(pod, table)
            if columns is None or columns.score is None:
                continue
            score = columns.score
            assert isinstance(score, ScoreColumn)
            vector, one = score.vector(), score.one
            assert one is not None
            rows = range(len(table.names))
            assert vector.tolist() == [one(row if score.facts is None else score.facts(row)) for row in rows]
            assert vector.tolist() == [plugin.score(CycleState(), pod, table.infos[row]) for row in rows]
        _check_refusals(fit, pod, table)


def _check_refusals(fit: NodeResourcesFit, pod: Pod, table: NodeTable) -> None:
    """Equal reasons have equal words, and none passes."""
    columns = fit.columns(pod, table)
    if columns is None:
        return
    column = columns.filter
    assert column is not None
    assert column.test is not None
    assert column.reason is not None
    assert column.facts is not None
    rows = np.arange(len(table.names))
    status_of = {int(row): status for status, refused in column.refusals(rows) for row in refused}
    words: dict[int, object] = {}
    for row in range(len(table.names)):
        reason, status = column.reason(row), status_of.get(row)
        assert (reason == 0) == column.test(column.facts(row)) == bool(column.mask()[row]) == (status is None)
        if status is not None:
            assert words.setdefault(reason, status.reasons) == status.reasons


@pytest.mark.parametrize("left", [False, True])
def test_float_columns_follow_the_rows_that_are_touched(left: bool) -> None:
    table = _table([make_node(f"n{at:03}").capacity(cpu=4, memory="8Gi", pods=9).obj() for at in range(2 * MANY)])
    used, capacity = table.column("cpu")
    floats = FloatColumns(table, (used,), (capacity,), 100) if left else FloatColumns(table, (used,))
    floats.now()
    number = 0
    for count in (1, MANY - 1, MANY, MANY + 1, 2 * MANY):
        for at in range(count):
            number += 1
            table.add_pod(make_pod(f"p{number}").requests(cpu="10m").obj(), f"n{at:03}")
        (now,) = floats.now()
        assert now.tolist() == [100 * (c - u) if left else u for u, c in zip(used, capacity, strict=True)]
