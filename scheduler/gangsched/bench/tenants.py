"""Tenants that share a cluster: what they are, and the cost of keeping them and their jobs in order."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from gangsched.bench.queue_case import REPEATS, Operation, Work
from gangsched.bench.sizes import Sizes
from gangsched.bench.tiers import FAIR, HIERARCHICAL
from gangsched.bench.workload import Workload
from gangsched.bench.workloads import gangs, pods_like
from gangsched.engine.scheduler import Scheduler
from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import QUEUE_NAME, Queue
from gangsched_framework.testing import make_node, make_pod

GANGS_OF = 100
"""Tenants the gangs of a case are spread over."""
_DEPARTMENTS = 5
_SHAPES = tuple(make_pod("template").requests(cpu=f"{cpu}m", memory="500Mi") for cpu in (100, 250, 500, 1000))


def tenants(count: int) -> tuple[Queue, ...]:
    """Tenants of weights 1 to 3, each in one of five departments of weights 1 to 5."""
    return tuple(
        Queue(
            f"tenant-{t:04}",
            weight=1 + t % 3,
            annotations={
                "volcano.sh/hierarchy": f"root/department-{t % _DEPARTMENTS}/tenant-{t:04}",
                "volcano.sh/hierarchy-weights": f"1/{1 + t % _DEPARTMENTS}/{1 + t % 3}",
            },
        )
        for t in range(count)
    )


def gangs_of_tenants(sizes: Sizes) -> Workload:
    """The gangs of ``gangs``, dealt out to tenants."""
    plain, queues = gangs(sizes), tenants(GANGS_OF)
    owned = tuple(
        evolve(group, annotations={QUEUE_NAME: queues[g % GANGS_OF].name}) for g, group in enumerate(plain.groups)
    )
    return evolve(plain, groups=owned, queues=queues, tiers=FAIR)


def _wait(core: Scheduler, n: int, queues: Sequence[Queue]) -> None:
    """``n`` pods of four shapes, dealt out to the tenants, that ask for about twice what there is."""
    for queue in queues:
        core.add(queue)
    shaped = [pods_like(template, n, f"shape-{s}") for s, template in enumerate(_SHAPES)]
    for i in range(n):
        pod = shaped[i % len(shaped)][i]
        core.add(evolve(pod, annotations={QUEUE_NAME: queues[i % len(queues)].name}))
    core.add(make_node("node").capacity(cpu=max(1, n // 4), memory=f"{n}Gi", pods=2 * n).obj())


def _pop_of(count: int, tiers: tuple[str, ...], suffix: str) -> Operation:
    def prepare(core: Scheduler, n: int) -> Work:
        """A pop and what it is for: the pod is placed, so its tenant's share and its job's grow."""
        _wait(core, n, tenants(count))
        queue, accounts, pops = core.queue, core.world.accounts, max(1, min(n // 4, REPEATS))
        assert accounts is not None

        def work() -> int:
            for _ in range(pops):
                info = queue.pop()
                assert isinstance(info, QueuedPodInfo)
                accounts.see(info.pod, placed=True)
            return pops

        work()  # not counted: whoever looks first puts those that arrived in order
        return work

    return Operation(
        f"PopOf{count}Tenants{suffix}", f"the next by {'+'.join(tiers)} of n, and its share", prepare, tiers
    )


OPERATIONS: tuple[Operation, ...] = tuple(
    _pop_of(count, tiers, suffix) for tiers, suffix in ((FAIR, ""), (HIERARCHICAL, "HDRF")) for count in (15, 100, 1000)
)
