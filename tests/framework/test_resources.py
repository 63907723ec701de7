"""Resource vectors (spec node-plugins.md §3.3)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.resources import NOTHING, Resources

amounts = st.integers(-(2**70), 2**70)
vectors = st.builds(
    Resources,
    amounts,
    amounts,
    amounts,
    amounts,
    st.dictionaries(st.sampled_from(["nvidia.com/gpu", "hugepages-2Mi", "example.com/x"]), amounts),
)
NAMES = ["cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu", "hugepages-2Mi", "example.com/x"]


def test_amounts_are_read_by_their_kubernetes_names() -> None:
    vector = Resources(1, 2, 3, 4, {"nvidia.com/gpu": 5})
    assert [vector.get(name) for name in NAMES] == [1, 2, 3, 4, 5, 0, 0]


def test_a_scalar_named_with_nought_stays_in_the_sum() -> None:
    assert NOTHING.plus(Resources(scalars={"nvidia.com/gpu": 0})).scalars == {"nvidia.com/gpu": 0}


@given(vectors, vectors, st.sampled_from([1, -1]))
def test_a_sum_is_taken_per_resource(a: Resources, b: Resources, sign: int) -> None:
    for name in NAMES:
        assert a.plus(b, sign).get(name) == a.get(name) + sign * b.get(name)


@given(vectors, vectors)
def test_what_is_added_can_be_taken_away(a: Resources, b: Resources) -> None:
    there_and_back = a.plus(b).plus(b, -1)
    assert [there_and_back.get(name) for name in NAMES] == [a.get(name) for name in NAMES]


def test_adding_leaves_both_as_they_were() -> None:
    a, b = Resources(1, scalars={"x/y": 1}), Resources(2, scalars={"x/y": 2})
    assert a.plus(b) == Resources(3, scalars={"x/y": 3})
    assert (a, b) == (Resources(1, scalars={"x/y": 1}), Resources(2, scalars={"x/y": 2}))
