"""Every benchmark case at a hundredth of its size: it ends, places what it should, and the oracle agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from operator import attrgetter

import pytest

from gangsched.bench.case import Case
from gangsched.bench.cases import CASES, QUEUE, QUEUE_SIZES, SCHEDULING, find
from gangsched.bench.measure import measure
from gangsched.bench.queue_case import QueueCase
from gangsched.bench.sizes import Sizes
from gangsched_framework.errors import GangschedError

Bindings = Mapping[str, str]


def number(node: str) -> int:
    return int(node.removeprefix("node-"))


def one_pod_a_node(bindings: Bindings) -> bool:
    return len(set(bindings.values())) == len(bindings)


def zones_are_even(bindings: Bindings) -> bool:
    zones = Counter(number(node) % 3 for node in bindings.values())
    return max(zones.values()) - min(zones.values()) <= 5


def one_rack_a_gang(bindings: Bindings) -> bool:
    racks: dict[str, set[int]] = {}
    for pod, node in bindings.items():
        racks.setdefault(pod.rpartition("-")[0], set()).add(number(node) // 5)
    return all(len(rack) == 1 for rack in racks.values())


NOTHING_IS_PLACED = {"CPGRollback", "FitsNowhere"}
PLACED_SO: dict[str, Callable[[Bindings], bool]] = {
    "SchedulingPodAntiAffinity": one_pod_a_node,
    "TopologySpreading": zones_are_even,
    "TopologyAwareScheduling": one_rack_a_gang,
    "PreemptionBasic": one_pod_a_node,
}


@pytest.mark.parametrize("case", SCHEDULING, ids=attrgetter("name"))
def test_a_scheduling_case_places_what_it_should(case: Case) -> None:
    small = case.scaled(0.01)
    outcome = small.trial().run()
    assert outcome.complete
    assert outcome.pods == small.sizes.pods
    assert len(outcome.bindings) == (0 if case.family in NOTHING_IS_PLACED else small.sizes.pods)
    placed_so = PLACED_SO.get(case.family)
    assert placed_so is None or placed_so(outcome.bindings)


@pytest.mark.parametrize(
    "case", [find([family])[0] for family in dict.fromkeys(c.family for c in SCHEDULING)], ids=attrgetter("family")
)
def test_columns_and_the_oracle_place_a_part_of_each_family_alike(case: Case) -> None:
    figures = measure(case.scaled(0.004), rounds=1, oracle_work=100)
    assert figures.oracle_agrees
    assert figures.oracle_pods > 0
    assert figures.oracle_ratio is not None


@pytest.mark.parametrize("case", [case for case in QUEUE if case.n == QUEUE_SIZES[0]], ids=attrgetter("family"))
def test_a_queue_case_runs(case: QueueCase) -> None:
    outcome = case.scaled(0.01).trial().run()
    assert outcome.pods > 0
    assert outcome.seconds > 0


def test_a_run_that_takes_too_long_is_stopped_and_counts_what_it_handled() -> None:
    outcome = find(["SchedulingBasic/20Nodes_500Pods"])[0].trial().run(0.0)
    assert not outcome.complete
    assert outcome.pods == 1


# --- names and sizes --------------------------------------------------------------------------------------------------


def test_the_names_are_those_of_scheduler_perf() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert {
        "SchedulingBasic/5000Nodes_10000Pods",
        "GangScheduling/5000Nodes_3000x3",
        "GangScheduling/5000Nodes_9x1000",
        "CPGGang/5000Nodes_1500x2x3",
        "CPGGang/5000Nodes_3x2x1500",
    } <= set(names)


@pytest.mark.parametrize("case", SCHEDULING, ids=attrgetter("name"))
def test_a_name_tells_the_sizes(case: Case) -> None:
    assert Sizes.parse(str(case.sizes)) == case.sizes


FEWER: dict[str, tuple[Sizes, int, Sizes]] = {
    "fewer plain pods": (Sizes(9, 100), 7, Sizes(9, 7)),
    "fewer gangs while one whole gang is few enough": (Sizes(9, 100, 0, 3), 7, Sizes(9, 2, 0, 3)),
    "one gang with fewer members": (Sizes(9, 9, 0, 1000), 90, Sizes(9, 1, 0, 90)),
    "one tree with fewer members in each gang": (Sizes(9, 3, 2, 1500), 90, Sizes(9, 1, 2, 45)),
    "no more than there are": (Sizes(9, 5), 7, Sizes(9, 5)),
}


@pytest.mark.parametrize("sizes, pods, want", FEWER.values(), ids=FEWER)
def test_a_part_of_a_case_keeps_its_kind(sizes: Sizes, pods: int, want: Sizes) -> None:
    assert sizes.with_pods(pods) == want


def names(*patterns: str, nodes: int | None = None) -> list[str]:
    return [case.name for case in find(patterns, nodes)]


def test_cases_are_found_by_name_family_and_glob_in_the_order_asked_for() -> None:
    assert names("CPGGang/5000Nodes_3x2x1500", "Churn", "CPGGang/*") == [
        "CPGGang/5000Nodes_3x2x1500",
        "Churn/5000Nodes_10000Pods",
        "CPGGang/5000Nodes_1500x2x3",
    ]


def test_a_known_family_may_have_any_size() -> None:
    assert names("GangScheduling/7Nodes_2x5", "CPGGang/7Nodes_2x2x5") == [
        "GangScheduling/7Nodes_2x5",
        "CPGGang/7Nodes_2x2x5",
    ]


def test_nodes_replaces_the_number_of_nodes() -> None:
    assert names("SchedulingBasic/5000Nodes_10000Pods", "Queue/AddPod", nodes=77) == [
        "SchedulingBasic/77Nodes_10000Pods",
        *(f"Queue/AddPod/{n}" for n in QUEUE_SIZES),
    ]


UNKNOWN = {
    "a misspelt family": ("SchedulingBasics", 'no benchmark case SchedulingBasics; did you mean "SchedulingBasic"?'),
    "a size of another kind": ("SchedulingBasic/7Nodes_2x5", "no benchmark case SchedulingBasic/7Nodes_2x5"),
}


@pytest.mark.parametrize("pattern, want", UNKNOWN.values(), ids=UNKNOWN)
def test_what_names_no_case_is_refused(pattern: str, want: str) -> None:
    with pytest.raises(GangschedError) as problem:
        find([pattern])
    assert str(problem.value).startswith(want)
