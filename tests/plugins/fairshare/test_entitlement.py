"""What tenants may take, were promised, give back: spec fair-share.md §4.5, the rest of §9.4 that is about shares."""

from __future__ import annotations

import pytest
from attrs import frozen

from gangsched_plugins.fairshare.amounts import NO_AMOUNTS, UNLIMITED, Amounts
from gangsched_plugins.fairshare.capacity import capacity_rank, quota
from gangsched_plugins.fairshare.capacity_tree import (
    Branch,
    NotReady,
    Quota,
    build_tree,
    compare_branches,
    order_key,
)
from gangsched_plugins.fairshare.demand import (
    NO_DEMAND,
    Demand,
    beyond_real_capability,
    demand_of_job,
    still_promised,
)
from gangsched_plugins.fairshare.entitlement import is_overused, share_of_deserved
from gangsched_plugins.fairshare.victims import Candidate, proportion_victims
from tests.plugins.fairshare.values import amounts


@frozen
class Admission:
    """A job of ``minimum`` asks to be admitted; ``want``: the resources that are insufficient."""

    name: str
    minimum: Amounts
    tenant: Demand
    real: Amounts
    want: tuple[str, ...] = ()


PF1 = Demand(allocated=amounts("6c"), inqueue=amounts("2c"), elastic=amounts("1c"))
RUNNING_Q1 = Demand(allocated=amounts("1c", "2G", pods=1))
ADMISSIONS = [
    Admission("PF1: just fits", amounts("3c"), PF1, amounts("10c")),
    Admission("PF2: one too much", amounts("4c"), PF1, amounts("10c"), ("cpu",)),
    Admission(
        "PF3: what a job holds already is not promised to it a second time",
        amounts("1c"),
        demand_of_job(amounts("3c"), NO_AMOUNTS, amounts("3c"), admitted=True),
        amounts("4c"),
    ),
    Admission("PF4: memory is full, and not asked for", amounts("1c"), RUNNING_Q1, amounts("2c", "2G")),
    Admission("PF5: cpu only", amounts(0, "1G"), Demand(allocated=amounts("2c", "1G")), amounts("3c", "3G")),
    Admission("PF6: memory is full", amounts("1c", "1G"), RUNNING_Q1, amounts("2c", "2G"), ("memory",)),
    Admission(
        "E81: what a job holds beyond its minimum may be taken back",
        amounts("3c"),
        demand_of_job(amounts("5c"), NO_AMOUNTS, amounts("2c"), admitted=False),
        amounts("5c"),
    ),
    Admission(
        "P15r: stale elastic amounts do not go below nothing",
        amounts("1c"),
        Demand(elastic=amounts("5c")),
        amounts("1c"),
    ),
]


@pytest.mark.parametrize("case", ADMISSIONS, ids=lambda case: case.name)
def test_whether_a_job_is_admitted(case: Admission) -> None:
    assert beyond_real_capability(case.minimum, case.tenant, case.real) == case.want
    assert beyond_real_capability(case.minimum, case.tenant, case.real) == case.want  # PF8: asking promises nothing


def test_e79_a_running_job_below_its_minimum_is_promised_nothing() -> None:
    demand = demand_of_job(amounts("2c"), amounts("1c"), amounts("3c"), admitted=False)
    assert demand.inqueue == NO_AMOUNTS
    assert demand.request == amounts("3c")


def test_e80_an_admitted_job_that_holds_its_minimum_is_promised_nothing_more() -> None:
    assert demand_of_job(amounts("3c"), NO_AMOUNTS, amounts("3c"), admitted=True).inqueue == NO_AMOUNTS


def test_e81_elastic_is_what_exceeds_the_minimum() -> None:
    assert demand_of_job(amounts("5c"), NO_AMOUNTS, amounts("2c"), admitted=True).elastic == amounts("3c")
    assert demand_of_job(amounts("5c"), NO_AMOUNTS, None, admitted=True).elastic == amounts("5c")  # P7r


