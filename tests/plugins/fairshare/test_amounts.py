"""Arithmetic and comparisons of amounts: spec fair-share.md §1 and its edge cases §9.1."""

from __future__ import annotations

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.objects import Container, PodSpec
from gangsched_framework.pod_requests import requests_of_spec, resources_from_amounts
from gangsched_framework.quantity import parse_quantity
from gangsched_plugins.fairshare.amounts import NO_AMOUNTS, UNLIMITED, Amounts, capability_of
from gangsched_plugins.fairshare.comparisons import (
    at_most,
    equal,
    exceeding,
    exceeding_requested,
    greater_partly_relevant,
    greater_partly_requested,
    less,
    less_equal,
    less_equal_partly,
    less_equal_partly_requested,
    less_partly,
)
from gangsched_plugins.fairshare.differences import ABSENT, difference, excess, share
from tests.plugins.fairshare.values import amounts


@pytest.mark.parametrize("a, b, want", [(100.1, 100, True), (1000.1, 1000, False), (0.1, 0, False), (0.05, 0, True)])
def test_e1_epsilon_itself_is_outside_as_far_as_doubles_can_tell(a: float, b: float, want: bool) -> None:
    assert at_most(a, b) is want


@frozen
class Matrix:
    """One row of R29: Less, LessEqual, LessPartly, LessEqualPartly, each for zero / infinity."""

    name: str
    left: Amounts
    right: Amounts
    want: list[tuple[bool, bool]]


