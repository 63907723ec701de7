"""Dominant share and whom it lets preempt: spec fair-share.md §3.3 and §9.3."""

from __future__ import annotations

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from gangsched_plugins.fairshare.amounts import NO_AMOUNTS, Amounts
from gangsched_plugins.fairshare.comparisons import less_equal
from gangsched_plugins.fairshare.dominant_share import DominantShare, dominant_share
from gangsched_plugins.fairshare.entitlement import total_of
from gangsched_plugins.fairshare.victims import Candidate, drf_victims
from tests.plugins.fairshare.values import amounts


@frozen
class Shares:
    name: str
    allocated: Amounts
    total: Amounts
    want: DominantShare


SHARES = [
    Shares("DE1: 4 of 10 cpu", amounts("4c", "2G"), amounts("10c", "20G"), DominantShare(0.4, "cpu")),
    Shares("DE1: 8 of 20 G", amounts("1c", "8G"), amounts("10c", "20G"), DominantShare(0.4, "memory")),
    Shares("DE1: A with 8 cpu", amounts("8c", "2G"), amounts("10c", "20G"), DominantShare(0.8, "cpu")),
    Shares("DE2: C", amounts("5c", "80G"), amounts("100c", "400G"), DominantShare(0.2, "memory")),
    Shares("DE2: A", amounts("30c", "40G"), amounts("100c", "400G"), DominantShare(0.3, "cpu")),
    Shares("DE2: B", amounts("20c", "200G"), amounts("100c", "400G"), DominantShare(0.5, "memory")),
    Shares("DE8: nothing allocated", NO_AMOUNTS, amounts("10c", "20G"), DominantShare(0, "")),
    Shares("DE9: nothing of what there is", amounts(0, "2G", gpu=3), amounts("10c"), DominantShare(0, "")),
    Shares("DE10: pods count", amounts("0.1c", pods=1), amounts("100c", pods=10), DominantShare(0.1, "pods")),
    Shares("E47: a tie keeps cpu", amounts("5c", "10G"), amounts("10c", "20G"), DominantShare(0.5, "cpu")),
    Shares("a tie of scalars keeps the first by name", amounts(b=1, a=1), amounts(a=2, b=2), DominantShare(0.5, "a")),
]


@pytest.mark.parametrize("case", SHARES, ids=lambda case: case.name)
def test_the_dominant_share(case: Shares) -> None:
    assert dominant_share(case.allocated, case.total) == case.want


def serve(total: Amounts, tasks: dict[str, Amounts], first: str) -> tuple[dict[str, int], list[float]]:
    """Give one task after the other to the job of the lowest share whose task fits, ``first`` winning the first tie."""
    counts, shares = dict.fromkeys(tasks, 0), []
    held = dict.fromkeys(tasks, NO_AMOUNTS)
    used = NO_AMOUNTS
    while fitting := [job for job in tasks if less_equal(used.plus(tasks[job]), total, "zero")]:
        job = min(fitting, key=lambda job: (dominant_share(held[job], total).share, job != first))
        held[job], used = held[job].plus(tasks[job]), used.plus(tasks[job])
        counts[job] += 1
        shares.append(round(dominant_share(held[job], total).share, 4))
    return counts, shares


@pytest.mark.parametrize("first", ["A", "B"])
def test_de3_e46_the_example_of_the_paper(first: str) -> None:
    counts, shares = serve(amounts("9c", "18G"), {"A": amounts("1c", "4G"), "B": amounts("3c", "1G")}, first)
    assert counts == {"A": 3, "B": 2}
    if first == "A":
        assert shares == [0.2222, 0.3333, 0.4444, 0.6667, 0.6667]


@frozen
class Preempt:
    """``asks``: what the preemptor's job holds and asks for together; ``holds``: the job of the candidates."""

    name: str
    asks: str
    holds: str
    candidates: list[str]
    want: list[int]
    "Positions of the victims."


