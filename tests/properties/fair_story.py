"""The stories of ``story.py`` with tenants: Queues come and go, pods and groups belong to them, shares decide.

After each step everything derived is compared with what deriving it anew gives: the books of the accounts, every
share, every key, and who is to be popped next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import Any
from zlib import crc32

from attrs import evolve

from gangsched.config import SchedulerConfig, load_config
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched_framework.accounts import Accounts
from gangsched_framework.fair_order import FairOrder, Key
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import QUEUE_NAME, ClusterObject, CompositePodGroup, EntityKey, Pod, PodGroup, Queue
from gangsched_framework.testing import FakeHandle
from gangsched_framework.vectors import Vector
from gangsched_plugins.default_registry import default_registry
from gangsched_plugins.fairshare.gate import TenantGate
from gangsched_queue.entities import Entity
from gangsched_queue.fair_tenants import FairTenants
from tests.properties.objects import GPU, Variety, one_in, some
from tests.properties.story import RULES, Story

TENANTS = ("a", "b", "c", "root")
CPU = 10**9

TIERS: Mapping[str, Sequence[str]] = {
    "proportion": ("Priority", "Gang", "DRF", "Proportion"),
    "proportion first": ("Proportion", "DRF"),
    "capacity": ("Gang", "Capacity", "DRF"),
    "capacity tree": ("Capacity", "Priority"),
    "hdrf": ("HDRF",),
    "hdrf on paper": ("Priority", "HDRF", "Proportion"),
    "drf": ("DRF",),
}
ARGS: Mapping[str, Mapping[str, Any]] = {
    "capacity tree": {"Capacity": {"hierarchical": True}},
    "hdrf on paper": {"HDRF": {"mode": "paper"}},
}


@cache
def fair_configuration(name: str) -> SchedulerConfig:
    """The default plugins under some tiers, the same for two scheduler names."""
    return load_config(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {
                    "schedulerName": scheduler,
                    "plugins": {
                        "multiPoint": {"disabled": [{"name": "DynamicResources"}]},
                        "queueSort": {"enabled": [{"name": plugin} for plugin in TIERS[name]]},
                    },
                    "pluginConfig": [{"name": plugin, "args": args} for plugin, args in ARGS.get(name, {}).items()],
                }
                for scheduler in ("default-scheduler", "other-scheduler")
            ],
        }
    )


def fair_cores(name: str, *, oracle: bool) -> list[Scheduler]:
    config = fair_configuration(name)
    settings = [Settings(), Settings(oracle=True)] if oracle else [Settings()]
    return [
        Scheduler(config.profiles, default_registry(), settings=each, feature_gates=config.gates) for each in settings
    ]


class FairStory(Story):
    """``name``: a row of ``TIERS``."""

    def __init__(self, name: str, variety: Variety, *, oracle: bool = False) -> None:
        super().__init__(fair_cores(name, oracle=oracle), variety)
        self.name = name

    # --- telling ------------------------------------------------------------------------------------------------------

    def tell(self, verb: str, obj: ClusterObject) -> None:
        """Newcomers belong to a tenant, many to none."""
        if verb == "add" and isinstance(obj, Pod | PodGroup | CompositePodGroup) and QUEUE_NAME not in obj.annotations:
            draw = crc32(obj.uid.encode()) % (2 * len(TENANTS))
            if draw < len(TENANTS):
                obj = evolve(obj, annotations={**obj.annotations, QUEUE_NAME: TENANTS[draw]})
        super().tell(verb, obj)

    def a_queue_appears_or_changes(self, rng: Random) -> None:
        name = some(rng, (*TENANTS, "default"))
        amounts = {"cpu": some(rng, (1, 2, 4, 8)) * CPU} | ({GPU: some(rng, (0, 1, 3)) * CPU} if one_in(rng, 3) else {})
        parent = some(rng, ("", "", "c", "nobody")) if name in ("a", "b") and one_in(rng, 2) else ""
        path = some(rng, ("root/x/", "root/x/y/", "root/")) + name
        weights = "/".join(str(some(rng, (1, 2, 5))) if path.count("/") < 2 else "2" for _ in path.split("/"))
        hierarchy = {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}
        queue = Queue(
            name,
            weight=some(rng, (1, 1, 2, 7)),
            capability=amounts if one_in(rng, 3) else None,
            guarantee={"cpu": CPU} if one_in(rng, 4) else None,
            deserved=amounts if one_in(rng, 2) else None,
            parent=parent,
            priority=some(rng, (0, 0, 0, 5)),
            state="Closed" if one_in(rng, 6) else "Open",
            annotations=hierarchy if one_in(rng, 2) else {},
            creation_timestamp=some(rng, (0, 1, 2)),
        )
        self.tell("update" if name in self.core.world.queues else "add", queue)

    def a_queue_vanishes(self, rng: Random) -> None:
        queue = self.core.world.queues.get(some(rng, (*TENANTS, "default")))
        if queue is not None:
            self.tell("delete", queue)

    def somebody_changes_the_tenant(self, rng: Random) -> None:
        holder = self._some_group(rng) if one_in(rng, 2) else self._some_pod(rng)
        if holder is not None:
            self.tell("update", evolve(holder, annotations={QUEUE_NAME: some(rng, TENANTS)}))

    # --- checking -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        super().check()
        accounts = self.core.world.accounts
        assert accounts is not None
        fresh = self._anew()
        assert _books(accounts) == _books(fresh)
        if self.stage != "decided":
            self._check_order(accounts, fresh)

    def _anew(self) -> Accounts:
        """The accounts as they would be, had they seen nothing but the present."""
        world = self.core.world
        fresh = Accounts(world.forest)
        for queue in world.queues.values():
            fresh.set_queue(queue.name, queue)
        for node in world.nodes.values():
            fresh.set_node(node, node.name)
        for pod in reversed(world.pods.values()):
            if pod.node_name or pod.scheduler_name in self.core.frameworks:
                fresh.see(pod, bool(pod.node_name) or world.is_assumed(pod))
        return fresh

    def _check_order(self, accounts: Accounts, fresh: Accounts) -> None:
        framework = next(iter(self.core.frameworks.values()))
        live = framework.fair_order
        assert live is not None
        handle = FakeHandle(snapshot=self.core.snapshot)
        handle._accounts = fresh
        registry = default_registry()
        args = framework.profile.args
        order = FairOrder(fresh, [registry.build(n, args.get(n, {}), handle) for n in TIERS[self.name]])  # type: ignore[misc]
        active = self.core.queue.waiting.active
        assert isinstance(active, FairTenants)
        for tenant in accounts.tenants:
            assert live.tenant_key(tenant) == order.tenant_key(tenant), (
                f"key of {tenant}: {live.tenant_key(tenant)} {order.tenant_key(tenant)}"
            )
            mine, anew = live.account(tenant), order.account(tenant)
            assert live.passes_over(mine) == order.passes_over(anew), f"whether {tenant} is passed over"
        for entity in active:
            assert live.job_key(entity) == order.job_key(entity), f"key of {entity.key}"
        head = active.head()
        assert (head[1].key if head is not None else None) == _naive_head(order, active, self.core), "who is next"
        self._nobody_waits_in_vain(fresh, order)

    def _nobody_waits_in_vain(self, fresh: Accounts, order: FairOrder) -> None:
        """A plain pod that only its tenant's limits keep parked is still beyond them."""
        for entity in self.core.queue.waiting.parked:
            if isinstance(entity, QueuedPodInfo) and not entity.gating_plugin:
                for plugin in order.plugins:
                    if entity.unschedulable_plugins == {plugin.name}:
                        gate: TenantGate = plugin._gate  # type: ignore[union-attr]
                        assert gate._refusal(entity.pod, tentative=False), f"{entity.key} could go on"


