"""Key-value stores of a cycle (spec podgroup-scheduling.md §7.2)."""

from __future__ import annotations

from gangsched_framework.cycle_state import CycleState, PlacementCycleState, PodGroupCycleState


class Counter:
    def __init__(self, value: int) -> None:
        self.value = value

    def clone(self) -> Counter:
        return Counter(self.value)


def test_a_value_is_read_until_deleted() -> None:
    state = CycleState()
    assert state.read("k") is None
    state.write("k", 1)
    assert state.read("k") == 1
    state.delete("k")
    state.delete("k")
    assert state.read("k") is None


def test_a_clone_changes_alone() -> None:
    state = CycleState(PlacementCycleState(PodGroupCycleState()))
    state.write("counter", Counter(1))
    state.write("shared", [1])
    state.skip_filter, state.skip_score = frozenset("A"), frozenset("B")
    copy = state.clone()
    copy.read("counter").value = 2
    copy.write("new", 1)
    assert (state.read("counter").value, copy.read("counter").value) == (1, 2)
    assert state.read("new") is None
    assert copy.read("shared") is state.read("shared")  # it offers no clone
    assert (copy.skip_filter, copy.skip_score, copy.placement) == (frozenset("A"), frozenset("B"), state.placement)


def test_states_nest_and_siblings_do_not_see_each_other() -> None:
    outer = PodGroupCycleState()
    a, b = PlacementCycleState(outer), PlacementCycleState(outer)
    a.write("k", "a")
    outer.write("k", "outer")
    assert b.read("k") is None
    inner = PodGroupCycleState(parent=a)
    pod = CycleState(PlacementCycleState(inner))
    assert pod.placement is not None
    assert pod.placement.group.parent is a
    assert a.group.read("k") == "outer"
