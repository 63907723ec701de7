"""Cluster events and queueing hints: what changed, and whom it may help (spec podgroup-scheduling.md §2.7).

An event is (resource, action). A pod appears under three names: ``TargetPod`` (the waiting pod that is asked itself),
``UnscheduledPod`` (another waiting pod) and ``AssignedPod`` (node-plugins.md §7).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, IntFlag

from attrs import Factory, field, frozen

from gangsched_framework.objects import Group, Node, Pod


class Resource(Enum):
    """What changed; the value is the name in ``Node/Add``-style labels."""

    NODE = "Node"
    TARGET_POD = "TargetPod"
    UNSCHEDULED_POD = "UnscheduledPod"
    ASSIGNED_POD = "AssignedPod"
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    COMPOSITE_POD_GROUP = "scheduling.k8s.io/CompositePodGroup"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    QUEUE = "scheduling.volcano.sh/Queue"
    WILDCARD = "*"


class Action(IntFlag):
    """How it changed. A registration names a set, an event one bit; ``UPDATE`` holds every update bit."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_NODE_DECLARED_FEATURE = 128
    UPDATE_POD_LABEL = 256
    UPDATE_POD_SCALE_UP = 512
    UPDATE_POD_SCALE_DOWN = 1024
    UPDATE_POD_TOLERATION = 2048
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 4096
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 8192
    UPDATE_OTHER = 16384
    """An update that changes nothing relevant, printed ``Update``; only a registration of all of ``UPDATE`` matches."""
    UPDATE = 32764
    ALL = 32767


_LABELS = {
    Action.ADD: "Add",
    Action.DELETE: "Delete",
    Action.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    Action.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    Action.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    Action.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    Action.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    Action.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    Action.UPDATE_POD_LABEL: "UpdatePodLabel",
    Action.UPDATE_POD_SCALE_UP: "UpdatePodScaleUp",
    Action.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    Action.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "UpdatePodGeneratedResourceClaim",
}


@frozen(cache_hash=True)
class ClusterEvent:
    """(resource, action); one bit of action for an event that happened, a set for a registration."""

    resource: Resource
    action: Action
    wildcard: bool = field(
        init=False, eq=False, repr=False, default=Factory(lambda e: e.resource is Resource.WILDCARD, takes_self=True)
    )

    def matches(self, event: ClusterEvent) -> bool:
        """Whether this registration covers ``event``."""
        return self.resource is event.resource and bool(self.action & event.action)

    @property
    def label(self) -> str:
        """``Node/Add|UpdateNodeLabel``, as the real scheduler prints it."""
        if self.action == Action.ALL:
            return f"{self.resource.value}/All"
        names = [name for bit, name in _LABELS.items() if self.action & bit and not (bit & Action.UPDATE)]
        if self.action & Action.UPDATE_OTHER:
            names.append("Update")
        else:
            names += [name for bit, name in _LABELS.items() if self.action & bit & Action.UPDATE]
        return f"{self.resource.value}/{'|'.join(names)}"


WILDCARD_EVENT = ClusterEvent(Resource.WILDCARD, Action.ALL)
"""Matches every registration: leftover flush, forced activation."""


class Hint(Enum):
    """Answer of a hint function: could the event make the pod schedulable?"""

    SKIP = "QueueSkip"
    QUEUE = "Queue"


HintFunction = Callable[[Pod, "Pod | Node | Group | None", "Pod | Node | Group | None"], Hint]
"""``(waiting pod, old object, new object) -> Hint``; old is None for an addition, new is None for a deletion."""


@frozen
class ClusterEventWithHint:
    """One registration of a plugin. Without ``hint`` every matching event queues the pod (spec §2.7.1).

    ``within_tree`` promises that the hint answers Queue only for members of the tree that the event's object (a group,
    or a member pod) belongs to, and alike for all of them: the queue then asks one member of that tree and nobody else.
    """

    event: ClusterEvent
    hint: HintFunction | None = field(default=None, eq=False)
    within_tree: bool = False
