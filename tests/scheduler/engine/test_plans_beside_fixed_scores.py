"""A plan counts in the scores normalised over the feasible nodes; where these change on the way, it is refused."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched.config import default_config
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework.objects import Node, Pod
from gangsched_framework.testing import make_node, make_pod
from gangsched_plugins.default_registry import default_registry

PREFERRED = (("disk", "ssd", 3), ("zone", "a", 5))


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    known = []
    for at in range(draw(st.integers(1, 8))):
        node = make_node(f"n{at}").capacity(cpu=draw(st.integers(1, 6)), memory="32Gi", pods=draw(st.integers(1, 4)))
        for key, value, _ in PREFERRED:
            if draw(st.booleans()):
                node = node.label(key, value)
        for key in draw(st.sampled_from(((), (), ("busy",), ("busy", "old")))):
            node = node.taint(key, effect="PreferNoSchedule")
        known.append(node.obj())
    return known


def _pods() -> list[Pod]:
    like = make_pod("p").requests(cpu=1, memory="1Gi")
    for key, value, weight in PREFERRED:
        like = like.node_affinity(key, value, weight=weight)
    spec = like.obj().spec
    return [Pod("default", f"p{at}", f"Pod|default/p{at}#1", spec) for at in range(30)]


def _column(known: list[Node], pod: Pod) -> tuple[Scheduler, SignatureColumn]:
    core = Scheduler(default_config().profiles, default_registry())
    for node in known:
        core.add(node)
    core.world.table.settle()
    assert core.columns is not None
    column = core.columns.of(core.frameworks["default-scheduler"], pod)
    assert column is not None
    return core, column


@settings(deadline=None, max_examples=200)
@given(nodes(), st.integers(1, 12), st.integers(0, 6), st.data())
def test_a_plan_equals_choosing_one_by_one(known: list[Node], count: int, before: int, data: st.DataObject) -> None:
    pods = _pods()
    core, column = _column(known, pods[0])
    table, names = core.world.table, core.world.table.names
    everywhere = np.arange(len(names))
    for pod in pods[:before]:
        row = column.best()
        if row >= 0:
            table.add_pod(pod, names[row])
    some = data.draw(st.lists(st.sampled_from(range(len(names))), unique=True, min_size=1))
    for rows in (np.array(sorted(some)), everywhere):
        planned = column.plan(rows, count)
        if planned is None:
            continue
        taken = []
        for pod in pods[before : before + count]:
            row = column.best_of(rows)
            if row < 0:
                break
            taken.append(row)
            table.add_pod(pod, names[row])
        assert planned == taken
        for pod, row in zip(pods[before:], taken, strict=False):
            table.remove_pod(pod, names[row])


def test_a_plan_that_outlives_the_preferred_nodes_is_refused() -> None:
    """Three pods fit on the only preferred node; without it, no node is preferred to another."""
    preferred = make_node("n0").capacity(cpu=3, memory="32Gi", pods=9).label("disk", "ssd").obj()
    others = [make_node(f"n{at}").capacity(cpu=9, memory="32Gi", pods=9).obj() for at in (1, 2)]
    _, column = _column([preferred, *others], _pods()[0])
    rows = np.arange(3)
    assert column.plan(rows, 2) is not None
    assert column.plan(rows, 12) is None
