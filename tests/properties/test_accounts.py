"""The books of tenants and jobs, read now and then: sums, moves and what policies derive are those of the present."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from attrs import evolve

from gangsched.engine.world import World
from gangsched_framework.accounts import Accounts
from gangsched_framework.fair_order import FairOrder, Key
from gangsched_framework.hierarchy import Forest
from gangsched_framework.moved import Moved
from gangsched_framework.objects import QUEUE_NAME, EntityKey, Pod, PodGroup, Queue
from gangsched_framework.testing import FakeHandle, make_node, make_pod, make_pod_group, make_snapshot
from gangsched_plugins.default_registry import default_registry
from tests.properties.fair_story import ARGS, TIERS, _books

TENANTS = ("a", "b", "c")
SHAPES = [make_pod("t").requests(cpu=cpu, memory="1Gi").obj() for cpu in (1, 2)]
SHAPES.append(make_pod("t").requests(cpu=1, **{"example.com/gpu": 1}).obj())


class Books:
    """A world with accounts and an order over them that are changed at random, and read only when told so."""

    def __init__(self, seed: str, tiers: str) -> None:
        self.rng = Random(seed)
        self.tiers = tiers
        forest = Forest()
        self.world = World(forest, ("default-scheduler",))
        self.accounts = self.world.keep_accounts(make_snapshot([], []))
        self.order = self.order_over(self.accounts)
        self.before = _books(self.accounts), self.keys(self.order)
        self.count = 0

    def order_over(self, accounts: Accounts) -> FairOrder:
        handle = FakeHandle(snapshot=make_snapshot([], []))
        handle._accounts = accounts
        handle.snapshot.forest = self.world.forest
        registry, args = default_registry(), ARGS.get(self.tiers, {})
        return FairOrder(accounts, [registry.build(n, args.get(n, {}), handle) for n in TIERS[self.tiers]])  # type: ignore[misc]

    # --- changes ------------------------------------------------------------------------------------------------------

    def change(self) -> None:
        rng = self.rng
        draw = rng.randrange(16)
        some = rng.choice([*self.world.pods.values(), None]) if self.world.pods else None
        if draw < 6 or some is None:
            self.pods_come()
        elif draw < 9 and not some.node_name:
            self.world.assume(some, "n")
        elif draw == 9 and not some.node_name:
            self.world.forget(some)
        elif draw == 10:
            self.world.delete_pod(some)
        elif draw == 11:
            self.world.update_pod(some, some.bound_to("n"))
        elif draw == 12:
            self.world.update_pod(some, self.changed(some))
        elif draw == 13:
            self.group_changes()
        elif draw == 14:
            name = rng.choice((*TENANTS, "default"))
            known = name in self.world.queues
            queue = Queue(name, weight=rng.randint(1, 3), priority=rng.randint(0, 1), deserved={"cpu": 4 * 10**9})
            self.world.set_queue(name, None if known and rng.random() < 0.3 else queue)
        elif "n" not in self.world.nodes:
            self.world.add_node(make_node("n").capacity(cpu=rng.randint(1, 40), memory="64Gi", pods=99).obj())

    def pods_come(self) -> None:
        rng, shape = self.rng, self.rng.choice(SHAPES)
        group = rng.choice(("", "", "g1", "g2", "g3"))
        for _ in range(rng.randint(1, 4)):
            self.count += 1
            name, queue = f"p{self.count}", rng.choice(TENANTS)
            annotations = shape.annotations if group or rng.random() < 0.3 else {QUEUE_NAME: queue}
            node = "n" if rng.random() < 0.2 else ""
            self.world.add_pod(
                evolve(shape, name=name, uid=name, group_name=group, annotations=annotations, node_name=node)
            )

    def changed(self, pod: Pod) -> Pod:
        draw = self.rng.randrange(5)
        if draw == 0:
            return evolve(pod, deletion_timestamp=1)
        if draw == 1:
            return evolve(pod, spec=self.rng.choice(SHAPES).spec)
        if draw == 2:
            return evolve(pod, spec=evolve(pod.spec))  # another object that says the same
        if draw == 3:
            return evolve(pod, annotations={QUEUE_NAME: self.rng.choice(TENANTS)})
        return pod.bound_to("" if pod.node_name else "n")

    def group_changes(self) -> None:
        name = self.rng.choice(("g1", "g2", "g3"))
        built = make_pod_group(name).min_count(1)
        group: PodGroup = built.annotation(QUEUE_NAME, self.rng.choice(TENANTS)).obj()
        if self.world.forest.group(group.key) is not None and self.rng.random() < 0.3:
            self.world.forest.delete_group(group.key)
        else:
            self.world.forest.add_group(group)
        self.world.regroup(group.key)

    # --- looking ------------------------------------------------------------------------------------------------------

    def keys(self, order: FairOrder) -> dict[str, tuple[Key, str]]:
        return {n: (order.tenant_key(n), order.passes_over(order.account(n))) for n in order.accounts.tenants}

    def look(self) -> None:
        """Everything is as a world that was just told of would have it, and who changed was named."""
        for settle in self.order.settling:
            settle()
        moved = self.accounts.take_moved()
        fresh = World(self.world.forest, self.world.schedulers, queues=self.world.queues, nodes=self.world.nodes)
        fresh.pods, fresh._assumed = dict(reversed(self.world.pods.items())), self.world._assumed
        anew = fresh.keep_accounts(make_snapshot([], []))
        books, keys = _books(self.accounts), self.keys(self.order)
        assert books == _books(anew)
        assert keys == self.keys(self.order_over(anew))
        self.accounts._check()
        _check_moved(moved or Moved({}, {}, {}), self.before[0], books)
        if not self.order.branches:
            for name in keys.keys() & self.before[1].keys():
                assert keys[name] == self.before[1][name] or (moved is not None and name in moved.tenants), name
        self.before = books, keys


def _check_moved(moved: Moved, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for key, job in now["jobs"].items():
        assert before["jobs"].get(key) == job or key in moved.jobs, key
    for name, tenant in now["tenants"].items():
        old = before["tenants"].get(name)
        if old is not None and old[3] != tenant[3]:
            assert name in moved.tenants, name


@pytest.mark.parametrize("tiers", TIERS)
@pytest.mark.parametrize("seed", range(3))
def test_whenever_they_are_read_the_books_are_those_of_the_present(seed: int, tiers: str) -> None:
    books = Books(f"{tiers}:{seed}", tiers)
    for _ in range(70):
        for _ in range(books.rng.randint(1, 6)):
            books.change()
        books.look()


@pytest.mark.parametrize("read", [True, False])
def test_a_job_that_has_lost_its_pods_starts_anew_for_another_tenant(read: bool) -> None:
    books = Books("", "proportion")
    world, pod = books.world, evolve(SHAPES[0], name="p", uid="p", group_name="g1")
    for queue in ("a", "b"):
        world.forest.add_group(make_pod_group("g1").min_count(1).annotation(QUEUE_NAME, queue).obj())
        world.regroup(EntityKey("podgroup/default/g1"))
        world.add_pod(pod)
        if read or queue == "b":
            books.look()
        if queue == "a":
            world.delete_pod(pod)
    assert books.accounts.jobs[EntityKey("podgroup/default/g1")].tenant.name == "b"


def test_what_has_gone_is_forgotten_though_nobody_reads() -> None:
    world = World(Forest(), ("default-scheduler",))
    accounts = world.keep_accounts(make_snapshot([], []))
    for number in range(12_000):
        pod = make_pod(f"p{number}").requests(cpu=1).obj()
        world.add_pod(pod)
        world.delete_pod(pod)
    assert len(accounts._jobs) + len(accounts._changed) < 20_001
    assert not accounts.jobs
