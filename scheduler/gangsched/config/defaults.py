"""The default plugin list of a profile, and the defaults of the settings (spec node-plugins.md §1)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gangsched.config.document import Entry
from gangsched_plugins import names

SETTINGS: Mapping[str, int] = MappingProxyType(
    {
        "parallelism": 16,
        "percentageOfNodesToScore": 100,  # upstream's default is 0, adaptive; ours is all nodes
        "percentageOfPlacementsToScore": 100,  # KEP-5732; v1.37.2 has no limit
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 10,
    }
)

DEFAULT_SCHEDULER_NAME = "default-scheduler"

# Plugin, its score weight (0 = none), and the feature gate that adds it to the list.
_PLUGINS: tuple[tuple[str, int, str], ...] = (
    (names.SCHEDULING_GATES, 0, ""),
    (names.PRIORITY_SORT, 0, ""),
    (names.NODE_NAME, 0, ""),
    (names.NODE_UNSCHEDULABLE, 0, ""),
    (names.TAINT_TOLERATION, 3, ""),
    (names.NODE_AFFINITY, 2, ""),
    (names.NODE_PORTS, 0, ""),
    (names.NODE_RESOURCES_FIT, 1, ""),
    (names.VOLUME_RESTRICTIONS, 0, ""),
    (names.NODE_VOLUME_LIMITS, 0, ""),
    (names.VOLUME_BINDING, 0, ""),
    (names.VOLUME_ZONE, 0, ""),
    (names.POD_TOPOLOGY_SPREAD, 2, ""),
    (names.INTER_POD_AFFINITY, 2, ""),
    (names.DYNAMIC_RESOURCES, 2, ""),
    (names.DEFAULT_PREEMPTION, 0, ""),
    (names.NODE_RESOURCES_BALANCED_ALLOCATION, 1, ""),
    (names.IMAGE_LOCALITY, 1, ""),
    (names.DEFAULT_BINDER, 0, ""),
    (names.NODE_DECLARED_FEATURES, 0, ""),
    (names.GANG_SCHEDULING, 0, "GenericWorkload"),
    (names.TOPOLOGY_PLACEMENT_GENERATOR, 0, "TopologyAwareWorkloadScheduling"),
    (names.POD_GROUP_PODS_COUNT, 1, "TopologyAwareWorkloadScheduling"),
)
KNOWN_PLUGINS = tuple(name for name, _, _ in _PLUGINS)
_GATE_OF = {name: gate for name, _, gate in _PLUGINS}

# No longer in v1, and refused by name.
REMOVED_PLUGINS = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")


def default_plugins(gates: Mapping[str, bool]) -> tuple[Entry, ...]:
    """The default multiPoint list under these gates."""
    return tuple(Entry(name, weight) for name, weight, gate in _PLUGINS if not gate or gates[gate])


def default_origin(name: str) -> str:
    """Where a plugin of the default list comes from: ``default`` or ``gate NAME``."""
    gate = _GATE_OF[name]
    return f"gate {gate}" if gate else "default"
