"""The ledger against a recount, under random histories."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gangsched.replay.ledger import Ledger, requested
from gangsched_framework.objects import EntityKey
from gangsched_framework.testing import make_node, make_pod, make_pod_group

NODES = ("n1", "n2")
GROUPS = ("g1", "g2")
NAMES = ("a", "b", "c", "d")


class LedgerMachine(RuleBasedStateMachine):
    """Nodes, groups and pods come and go; a plain list of running spans is kept beside the ledger."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.served = 0
        self.offered = 0
        for name in NODES:
            self.ledger.node_added(make_node(name).capacity(cpu=4, pods=10).obj())

    def _keys(self, *, waiting: bool) -> Iterator[str]:
        for key, record in self.ledger.pods.items():
            if record.running or (waiting and record.bound is None and record.gone is None):
                yield key

    @rule(passed=st.integers(1, 9))
    def time_passes(self, passed: int) -> None:
        running = [self.ledger.pods[key] for key in self._keys(waiting=False)]
        self.served += passed * sum(requested(record.pod)["cpu"] for record in running)
        self.offered += passed * 4000 * len(self.ledger.nodes)
        self.ledger.advance(self.ledger.now + passed)

    @rule(name=st.sampled_from(GROUPS), minimum=st.integers(1, 3))
    def group_comes(self, name: str, minimum: int) -> None:
        group = make_pod_group(name).min_count(minimum).obj()
        if group.key not in self.ledger.groups:
            self.ledger.group_added(group)

    @rule(name=st.sampled_from(GROUPS))
    def group_goes(self, name: str) -> None:
        key = EntityKey.of("podgroup", "default", name)
        if key in self.ledger.groups:
            self.ledger.group_deleted(key)

    @rule(name=st.sampled_from(NAMES), group=st.sampled_from((*GROUPS, "")), cpu=st.integers(1, 2))
    def pod_comes(self, name: str, group: str, cpu: int) -> None:
        known = self.ledger.pods.get(f"default/{name}")
        if known is None or known.gone is not None:
            pod = make_pod(name).requests(cpu=cpu)
            self.ledger.pod_added((pod.in_group(group) if group else pod).obj(), None)

    @precondition(lambda self: any(r.bound is None and r.gone is None for r in self.ledger.pods.values()))
    @rule(data=st.data(), node=st.sampled_from(NODES))
    def pod_starts(self, data: st.DataObject, node: str) -> None:
        waiting = [k for k, r in self.ledger.pods.items() if r.bound is None and r.gone is None]
        self.ledger.pod_bound(data.draw(st.sampled_from(waiting)), node)

    @precondition(lambda self: any(self._keys(waiting=False)))
    @rule(data=st.data())
    def pod_succeeds(self, data: st.DataObject) -> None:
        self.ledger.pod_finished(data.draw(st.sampled_from(list(self._keys(waiting=False)))))

    @precondition(lambda self: any(self._keys(waiting=True)))
    @rule(data=st.data())
    def pod_goes(self, data: st.DataObject) -> None:
        self.ledger.pod_deleted(data.draw(st.sampled_from(list(self._keys(waiting=True)))))

    @invariant()
    def integrals_are_the_sum_of_spans(self) -> None:
        assert self.ledger.served.get("cpu", 0) == self.served
        assert self.ledger.offered.get("cpu", 0) == self.offered

    @invariant()
    def amounts_in_use_are_a_recount(self) -> None:
        running = [record for record in self.ledger.pods.values() if record.running]
        for resource in ("cpu", "pods"):
            for node in NODES:
                want = sum(requested(r.pod)[resource] for r in running if r.node == node)
                assert self.ledger.on_node.get(node, {}).get(resource, 0) == want
            assert self.ledger.used.get(resource, 0) == sum(requested(r.pod)[resource] for r in running)

    @invariant()
    def gangs_count_their_pods(self) -> None:
        for key, gang in self.ledger.gangs.items():
            if gang.gone is None:
                members = list(self.ledger.members.get(key, {}).values())
                assert gang.running == sum(record.running for record in members)
                assert gang.succeeded == sum(record.finished is not None for record in members)
                assert gang.pods == len(members)
                assert gang.placed is not None or gang.running < gang.group.required


LedgerMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestLedger = LedgerMachine.TestCase


def test_a_gang_is_placed_and_finished_when_its_pods_are() -> None:
    ledger = Ledger()
    ledger.group_added(make_pod_group("g").min_count(2).obj())
    for name in ("a", "b"):
        ledger.pod_added(make_pod(name).in_group("g").obj(), None)
    (gang,) = ledger.all_gangs()
    ledger.advance(10)
    ledger.pod_bound("default/a", "n1")
    assert gang.placed is None
    ledger.advance(20)
    ledger.pod_bound("default/b", "n1")
    assert gang.placed == 20
    ledger.advance(30)
    assert ledger.pod_finished("default/a") is None
    ledger.advance(40)
    assert ledger.pod_finished("default/b") is gang
    assert gang.finished == 40


@pytest.mark.parametrize("back", [0, 3], ids=["now", "three nanoseconds ago"])
def test_integrals_can_be_seen_at_the_last_change(back: int) -> None:
    ledger = Ledger()
    ledger.node_added(make_node("n1").capacity(cpu=4, pods=10).obj())
    ledger.advance(10)
    integrals = ledger.integrals_at(10 - back)
    assert (integrals.time, integrals.offered["cpu"]) == (10 - back, 4000 * (10 - back))