FAIR_RULES = [*RULES, *[FairStory.a_queue_appears_or_changes] * 3, FairStory.a_queue_vanishes]
FAIR_RULES += [FairStory.somebody_changes_the_tenant] * 2


def tell_fair_world(seed: int, world: int, steps: int, name: str, *, oracle: bool = False) -> FairStory:
    """Play a world of ``steps`` steps; each draws from a generator of its own."""
    rng = Random(f"{seed}:{world}")
    story = FairStory(name, Variety.draw(rng), oracle=oracle)
    for _ in range(rng.randrange(6)):
        story.a_node_appears(rng)
    for step in range(steps):
        own = Random(f"{seed}:{world}:{step}")
        FAIR_RULES[own.randrange(len(FAIR_RULES))](story, own)
        story.check()
    return story


def _books(accounts: Accounts) -> dict[str, Any]:
    def named(vector: Vector) -> dict[str, int]:
        return {name: amount for name, amount in zip(accounts.names, vector, strict=False) if amount}

    return {
        "total": named(accounts.total),
        "tenants": {
            name: (t.queue is None, t.pods, named(t.request), named(t.allocated))
            for name, t in accounts.tenants.items()
        },
        "jobs": {
            key: (job.tenant.name, job.pods, named(job.request), named(job.allocated))
            for key, job in accounts.jobs.items()
        },
    }


def _naive_head(order: FairOrder, active: FairTenants, core: Scheduler) -> EntityKey | None:
    """Look at everybody: the first tenant in order, and in it the first entity, that are not passed over."""
    best: list[tuple[Key, Key, EntityKey]] = []
    for entity in active:
        tenant = order.account(order.tenant_of(entity))
        if not order.passes_over(tenant) and not order.refuses(tenant, _next_request(order, entity, core)):
            best.append((order.tenant_key(tenant.name), order.job_key(entity), entity.key))
    return min(best)[2] if best else None


def _next_request(order: FairOrder, entity: Entity, core: Scheduler) -> Vector:
    if isinstance(entity, QueuedPodInfo):
        return order.accounts.vector(entity.pod)
    ordered = entity.ordered(core.world.forest.tree(entity.key))
    return order.accounts.vector(next(iter(ordered.values()))[0].pod)