def test_p6r_a_gpu_nobody_has_yet_is_promised_in_full() -> None:
    assert still_promised(amounts("2c", gpu=2), amounts("1c")) == amounts("1c", gpu=2)
    assert still_promised(amounts("2c"), amounts("3c", gpu=1)).scalars is None


# --- victims --------------------------------------------------------------------------------------------------------


@frozen
class Reclaimed:
    name: str
    deserved: Amounts
    allocated: Amounts
    candidates: list[Amounts]
    want: list[int]


RECLAIMED = [
    Reclaimed(
        "PF9: until the tenant no longer has too much of anything",
        amounts("2c", 2221225472, pods=3),
        amounts("3c", "3G", pods=3),
        [amounts("1c", "1G", pods=1)] * 3,
        [0],
    ),
    Reclaimed(
        "PF10: the last one may take it below what it deserves",
        amounts("5c", "10G"),
        amounts("8c", "8G"),
        [amounts("4c")] * 2,
        [0],
    ),
    Reclaimed("E89: guarantees do not protect", amounts("2c"), amounts("3c"), [amounts("2c")], [0]),
    Reclaimed("a tenant within what it deserves", amounts("3c"), amounts("3c"), [amounts("1c")], []),
]


@pytest.mark.parametrize("case", RECLAIMED, ids=lambda case: case.name)
def test_what_proportion_takes_back(case: Reclaimed) -> None:
    candidates = [Candidate(str(i), "q", request) for i, request in enumerate(case.candidates)]
    orphan = Candidate("orphan", "gone", amounts("1c"))
    victims = proportion_victims([orphan, *candidates], {"q": case.allocated}, {"q": case.deserved})
    assert victims == [str(i) for i in case.want]


# --- shares and orders ----------------------------------------------------------------------------------------------


def test_p11r_the_share_is_the_worst_of_what_is_deserved() -> None:
    assert share_of_deserved(amounts("1c", "3G"), amounts("2c", "4G")) == 0.75
    assert share_of_deserved(amounts(gpu=5), amounts("2c")) == 0


def test_p13r_overused_means_in_every_resource() -> None:
    assert is_overused(amounts("2c", "4G"), amounts("2c", "4G"))
    assert not is_overused(amounts("9c", "3G"), amounts("2c", "4G"))


@pytest.mark.parametrize(
    "allocated, want",
    [(amounts(), 0), (amounts("1c", "1Gi"), 0.5), (amounts("3c", "2Gi"), 1.5), (amounts("1c", "1.5Gi"), 0.75)],
)
def test_k3_the_share_of_a_quota(allocated: Amounts, want: float) -> None:
    assert capacity_rank(allocated, amounts("2c", "2Gi")) == (want, False)


def test_e85_e86_a_tenant_without_a_quota_comes_after_all_but_the_exceeding() -> None:
    ranks = {
        "no quota": capacity_rank(NO_AMOUNTS, NO_AMOUNTS),
        "half": capacity_rank(amounts("1c"), amounts("2c")),
        "full": capacity_rank(amounts("2c"), amounts("2c")),
        "beyond": capacity_rank(amounts("3c"), amounts("2c")),
    }
    assert ranks["no quota"] == (1, True)
    assert sorted(ranks, key=ranks.__getitem__) == ["half", "full", "no quota", "beyond"]


def test_k2_a_quota_is_limited_by_capability_and_raised_to_the_guarantee() -> None:
    real, guarantee = amounts("4c", "4Gi", gpu=2), amounts("1c", gpu=1)
    assert quota(amounts("8c", "2Gi"), real, guarantee) == amounts("4c", "2Gi", gpu=1)


# --- the hierarchy of quotas ----------------------------------------------------------------------------------------