T, F = True, False
ROWS = [
    Matrix(
        "the right has a gpu more",
        amounts("1c", "1G"),
        amounts("2c", "2G", gpu=2),
        [(T, F), (T, F), (T, T), (T, T)],
    ),
    Matrix(
        "the left has a gpu more",
        amounts("1c", "1G", gpu=1),
        amounts("2c", "2G"),
        [(F, T), (F, T), (T, T), (T, T)],
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_r29_the_matrix_of_comparisons(row: Matrix) -> None:
    got = [
        (compare(row.left, row.right, "zero"), compare(row.left, row.right, "infinity"))
        for compare in (less, less_equal, less_partly, less_equal_partly)
    ]
    assert got == row.want


def test_e2_a_missing_scalar_on_the_left_is_infinite_even_against_0() -> None:
    assert not less_equal(amounts("2c"), amounts("2c", gpu=0), "infinity")


def test_e3_a_scalar_only_the_left_has() -> None:
    left, right = amounts("2c", gpu=1), amounts("2c")
    assert not less_equal(left, right, "zero")
    assert less_equal(left, right, "infinity")


def test_e4_nothing_exceeds_when_the_left_names_nothing() -> None:
    assert exceeding(NO_AMOUNTS, amounts(4000, 2000, gpu=1), "infinity") == ()


def test_e5_requested_resources_are_compared_without_epsilon() -> None:
    assert exceeding_requested(amounts(2000.05), amounts(2000), amounts(1)) == ("cpu",)


def test_e6_what_is_not_requested_is_not_compared() -> None:
    assert exceeding_requested(amounts(2000.05, 5), amounts(2000, 5), amounts(0, 1)) == ()


def test_e7_without_a_map_of_scalars_only_cpu_and_memory_are_compared() -> None:
    assert exceeding_requested(amounts("1c"), amounts("1c"), amounts(gpu=1)) == ()
    assert exceeding_requested(amounts(gpu=1), amounts(), amounts(gpu=1)) == ("gpu",)  # R23
    assert exceeding_requested(amounts(gpu=1), amounts(), amounts(gpu=0)) == ()


def test_p21r_with_a_tolerance_less_than_epsilon_does_not_exceed() -> None:
    assert exceeding_requested(amounts(1000), amounts(999.9999999999999), amounts(1000), tolerance=0.1) == ()
    assert exceeding_requested(amounts(1000.2), amounts(1000), amounts(1000), tolerance=0.1) == ("cpu",)


def test_pods_are_never_among_the_requested_that_are_compared() -> None:
    assert exceeding_requested(amounts(pods=5), amounts(pods=1), amounts(pods=1)) == ()


def test_e8_pods_do_not_make_an_amount() -> None:
    assert amounts(0.05, 0, pods=1).is_empty
    assert not amounts(0.1, 0).is_empty
    assert not amounts(gpu=1).is_empty


def test_e9_the_difference_where_a_missing_scalar_is_zero() -> None:
    assert difference(amounts("1c", gpu=2), amounts("2c"), "zero") == (amounts(gpu=2), amounts("1c"))
    assert all(part.scalars is not None for part in difference(amounts(), amounts(), "zero"))


def test_e10_the_difference_where_a_missing_scalar_is_infinite() -> None:
    more, less_ = difference(amounts(gpu=2), amounts(), "infinity")
    assert (more.get("gpu"), less_.get("gpu")) == (0, ABSENT)
    more, less_ = difference(amounts(), amounts(gpu=2), "infinity")
    assert (more.get("gpu"), less_.get("gpu")) == (ABSENT, 0)


def test_e11_what_exceeds_is_never_negative() -> None:
    assert excess(amounts("10c"), amounts("15c")) == NO_AMOUNTS


def test_e12_a_limit_without_memory_really_limits_it_to_0() -> None:
    assert amounts("2c", "4G", gpu=8).capped_by(amounts("1c"), "infinity") == amounts("1c", 0, gpu=8)


def test_e13_a_limit_without_a_scalar_limits_it_to_0_when_missing_is_zero() -> None:
    assert amounts("2c", gpu=8).capped_by(amounts("1c", 0, other=1), "zero") == amounts("1c", gpu=0)


def test_r18_the_minimum_of_hugepages() -> None:
    huge = Amounts(2000, 4047845376, {"hugepages-2Mi": 0, "hugepages-1Gi": 0})
    assert huge.capped_by(Amounts(3000, 1000), "zero") == Amounts(2000, 1000, {"hugepages-2Mi": 0, "hugepages-1Gi": 0})


@pytest.mark.parametrize("part, whole, want", [(0, 0, 0), (5, 0, 1), (3, 4, 0.75)])
def test_e14_shares(part: float, whole: float, want: float) -> None:
    assert share(part, whole) == want


def test_e15_without_a_map_of_its_own_a_difference_ignores_scalars() -> None:
    assert amounts("2c").minus(amounts("1c", gpu=1)) == amounts("1c")
    assert amounts("2c", gpu=1).minus(amounts("1c", pods=1)) == amounts("1c", gpu=1, pods=-1)


def test_e16_pods_of_a_node_are_counted_in_units() -> None:
    node = resources_from_amounts({"pods": parse_quantity("110").nano})
    assert Amounts.of(node).get("pods") == 110


def test_e17_counts_of_a_quota_are_ignored() -> None:
    node = resources_from_amounts({name: parse_quantity("3").nano for name in ("count/pods", "requests.cpu")})
    assert Amounts.of(node) == NO_AMOUNTS


def test_r4_resources_in_stored_units() -> None:
    written = {
        "cpu": "4m",
        "memory": "2000",
        "scalar.test/scalar1": "1",
        "hugepages-test": "2",
        "ephemeral-storage": "3",
    }
    requests = {name: parse_quantity(text).nano for name, text in written.items()}
    vector = requests_of_spec(PodSpec(containers=(Container("main", requests=requests),))).requested
    assert Amounts.of(vector, pods=1) == Amounts(
        4, 2000, {"scalar.test/scalar1": 1000, "hugepages-test": 2000, "ephemeral-storage": 3000, "pods": 1}
    )


def test_e19_equality_looks_at_the_scalars_of_the_left_only() -> None:
    assert equal(amounts("1c"), amounts("1c", gpu=1))
    assert not equal(amounts("1c", gpu=1), amounts("1c"))


def test_r27_greater_in_part_and_greater_where_it_matters() -> None:
    cases = [
        (amounts(gpu=2), amounts(), amounts(gpu=1), (True, False)),
        (amounts(gpu=2), amounts(gpu=0), amounts(gpu=1), (True, True)),
        (amounts("4c"), amounts(0), amounts("2c"), (True, False)),
    ]
    for left, right, requested, want in cases:
        got = greater_partly_requested(left, right, requested), greater_partly_relevant(left, right, requested)
        assert got == want


def test_r26_one_requested_resource_at_most_is_enough_unless_both_sides_are_nothing() -> None:
    assert less_equal_partly_requested(amounts("2c", "4Gi"), amounts("2c", "3Gi"), amounts("1c", "1Gi"))
    assert not less_equal_partly_requested(amounts("3c", "4Gi"), amounts("2c", "3Gi"), amounts("1c", "1Gi"))
    assert not less_equal_partly_requested(amounts("3c"), amounts("2c"), amounts("1c", "1Gi"))


def test_r19_the_maximum_drops_negative_scalars_and_has_a_map_when_one_side_has() -> None:
    assert amounts("1c", gpu=-1).raised_to(amounts("2c")) == amounts("2c")
    assert amounts("1c", gpu=0).raised_to(amounts(memory=5)).others == {"gpu": 0}
    assert amounts("1c").raised_to(amounts("2c")).scalars is None


def test_p3r_a_capability_of_zero_cpu_is_unlimited() -> None:
    assert capability_of(amounts(0, 0, gpu=4)) == Amounts(UNLIMITED, UNLIMITED, {"gpu": 4000})
    assert capability_of(amounts("2c", "1Gi")) == amounts("2c", "1Gi")


VALUES = st.integers(0, 10**6)
ANY = st.builds(Amounts, VALUES, VALUES, st.none() | st.dictionaries(st.sampled_from(["gpu", "pods", "disk"]), VALUES))


@given(ANY, ANY, ANY)
def test_sums_do_not_depend_on_their_order(a: Amounts, b: Amounts, c: Amounts) -> None:
    assert a.plus(b) == b.plus(a)
    assert a.plus(b).plus(c) == a.plus(b.plus(c))


@given(ANY, ANY)
def test_what_was_added_can_be_taken_away(a: Amounts, b: Amounts) -> None:
    back = a.plus(b).minus(b)
    assert all(back.get(name) == a.get(name) for name in ("cpu", "memory", "gpu", "pods", "disk"))


@given(ANY, ANY)
def test_exactly_one_of_at_most_and_exceeding_holds(a: Amounts, b: Amounts) -> None:
    assert less_equal(a, b, "zero") == (not exceeding(a, b, "zero"))
    assert not less(a, b, "zero") or less_equal(a, b, "zero")


@given(ANY, ANY)
def test_a_difference_leads_from_one_side_to_the_other(a: Amounts, b: Amounts) -> None:
    more, less_ = difference(a, b, "zero")
    there = b.plus(more).minus(less_)
    assert all(there.get(name) == a.get(name) for name in ("cpu", "memory", "gpu", "pods", "disk"))
