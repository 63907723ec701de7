"""What a replay does with victims: a grace period, then a new start or the loss (architecture.md §11)."""

from __future__ import annotations

from typing import Literal

from attrs import define, evolve, field, frozen

from gangsched.api import Engine
from gangsched.engine.decisions import Evict
from gangsched.replay.departures import Departures
from gangsched.replay.ledger import Ledger, PodRecord, requested
from gangsched_framework.hierarchy import Forest, HierarchyError
from gangsched_framework.objects import Pod, PodStatus

Fate = Literal["restart", "lost"]
"""``restart``: a new pod of the name runs from the beginning. ``lost``: the pod never comes back."""


@frozen(eq=False)
class Victim:
    """An evicted pod. ``time`` of the decision in engine nanoseconds; ``priority`` is the one that made it a victim:
    that of its group where it has one (spec §5.3)."""

    record: PodRecord
    priority: int
    time: int

    @property
    def lost(self) -> int:
        """GPU-nanoseconds: its run time up to the eviction × its GPUs; 0 when it finished within the grace period."""
        if self.record.bound is None or self.record.finished is not None:
            return 0
        gpus = sum(amount for name, amount in requested(self.record.pod).items() if name.endswith("/gpu"))
        return (self.time - self.record.bound) * gpus


@define(eq=False)
class Evictions:
    """Carries out the evictions of one replay and remembers them.

    ``grace`` in nanoseconds: so long a victim keeps running, marked as being deleted. ``count`` is the number of cycles
    that evicted somebody.
    """

    engine: Engine
    ledger: Ledger
    departures: Departures
    fate: Fate = "restart"
    grace: int = 0
    count: int = 0
    victims: list[Victim] = field(factory=list)

    def carry_out(self, evict: Evict) -> None:
        """The host's ``evict``: the victim is marked, or leaves the core at once when there is no grace period."""
        core = self.engine.core
        pod = core.pod(evict.pod)
        assert pod is not None  # decided in this very instant
        priority = _priority(pod, core.world.forest)
        self.victims.append(Victim(self.ledger.pods[pod.key], priority, core.now))
        if self.grace:
            end = core.now + self.grace  # as the API server, which shows the end of the grace period
            core.update(evolve(pod, deletion_timestamp=end))
            self.departures.expect(end, pod.key, pod.uid, evicted=True)
        else:
            self.engine.host.delete_victim(evict)

    def gone(self, key: str) -> Pod:
        """A victim's time is over: its room is free, and what follows it appears. Returns the pod that has gone.

        Not while its cycle's decisions are still being written: a new pod of the name must not get them.
        """
        old = self.ledger.pods[key].pod
        self.engine.delete(old)
        if self.fate == "lost":
            self.ledger.pod_lost(key)
            return old
        core = self.engine.core
        new = evolve(
            old,
            uid=f"Pod|{key}#restart-{len(self.victims)}",
            creation_timestamp=core.now,
            deletion_timestamp=None,
            generation=1,
            node_name="",
            status=PodStatus(),
        )
        self.ledger.pod_restarted(new)
        core.add(new)
        return old


def _priority(pod: Pod, forest: Forest) -> int:
    """That of the highest group above the pod that goes as a whole, else of its own group, else its own (spec §5.3)."""
    if pod.group_key is None:
        return pod.priority
    try:
        chain = forest.chain(pod.group_key)
    except HierarchyError:
        own = forest.group(pod.group_key)
        chain = [] if own is None else [own]
    whole = [group for group in chain if group.disruption_mode == "all"]
    deciding = whole[-1:] or chain[:1]
    return deciding[0].effective_priority if deciding else pod.priority
