"""Verdicts and the texts made of them (spec podgroup-scheduling.md §7.3-7.4)."""

from __future__ import annotations

from operator import attrgetter

import pytest
from attrs import field, frozen

from gangsched_framework.status import (
    SUCCESS,
    Code,
    FitError,
    Status,
    error,
    skip,
    unresolvable,
    unschedulable,
)


@frozen
class Case:
    name: str
    fit: FitError
    want: str = field(kw_only=True)


CPU, MEMORY = "Insufficient cpu", "Insufficient memory"
TAINT = "node(s) had untolerated taint(s)"


def busy(*reasons: str) -> Status:
    return unschedulable(*reasons, plugin="Fit")


CASES = [
    Case(
        "reasons are counted over the nodes",
        FitError(2, {"a": busy(CPU), "b": busy(CPU)}),
        want="0/2 nodes are available: 2 Insufficient cpu.",
    ),
    Case(
        "one node may give several reasons, each is counted",
        FitError(1, {"a": busy(CPU, MEMORY)}),
        want="0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.",
    ),
    Case(
        "count and reason are sorted together, as text",
        FitError(
            13,
            {"a": busy(MEMORY)}
            | {f"b{i}": busy(CPU) for i in range(10)}
            | {f"c{i}": unresolvable(TAINT) for i in range(2)},
        ),
        want="0/13 nodes are available: 1 Insufficient memory, 10 Insufficient cpu, "
        "2 node(s) had untolerated taint(s).",
    ),
    Case(
        "nodes that PreFilter excluded share one status",
        FitError(5, {"a": busy(CPU)}, excluded=unresolvable("excluded by X"), excluded_count=4),
        want="0/5 nodes are available: 1 Insufficient cpu, 4 excluded by X.",
    ),
    Case(
        "a reason of an excluded node adds to the same reason of a filtered one",
        FitError(3, {"a": busy(CPU)}, excluded=unresolvable(CPU), excluded_count=2),
        want="0/3 nodes are available: 3 Insufficient cpu.",
    ),
    Case(
        "an exclusion of no node is not listed",
        FitError(1, {"a": busy(CPU)}, excluded=unresolvable("excluded by X")),
        want="0/1 nodes are available: 1 Insufficient cpu.",
    ),
    Case(
        "a PreFilter rejection is quoted without counts",
        FitError(7, pre_filter=unresolvable("node(s) didn't satisfy plugin X", "and more")),
        want="0/7 nodes are available: node(s) didn't satisfy plugin X, and more.",
    ),
    Case("nothing to list ends at the colon", FitError(0), want="0/0 nodes are available:"),
    Case("a refusal without reasons lists nothing", FitError(1, {"a": busy()}), want="0/1 nodes are available:"),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_message_of_a_fit_error(case: Case) -> None:
    assert case.fit.message == case.want


def test_rejections_are_the_three_refusals() -> None:
    assert [code.name for code in Code if code.rejected] == [
        "UNSCHEDULABLE",
        "UNSCHEDULABLE_AND_UNRESOLVABLE",
        "PENDING",
    ]
    assert unresolvable("x").rejected
    assert not error("x").rejected
    assert not SUCCESS.rejected


def test_only_success_is_ok() -> None:
    assert [code.name for code in Code if Status(code).ok] == ["SUCCESS"]


def test_codes_print_as_the_real_scheduler_prints_them() -> None:
    assert [code.value for code in Code] == [
        "Success",
        "Error",
        "Unschedulable",
        "UnschedulableAndUnresolvable",
        "Wait",
        "Skip",
        "Pending",
    ]


def test_a_message_is_its_reasons_joined() -> None:
    assert unschedulable("a", "b").message == "a, b"
    assert SUCCESS.message == ""


def test_the_first_to_sign_a_status_keeps_it() -> None:
    signed = unschedulable("x").with_plugin("A")
    assert signed.plugin == "A"
    assert signed.with_plugin("B") is signed


def test_more_reasons_make_a_new_status_with_the_code_and_the_plugin() -> None:
    first = unresolvable("a", plugin="P")
    both = first.with_reasons("b")
    assert (both.code, both.reasons, both.plugin) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("a", "b"), "P")
    assert first.reasons == ("a",)


def test_statuses_are_told_apart_by_identity() -> None:
    assert unschedulable("x", plugin="P") != unschedulable("x", plugin="P")
    assert skip() is skip()