PREEMPT = [
    Preempt("DE4: four of five", "2c", "6c", ["1c"] * 5, [0, 1, 2, 3]),
    Preempt("DE5: an equal share is enough", "4c", "8c", ["4c", "4c"], [0]),
    Preempt("DE6: less is not", "5c", "8c", ["4c"], []),
    Preempt("DE7, E50: a refused candidate counts as gone", "3c", "6c", ["4c", "1c"], []),
    Preempt("DE7, E50: the other order", "3c", "6c", ["1c", "4c"], [0]),
    Preempt("E48: 5e-7 less is equal", "4000.005m", "8c", ["4c"], [0]),
    Preempt("E49: 2e-6 less is not", "4000.02m", "8c", ["4c"], []),
]


@pytest.mark.parametrize("case", PREEMPT, ids=lambda case: case.name)
def test_whom_a_job_may_preempt(case: Preempt) -> None:
    candidates = [Candidate(str(i), "victim", amounts(cpu)) for i, cpu in enumerate(case.candidates)]
    got = drf_victims(amounts(case.asks), candidates, {"victim": amounts(case.holds)}, amounts("10c"))
    assert got == [str(i) for i in case.want]


def test_d10_candidates_of_unknown_jobs_are_left_out() -> None:
    assert drf_victims(NO_AMOUNTS, [Candidate("t", "gone", amounts("1c"))], {}, amounts("10c")) == []


# --- what theory promises (Ghodsi et al. 2011, §3) ------------------------------------------------------------------

LARGEST, GRAINS = 20, 60
"""A task needs 1 … LARGEST of either resource; GRAINS of the largest fill the cluster, so a task is a share of at most
1 / GRAINS: the promises for divisible resources hold up to that."""
DEMANDS = st.lists(st.tuples(st.integers(1, LARGEST), st.integers(1, LARGEST)), min_size=2, max_size=4)
TOTAL = amounts(LARGEST * GRAINS, LARGEST * GRAINS)
ROUNDING = 1e-9


@frozen
class User:
    """What one task of a user needs, how many were placed, and its dominant share."""

    task: Amounts
    count: int

    @property
    def holds(self) -> Amounts:
        return self.task.times(self.count)

    @property
    def share(self) -> float:
        return dominant_share(self.holds, TOTAL).share

    def could_run(self, bundle: Amounts) -> float:
        """How many of its tasks, divisible ones, a bundle would hold."""
        return min(bundle.cpu / self.task.cpu, bundle.memory / self.task.memory)


def shared(demands: list[tuple[int, int]]) -> list[User]:
    """Serve the lowest dominant share until its next task does not fit."""
    tasks = [amounts(cpu, memory) for cpu, memory in demands]
    counts = [0] * len(tasks)
    used = NO_AMOUNTS
    while True:
        user = min(range(len(tasks)), key=lambda i: (dominant_share(tasks[i].times(counts[i]), TOTAL).share, i))
        if not less_equal(used.plus(tasks[user]), TOTAL, "zero"):
            return [User(task, count) for task, count in zip(tasks, counts, strict=True)]
        used = used.plus(tasks[user])
        counts[user] += 1


@given(DEMANDS)
def test_dominant_shares_are_equal_up_to_one_task(demands: list[tuple[int, int]]) -> None:
    shares = [user.share for user in shared(demands)]
    assert max(shares) - min(shares) <= 1 / GRAINS + ROUNDING


@given(DEMANDS)
def test_sharing_pays_nobody_gets_less_than_an_equal_split(demands: list[tuple[int, int]]) -> None:
    users = shared(demands)
    grain = (1 + 1 / len(users)) / GRAINS
    assert min(user.share for user in users) >= 1 / len(users) - grain - ROUNDING


@given(DEMANDS)
def test_nobody_envies_another(demands: list[tuple[int, int]]) -> None:
    users = shared(demands)
    for user in users:
        grain = LARGEST / max(user.task.cpu, user.task.memory)
        assert all(user.could_run(other.holds) <= user.count + grain + ROUNDING for other in users)


@given(DEMANDS)
def test_pareto_nobody_could_get_more_without_taking_it_from_another(demands: list[tuple[int, int]]) -> None:
    users = shared(demands)
    rest = TOTAL.minus(total_of(user.holds for user in users))
    assert min(rest.cpu, rest.memory) < LARGEST  # everybody needs some of both
