"""Integer resource vectors (spec node-plugins.md §3.3): milli-CPU, bytes, counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attrs import Factory, field, frozen

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
REQUESTED = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""The resources without a domain that pods request, huge pages apart."""
HUGE_PAGES = "hugepages-"
VOLUMES = "attachable-volumes-"


def known_to_pods(name: str) -> bool:
    """Whether pods may request a resource of that name: one of those above, or with a domain (``example.com/gpu``)."""
    return name in REQUESTED or "/" in name or name.startswith(HUGE_PAGES)


_LARGE = 2**44


@frozen
class Resources:
    """One amount per resource; all integers.

    ``milli_cpu`` in thousandths of a CPU, ``memory`` and ``ephemeral_storage`` in bytes, ``pods`` a count (allocatable
    only), ``scalars`` a count per extended / hugepages / attachable resource. A scalar that was *named* with amount 0
    stays in the map (spec §7.6.1.2 looks at the names).
    """

    milli_cpu: int = 0
    memory: int = 0
    ephemeral_storage: int = 0
    pods: int = 0
    scalars: Mapping[str, int] = {}

    def get(self, name: str) -> int:
        """The amount of resource ``name`` (0 when absent)."""
        if name == CPU:
            return self.milli_cpu
        if name == MEMORY:
            return self.memory
        if name == EPHEMERAL_STORAGE:
            return self.ephemeral_storage
        if name == PODS:
            return self.pods
        return self.scalars.get(name, 0)

    def plus(self, other: Resources, sign: int = 1) -> Resources:
        """``self + sign * other``."""
        scalars = dict(self.scalars)
        for name, amount in other.scalars.items():
            scalars[name] = scalars.get(name, 0) + sign * amount
        return Resources(
            self.milli_cpu + sign * other.milli_cpu,
            self.memory + sign * other.memory,
            self.ephemeral_storage + sign * other.ephemeral_storage,
            self.pods + sign * other.pods,
            scalars,
        )


NOTHING = Resources()


class StatusAmounts(NamedTuple):
    """Nano-units a status shows: ``allocatedResources`` and ``resources.requests``, None where absent."""

    allocated: Mapping[str, int] | None = None
    actual: Mapping[str, int] | None = None


@frozen
class PodRequests:
    """The request vectors of one pod (spec node-plugins.md §3.4-3.5).

    ``requested`` counts on a node and is what Fit checks; ``nonzero_*`` (milli-CPU, bytes) is what a node sums for
    Fit's score; ``score_*`` is the same without pod-level resources, used for the *incoming* pod only (the asymmetry
    of §3.5); ``score_other`` is the plain vector without pod level, for scalars and ephemeral-storage in Fit's score.
    """

    requested: Resources
    nonzero_milli_cpu: int
    nonzero_memory: int
    score_milli_cpu: int
    score_memory: int
    score_other: Resources
    large: bool = field(init=False, repr=False, eq=False, default=Factory(lambda own: own._is_large(), takes_self=True))
    """Whether it takes fewer than half a million of them for a sum that 64 bits do not hold."""

    def _is_large(self) -> bool:
        amounts = self.requested
        of_all = (self.nonzero_milli_cpu, self.nonzero_memory, amounts.milli_cpu, amounts.memory)
        return max(*of_all, amounts.ephemeral_storage, *amounts.scalars.values()) >= _LARGE