CLUSTER = amounts("12c", "24Gi", gpu=4)
QUOTAS = [
    Quota("root"),
    Quota("eng", deserved=amounts("8c", "16Gi")),
    Quota("dev", "eng", deserved=amounts("3c", "6Gi")),
    Quota("prod", "eng", deserved=amounts("5c", "10Gi"), guarantee=amounts("1c", "1Gi")),
    Quota("sci", deserved=amounts("4c", "8Gi")),
]
DEMANDS = {
    "dev": Demand(allocated=amounts("2c", "4Gi"), request=amounts("7c", "9Gi")),
    "sci": Demand(allocated=amounts("2c", "2Gi"), request=amounts("7c", "7Gi")),
}


def test_k12_ancestors_add_up_and_the_root_deserves_what_its_children_do() -> None:
    tree = build_tree(QUOTAS, DEMANDS, CLUSTER)
    assert {name: branch.rank[0] for name, branch in tree.items()} == {
        "dev": 2 / 3,
        "eng": 0.25,
        "prod": 0,
        "root": 1 / 3,
        "sci": 0.5,
    }
    assert tree["root"].deserved == amounts("12c", "24Gi")
    assert tree["eng"].demand == DEMANDS["dev"]
    assert tree["dev"].real_capability.cpu == UNLIMITED


def test_k12_a_capability_is_inherited_and_guarantees_of_siblings_are_left_to_them() -> None:
    quotas = [
        Quota("root"),
        Quota("p", capability=amounts("6c", 0, gpu=2)),
        Quota("a", "p", guarantee=amounts("1c")),
        Quota("b", "p", guarantee=amounts("2c"), capability=amounts(0, "1Gi")),
    ]
    tree = build_tree(quotas, {}, CLUSTER)
    assert tree["p"].real_capability == Amounts(6000, UNLIMITED, {"gpu": 2000})
    assert tree["a"].real_capability.cpu == 4000
    assert tree["b"].real_capability == Amounts(5000, 2**30, {"gpu": 2000})


@frozen
class BrokenTree:
    name: str
    quotas: list[Quota]
    want: str
    busy: str = "a"


BROKEN = [
    BrokenTree("E87: jobs in an inner queue", [Quota("root"), Quota("p"), Quota("a", "p")], "queue p has jobs", "p"),
    BrokenTree("no root", [Quota("a")], "there is no queue root"),
    BrokenTree("an unknown parent", [Quota("root"), Quota("a", "x")], "queue a: there is no queue x, its parent"),
    BrokenTree("a circle", [Quota("root"), Quota("a", "b"), Quota("b", "a")], "queue a is among its own ancestors"),
    BrokenTree(
        "a circle above", [Quota("root"), Quota("a", "b"), Quota("b", "c"), Quota("c", "b")], "its own ancestors"
    ),
]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_a_broken_hierarchy_is_not_ready(case: BrokenTree) -> None:
    with pytest.raises(NotReady, match=case.want):
        build_tree(case.quotas, {case.busy: NO_DEMAND}, CLUSTER)


def before(left: Branch, right: Branch) -> bool:
    return compare_branches(left, right) < 0 and compare_branches(right, left) > 0


def test_k4_leaves_are_compared_at_the_first_ancestors_that_differ() -> None:
    tree = build_tree(QUOTAS, DEMANDS, CLUSTER)
    assert before(tree["dev"], tree["sci"])  # eng .25 before sci .5, although dev itself has 2/3
    assert before(tree["prod"], tree["dev"])
    assert before(tree["dev"], tree["eng"])  # leaves before others
    assert sorted(("sci", "dev", "prod"), key=lambda name: order_key(tree[name])) == ["prod", "dev", "sci"]


def test_e90_priority_comes_before_share() -> None:
    quotas = [Quota("root"), Quota("a", deserved=amounts("1c"), priority=10), Quota("b", deserved=amounts("1c"))]
    tree = build_tree(quotas, {"a": Demand(allocated=amounts("5c"))}, CLUSTER)
    assert before(tree["a"], tree["b"])
    assert order_key(tree["a"]) < order_key(tree["b"])
