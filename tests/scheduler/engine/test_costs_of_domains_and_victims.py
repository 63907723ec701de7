"""What must not be done for every pod: questions counted, not seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gangsched.bench import workloads
from gangsched.bench.scheduling import SchedulingTrial
from gangsched.bench.sizes import Sizes
from gangsched.bench.workload import Workload
from gangsched.engine import placement_algorithm
from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework.framework import Framework
from gangsched_plugins.default_preemption.pod_preemption import PodPreemption
from gangsched_plugins.default_preemption.trial import Trial


def run(build: Callable[[Sizes], Workload], sizes: Sizes, *, patient: bool = False) -> SchedulingTrial:
    trial = SchedulingTrial(build(sizes), patient=patient, oracle=False)
    outcome = trial.run()
    assert len(outcome.bindings) == sizes.pods
    return trial


def columns_of(trial: SchedulingTrial) -> list[SignatureColumn]:
    cache = trial.core.columns
    assert cache is not None
    assert not cache.fallbacks
    return [column for column in cache._columns.values() if isinstance(column, SignatureColumn)]


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[int]]:
    """Count the calls of a function; the list grows by one for each."""

    def patch(owner: Any, name: str) -> list[int]:
        calls: list[int] = []
        plain = getattr(owner, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            calls.append(1)
            return plain(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)
        return calls

    return patch


SPREADING = {
    "hard spread over zones": workloads.hard_spread,
    "soft spread over zones": workloads.soft_spread,
    "anti-affinity by hostname": workloads.anti_affinity,
}


@pytest.mark.parametrize("build", SPREADING.values(), ids=SPREADING)
def test_a_placed_pod_costs_the_repair_of_its_row_alone(build: Callable[[Sizes], Workload]) -> None:
    pods = 90
    columns = columns_of(run(build, Sizes(120, pods)))
    assert len(columns) <= 2  # running pods with terms make another kind of the pod
    assert sum(column.rebuilt for column in columns) == len(columns)
    assert sum(column.repaired for column in columns) <= pods


def test_only_the_rack_that_was_taken_is_planned_again(count: Callable[[Any, str], list[int]]) -> None:
    planned = count(placement_algorithm, "_plan")
    racks, gangs = 50, 60
    run(workloads.gangs_in_racks, Sizes(200, gangs, 0, 4))
    assert racks <= len(planned) <= racks + gangs


def test_gangs_that_follow_each_other_into_a_rack_are_planned_ahead(count: Callable[[Any, str], list[int]]) -> None:
    chosen = count(SignatureColumn, "plan_few")
    ahead = count(SignatureColumn, "plan")
    racks, gangs = 50, 60
    run(workloads.gangs_in_racks, Sizes(2000, gangs, 0, 4))
    assert len(chosen) < racks + 20
    assert 0 < len(ahead) < 10


def test_a_long_run_of_like_pods_is_not_simulated_pod_by_pod(count: Callable[[Any, str], list[int]]) -> None:
    simulated = count(placement_algorithm, "_simulate")
    run(workloads.gangs_in_racks, Sizes(200, 3, 0, 40))
    assert not simulated


def test_a_preemptor_tries_only_nodes_that_changed(count: Callable[[Any, str], list[int]]) -> None:
    dry_runs = count(PodPreemption, "_dry_run")
    nodes = preemptors = 60
    run(workloads.preemption, Sizes(nodes, preemptors), patient=True)
    assert nodes <= len(dry_runs) <= nodes + 2 * preemptors


def test_nominated_pods_cost_filters_on_their_own_nodes_only(count: Callable[[Any, str], list[int]]) -> None:
    filters = count(Framework, "run_filter_with")
    preemptors = 60
    run(workloads.preemption, Sizes(60, preemptors), patient=True)
    assert len(filters) <= 4 * preemptors  # not preemptors times nominated nodes


def test_a_preempting_gang_gives_back_only_what_stands_beside_it(count: Callable[[Any, str], list[int]]) -> None:
    given_back = count(Trial, "give_back")
    gangs, members, beside = 5, 4, 4
    run(workloads.gang_preemption, Sizes(40, gangs, 0, members), patient=True)
    assert len(given_back) <= gangs * members * beside
