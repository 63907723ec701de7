"""The one file that names every in-tree plugin."""

from __future__ import annotations

from typing import Any

from gangsched_framework.registry import Registry
from gangsched_plugins.capacity import Capacity
from gangsched_plugins.default_binder import DefaultBinder
from gangsched_plugins.default_preemption import DefaultPreemption
from gangsched_plugins.drf import DRF
from gangsched_plugins.gang import Gang
from gangsched_plugins.gang_scheduling import GangScheduling
from gangsched_plugins.hdrf import HDRF
from gangsched_plugins.image_locality import ImageLocality
from gangsched_plugins.inter_pod_affinity import InterPodAffinity
from gangsched_plugins.node_affinity import NodeAffinity
from gangsched_plugins.node_name import NodeName
from gangsched_plugins.node_ports import NodePorts
from gangsched_plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from gangsched_plugins.node_resources_fit import NodeResourcesFit
from gangsched_plugins.node_unschedulable import NodeUnschedulable
from gangsched_plugins.pass_throughs import (
    DynamicResources,
    NodeDeclaredFeatures,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
)
from gangsched_plugins.pod_group_pods_count import PodGroupPodsCount
from gangsched_plugins.pod_topology_spread import PodTopologySpread
from gangsched_plugins.priority import Priority
from gangsched_plugins.priority_sort import PrioritySort
from gangsched_plugins.proportion import Proportion
from gangsched_plugins.scheduling_gates import SchedulingGates
from gangsched_plugins.taint_toleration import TaintToleration
from gangsched_plugins.topology_placement_generator import TopologyPlacementGenerator

# In the order of the default profile (spec node-plugins.md §1.1), group plugins last.
_PLUGINS: tuple[type[Any], ...] = (
    SchedulingGates,
    PrioritySort,
    NodeName,
    NodeUnschedulable,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DynamicResources,
    DefaultPreemption,
    NodeResourcesBalancedAllocation,
    ImageLocality,
    DefaultBinder,
    NodeDeclaredFeatures,
    GangScheduling,
    TopologyPlacementGenerator,
    PodGroupPodsCount,
)

# Not in the default profile: tiers of a dynamic queueSort (spec fair-share.md §2.3).
_FAIR_SHARE: tuple[type[Any], ...] = (Priority, Gang, DRF, HDRF, Proportion, Capacity)


def default_registry() -> Registry:
    """A new registry of every in-tree plugin; third parties' are added by ``load_entry_points``."""
    return Registry({plugin.name: plugin for plugin in (*_PLUGINS, *_FAIR_SHARE)})
