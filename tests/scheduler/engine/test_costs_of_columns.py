"""What a pod costs in rows repaired, columns made and steps undone: counted, not timed, on clusters of two sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gangsched.bench import workloads
from gangsched.bench.scheduling import SchedulingTrial
from gangsched.bench.sizes import Sizes
from gangsched.bench.workload import Workload
from gangsched.config import default_config
from gangsched.engine import columns as kinds
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.signature_column import REBUILD_ABOVE, SignatureColumn
from gangsched_framework.node_table import NodeTable
from gangsched_framework.testing import make_node, make_pod
from gangsched_plugins.default_registry import default_registry
from gangsched_plugins.node_affinity import NodeAffinity
from gangsched_plugins.node_resources_fit import NodeResourcesFit
from gangsched_plugins.taint_toleration import TaintToleration
from tests.scheduler.engine.test_costs_of_domains_and_victims import columns_of, run

NODES = [60, 300]
Build = Callable[[Sizes], Workload]

LIKE: dict[str, tuple[Build, Callable[[int], Sizes]]] = {
    "plain pods": (workloads.basic, lambda nodes: Sizes(nodes, 200)),
    "gangs of three": (workloads.gangs, lambda nodes: Sizes(nodes, 70, 0, 3)),
    "one large gang": (workloads.gangs, lambda nodes: Sizes(nodes, 1, 0, 200)),
    "trees": (workloads.trees, lambda nodes: Sizes(nodes, 30, 2, 3)),
    "taints and preferred affinity": (workloads.taints_and_affinity, lambda nodes: Sizes(nodes, 200)),
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[int]]:
    """Count the calls of a function; the list grows by one for each."""

    def patch(owner: Any, name: str) -> list[int]:
        seen: list[int] = []
        plain = getattr(owner, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            seen.append(1)
            return plain(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)
        return seen

    return patch


def work(columns: list[SignatureColumn]) -> tuple[int, int]:
    """Rows repaired and columns filled anew."""
    return sum(column.repaired for column in columns), sum(column.rebuilt for column in columns)


def repairs(columns: list[SignatureColumn]) -> int:
    """Rows repaired; filling anew, but for the first time, takes the place of more than ``REBUILD_ABOVE`` of them."""
    repaired, rebuilt = work(columns)
    return repaired + REBUILD_ABOVE * (rebuilt - len(columns))


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize(("build", "sizes"), LIKE.values(), ids=LIKE)
def test_a_run_of_like_pods_fills_one_column_and_repairs_a_row_for_each(
    build: Build, sizes: Callable[[int], Sizes], nodes: int
) -> None:
    trial = run(build, sizes(nodes))

    assert repairs(columns_of(trial)) <= sizes(nodes).pods


def test_kinds_that_come_and_go_are_forgotten_and_no_two_share_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "MAX_COLUMNS", 2)
    core = Scheduler(default_config().profiles, default_registry())
    core.add(make_node("n").capacity(cpu=8, pods=9).obj())
    core.world.table.settle()
    cache = core.columns
    assert cache is not None
    found = [cache.of(core.frameworks["default-scheduler"], make_pod("p").requests(cpu=n).obj()) for n in range(100)]
    assert len({column.number for column in found if column is not None}) == 100
    assert len(cache._numbers) <= 32


@pytest.mark.parametrize("nodes", NODES)
def test_mixed_shapes_repair_a_row_for_each_pod_and_shape_at_most(nodes: int) -> None:
    columns = columns_of(run(workloads.mixed_shapes, Sizes(nodes, 200)))

    assert len(columns) <= workloads.SHAPES
    assert repairs(columns) <= 200 * len(columns)


def _unplaceable(nodes: int, pods: int) -> SchedulingTrial:
    trial = SchedulingTrial(workloads.fits_nowhere(Sizes(nodes, pods)), patient=False, oracle=False)
    trial.run()
    return trial


@pytest.mark.parametrize("nodes", NODES)
def test_like_pods_that_fit_nowhere_are_refused_by_one_look(nodes: int, calls: Callable[[Any, str], list[int]]) -> None:
    looks = calls(SignatureColumn, "_refusals")
    assert not _unplaceable(nodes, 50).host.bindings
    assert len(looks) == 1


def test_a_touched_row_is_looked_at_again() -> None:
    trial = _unplaceable(3, 5)
    (column,) = columns_of(trial)
    kept = column.refusals(None)
    assert column.refusals(None) is kept
    trial.core.world.table.touch("node-000001")
    assert column.refusals(None) is not kept


@pytest.mark.parametrize("nodes", NODES)
def test_pods_that_differ_in_requests_make_only_the_columns_of_requests_anew(
    nodes: int, calls: Callable[[Any, str], list[int]]
) -> None:
    made = {plugin: calls(plugin, "columns") for plugin in (NodeResourcesFit, TaintToleration, NodeAffinity)}

    trial = run(workloads.distinct_shapes, Sizes(nodes, 100))

    assert {plugin.name: len(seen) for plugin, seen in made.items()} == {
        "NodeResourcesFit": 100,
        "TaintToleration": 1,
        "NodeAffinity": 1,
    }
    assert work(columns_of(trial)) == (0, 100)


@pytest.mark.parametrize("trees", [1, 3])
@pytest.mark.parametrize("nodes", NODES)
def test_taking_a_tree_back_costs_what_it_had_placed(
    nodes: int, trees: int, calls: Callable[[Any, str], list[int]]
) -> None:
    """And like trees, refused in the same world, are not tried at all."""
    taken = calls(NodeTable, "remove_pod")
    trial = SchedulingTrial(workloads.rolled_back_trees(Sizes(nodes, trees, 2, 80)), patient=False, oracle=False)

    trial.run()

    assert len(taken) == 80  # the first gang, once
    assert repairs(columns_of(trial)) <= 2 * len(taken)
