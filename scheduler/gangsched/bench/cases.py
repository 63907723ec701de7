"""The table of cases."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from gangsched.bench import tenants, workloads
from gangsched.bench.case import Case
from gangsched.bench.queue_case import QueueCase
from gangsched.bench.queue_operations import OPERATIONS
from gangsched.bench.sizes import Sizes
from gangsched_framework.errors import GangschedError, did_you_mean

AnyCase = Case | QueueCase

_BASIC = "like pods on like nodes"
_GANGS = "gangs that need all their members"
_SHARED = f"gangs of {tenants.GANGS_OF} tenants, by DRF and Proportion"
_TREES = "CompositePodGroups that need all their gangs"
_RACKS = "gangs that must stand in one rack of 50"

SCHEDULING: tuple[Case, ...] = (
    Case("SchedulingBasic", _BASIC, Sizes(500, 10_000), workloads.basic),
    Case("SchedulingBasic", _BASIC, Sizes(1000, 10_000), workloads.basic),
    Case("SchedulingBasic", _BASIC, Sizes(5000, 10_000), workloads.basic),
    Case("SchedulingBasic", _BASIC, Sizes(15_000, 10_000), workloads.basic),
    Case("SchedulingBasic", _BASIC, Sizes(15_000, 100_000), workloads.basic),
    Case("GangScheduling", _GANGS, Sizes(500, 3000, 0, 3), workloads.gangs),
    Case("GangScheduling", _GANGS, Sizes(5000, 3000, 0, 3), workloads.gangs),
    Case("GangScheduling", _GANGS, Sizes(15_000, 3000, 0, 3), workloads.gangs),
    Case("GangScheduling", _GANGS, Sizes(5000, 9, 0, 1000), workloads.gangs),
    Case("FairGangScheduling", _SHARED, Sizes(5000, 3000, 0, 3), tenants.gangs_of_tenants),
    Case("CPGGang", _TREES, Sizes(5000, 1500, 2, 3), workloads.trees),
    Case("CPGGang", _TREES, Sizes(5000, 3, 2, 1500), workloads.trees),
    Case(
        "CPGRollback",
        "trees whose last gang fits nowhere: all is taken back",
        Sizes(5000, 3, 2, 5000),
        workloads.rolled_back_trees,
    ),
    Case("MixedShapes", "twenty shapes, random cluster", Sizes(5000, 10_000), workloads.mixed_shapes),
    Case("DistinctShapes", "no two pods alike, random cluster", Sizes(5000, 5000), workloads.distinct_shapes),
    Case(
        "TaintsAndPreferredAffinity",
        "two normalised scores",
        Sizes(5000, 10_000),
        workloads.taints_and_affinity,
    ),
    Case("TopologySpreading", "hard spread over 3 zones", Sizes(5000, 5000), workloads.hard_spread),
    Case("PreferredTopologySpreading", "soft spread over 3 zones", Sizes(5000, 5000), workloads.soft_spread),
    Case("SchedulingPodAntiAffinity", "one pod a node", Sizes(5000, 2000), workloads.anti_affinity),
    Case("Unschedulable", "pods that fit while as many fit nowhere", Sizes(5000, 10_000), workloads.unschedulable),
    Case("FitsNowhere", "attempts of pods that fit nowhere", Sizes(5000, 10_000), workloads.fits_nowhere),
    Case("Churn", "a tenth goes and comes, ten times", Sizes(5000, 10_000), workloads.churn),
    Case("DefaultTopologySpreading", "soft spread over nodes and zones", Sizes(5000, 5000), workloads.default_spread),
    Case("TopologyAwareScheduling", _RACKS, Sizes(5000, 750, 0, 4), workloads.gangs_in_racks),
    Case("TopologyAwareScheduling", _RACKS, Sizes(5000, 1500, 0, 4), workloads.gangs_in_racks),
    Case("TopologyAwareScheduling", _RACKS, Sizes(5000, 2250, 0, 4), workloads.gangs_in_racks),
    Case("TopologyAwareScheduling", _RACKS, Sizes(5000, 3, 0, 1000), workloads.gangs_in_racks),
    Case("TopologyAwareScheduling", _RACKS, Sizes(5000, 9, 0, 1000), workloads.gangs_in_racks),
    Case(
        "CPGTopologyAware",
        "trees in one zone of 3, their gangs in one rack of 50",
        Sizes(5000, 500, 2, 4),
        workloads.trees_in_zones,
    ),
    Case(
        "PreemptionBasic",
        "pods that need the room of three others",
        Sizes(500, 500),
        workloads.preemption,
        patient=True,
    ),
    Case(
        "PreemptionGang",
        "gangs whose members need the room of three others each",
        Sizes(500, 50, 0, 10),
        workloads.gang_preemption,
        patient=True,
    ),
)

QUEUE_SIZES = (1000, 10_000, 100_000)
QUEUE: tuple[QueueCase, ...] = tuple(
    QueueCase(operation, n) for operation in (*OPERATIONS, *tenants.OPERATIONS) for n in QUEUE_SIZES
)

CASES: tuple[AnyCase, ...] = (*SCHEDULING, *QUEUE)


def find(patterns: Sequence[str], nodes: int | None = None) -> list[AnyCase]:
    """Cases by name, family or glob, in the order asked for; a known family may have any size.

    ``nodes`` replaces the number of nodes of scheduling cases. Raises GangschedError for what names no case.
    """
    found: dict[str, AnyCase] = {}
    for pattern in patterns:
        for case in _matching(pattern):
            if nodes is not None and isinstance(case, Case):
                case = case.on(nodes)
            found[case.name] = case
    return list(found.values())


def _matching(pattern: str) -> list[AnyCase]:
    family, _, size = pattern.partition("/")
    matching: list[AnyCase] = [case for case in CASES if fnmatchcase(case.name, pattern) or case.family == pattern]
    sizes = Sizes.parse(size)
    if not matching and sizes is not None:
        alike = (case for case in SCHEDULING if case.family == family and case.sizes.like(sizes))
        matching += [case.sized(sizes) for case in alike][:1]
    if not matching:
        known = [*dict.fromkeys(case.family for case in CASES), *(case.name for case in CASES)]
        raise GangschedError(f"no benchmark case {pattern}{did_you_mean(pattern, known)}")
    return matching
