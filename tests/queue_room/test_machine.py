"""Random stories told to the queue, with and without declared scopes, and to the naive model: the same after each step.

``Cluster.state`` also runs every ``_check()``: spec §8.7 rows 1-4 hold throughout (issue: proof by a naive model).
"""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.queue_state import EntityState, QueueState
from gangsched_framework.status import SUCCESS, Status, error, unschedulable
from gangsched_queue.settings import SECOND
from tests.queue_room.cluster import BIND, BINDING, ERROR, Cluster, group, key, pod, rejected
from tests.queue_room.fakes import CLAIM, FIT, LOUD, NODE_ADD, NODE_CONDITION, NODE_LABEL, NODE_TAINT
from tests.queue_room.naive import Entity, Naive

LEAVES = ["a", "b", "c"]
INNER = ["A", "B", "C", "D", "E"]
PODS = [f"p{i}" for i in range(8)]
GROUPS = st.sampled_from([*LEAVES, *INNER])
PARENTS = st.sampled_from(["", "", *INNER])
MINIMA = st.sampled_from([None, 1, 2, 2, 3])
OUTCOMES = st.sampled_from(
    [BIND, BINDING, ERROR, rejected(FIT), rejected(LOUD), rejected(FIT, pending=CLAIM), rejected(pending=CLAIM)]
)
ROOTS: list[Status] = [SUCCESS, unschedulable("no"), error("broken")]
MOMENTS = st.sampled_from([SECOND // 10, SECOND, 3 * SECOND // 2, 20 * SECOND, 400 * SECOND])


class Story(RuleBasedStateMachine):
    @initialize(reverse=st.booleans())
    def begin(self, reverse: bool) -> None:
        self.scoped = Cluster(reverse=reverse)
        self.unscoped = Cluster(scoped=False, reverse=reverse)
        self.naive = Naive(reverse=reverse)
        self.replaced = 1
        for name, minimum, parent in (("a", 2, "A"), ("b", 2, "A"), ("c", 2, ""), ("A", 2, "B"), ("B", 1, "")):
            self.tell("add_group", group(name, minimum, parent))

    def tell(self, method: str, *args: Any) -> None:
        note(f"{method}({', '.join(getattr(arg, 'key', str(arg)) for arg in args)})")
        for listener in (self.scoped, self.unscoped, self.naive):
            getattr(listener, method)(*args)

    # --- groups ---------------------------------------------------------------------------------------------------

    @rule(name=GROUPS, minimum=MINIMA, parent=PARENTS, priority=st.sampled_from([None, 5]))
    def a_group_appears_or_changes(self, name: str, minimum: int | None, parent: str, priority: int | None) -> None:
        known = self.naive.groups.get(key(name))
        if known is None:
            self.tell("add_group", group(name, minimum, parent, priority))
        else:
            self.tell("update_group", evolve(known, minimum=minimum))

    @rule(name=GROUPS, minimum=MINIMA)
    def a_minimum_changes(self, name: str, minimum: int | None) -> None:
        known = self.naive.groups.get(key(name))
        if known is not None:
            self.tell("update_group", evolve(known, minimum=minimum))

    @rule(name=GROUPS, parent=PARENTS)
    def a_group_moves(self, name: str, parent: str) -> None:
        known = self.naive.groups.get(key(name))
        if known is not None:
            self.tell("update_group", evolve(known, parent_name=parent))

    @rule(name=GROUPS)
    def a_group_vanishes(self, name: str) -> None:
        if key(name) in self.naive.groups:
            self.tell("delete_group", key(name))

    # --- pods -----------------------------------------------------------------------------------------------------

    @rule(
        name=st.sampled_from(PODS),
        of=st.sampled_from(["", "a", "a", "b", "b", "c"]),
        gates=st.sampled_from([0, 0, 0, 1, 2]),
        node=st.sampled_from(["", "", "", "", "elsewhere"]),
        priority=st.sampled_from([0, 0, 5]),
        room=st.sampled_from(["yes", "no"]),
    )
    def a_pod_appears(self, name: str, of: str, gates: int, node: str, priority: int, room: str) -> None:
        if f"default/{name}" not in self.naive.known:
            self.replaced += 1
            uid = f"Pod|default/{name}#{self.replaced}"
            self.tell(
                "add_pod", pod(name, of, gates=gates, node=node, priority=priority, uid=uid, labels={"room": room})
            )

    def waiting(self, name: str) -> Pod | None:
        known = self.naive.known.get(f"default/{name}")
        return known if known is not None and not known.node_name else None

    @rule(
        name=st.sampled_from(PODS),
        change=st.sampled_from(["label", "fits", "gate", "gates", "gated", "nothing", "priority", "assigned"]),
    )
    def a_pod_changes(self, name: str, change: str) -> None:
        known = self.waiting(name)
        if known is None:
            return
        changes: dict[str, dict[str, Any]] = {
            "label": {"labels": {**known.labels, "n": f"{len(known.labels)}{known.labels.get('n', '')}"}},
            "fits": {"labels": {**known.labels, "fits": "n"}},
            "gate": {"scheduling_gates": known.scheduling_gates[1:]},
            "gates": {"scheduling_gates": ()},
            "gated": {"scheduling_gates": ("late",)},
            "nothing": {},
            "priority": {"priority": 5 - known.priority},
            "assigned": {"node_name": "elsewhere"},
        }
        self.tell("update_pod", evolve(known, **changes[change]))

    @rule(name=st.sampled_from(PODS), time=st.integers(0, 3))
    def a_pod_shows_a_status(self, name: str, time: int) -> None:
        known = self.waiting(name)
        if known is not None:
            self.tell("show_status", known.with_status(evolve(known.status, start_time=time)))

    @rule(name=st.sampled_from(PODS))
    def a_pod_is_replaced(self, name: str) -> None:
        known = self.waiting(name)
        if known is not None:
            self.replaced += 1
            self.tell("replace_pod", evolve(known, uid=f"Pod|default/{name}#{self.replaced}"))

    @rule(name=st.sampled_from(PODS))
    def a_pod_vanishes(self, name: str) -> None:
        if f"default/{name}" in self.naive.known:
            self.tell("delete_pod", name)

    @rule(name=st.sampled_from(PODS))
    def a_pod_is_activated(self, name: str) -> None:
        self.tell("activate", name)

    # --- events, gates and time -------------------------------------------------------------------------------------

    @rule(event=st.sampled_from([NODE_ADD, NODE_LABEL, NODE_TAINT, NODE_CONDITION]))
    def a_node_changes(self, event: Any) -> None:
        self.tell("node_event", event)

    @rule(name=st.sampled_from([*PODS, "c", "A", "B"]), held=st.booleans())
    def evictions_run(self, name: str, held: bool) -> None:
        entity = key(name) if name in ("c", "A", "B") else EntityKey.of("pod", "default", name)
        for entities in (
            self.scoped.framework.preemption.held,
            self.unscoped.framework.preemption.held,
            self.naive.held,
        ):
            entities.add(entity) if held else entities.discard(entity)

    @rule(moment=MOMENTS)
    def time_passes(self, moment: int) -> None:
        self.tell("advance", moment)

    # --- cycles ---------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.naive.popped is None)
    @rule()
    def an_entity_is_popped(self) -> None:
        note("pop")
        found = [listener.pop() for listener in (self.scoped, self.unscoped, self.naive)]
        assert len({one.key if one is not None else None for one in found}) == 1
        if found[0] is not None:
            *clusters, naive = ([info.pod.key for info in _members(one)] for one in found)
            assert clusters == [naive, naive]

    @precondition(lambda self: self.naive.popped is not None)
    @rule(data=st.data(), root=st.sampled_from(ROOTS))
    def a_cycle_ends(self, data: st.DataObject, root: Status) -> None:
        assert self.naive.popped is not None
        names = [member.pod.name for member in self.naive.popped.members]
        self.tell("finish", {name: data.draw(OUTCOMES, name) for name in names}, root)

    @precondition(lambda self: bool(self.naive.binding) and self.naive.popped is None)
    @rule(data=st.data(), good=st.booleans())
    def a_binding_ends(self, data: st.DataObject, good: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.naive.binding))).split("/")[1]
        self.tell("confirm" if good else "refuse", name)

    # --- the proof --------------------------------------------------------------------------------------------------

    @invariant()
    def all_tell_the_same_story(self) -> None:
        if not hasattr(self, "naive"):
            return
        expected = spelled(self.naive.state)
        assert spelled(self.scoped.state) == expected
        assert spelled(self.unscoped.state) == expected


def _members(popped: Any) -> list[Any]:
    members: Any = popped.members
    return list(members if isinstance(popped, Entity) else members())


def spelled(state: QueueState) -> QueueState:
    """With the order of the leaves made visible to a comparison."""

    def entity(one: EntityState) -> EntityState:
        return evolve(one, heap=f"{one.heap} {list(one.members)}")

    return evolve(
        state,
        active=tuple(map(entity, state.active)),
        backoff=tuple(map(entity, state.backoff)),
        parked=tuple(map(entity, state.parked)),
    )


TestStory = Story.TestCase
TestStory.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@pytest.mark.slow
def test_many_long_stories() -> None:
    run_state_machine_as_test(Story, settings=settings(max_examples=4000, stateful_step_count=70, deadline=None))
