"""The API objects the scheduler reads: frozen values, Kubernetes' own names (spec podgroup-scheduling.md §1).

Times are integer **nanoseconds since the start of the engine's clock** (they may be negative for objects older than
it); the reader of manifests converts. Pods are named ``namespace/name``, entities ``type/namespace/name``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from attrs import Factory, evolve, field, frozen

from gangsched_framework.entity_key import COMPOSITE_POD_GROUP, POD, POD_GROUP, EntityKey, key_of_pod
from gangsched_framework.pod_requests import requests_of_assigned
from gangsched_framework.pod_spec import Container, PodSpec
from gangsched_framework.policies import (
    DEFAULT_QUEUE,
    PREEMPT_LOWER_PRIORITY,
    QUEUE_NAME,
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    Queue,
    SelectorOwner,
)
from gangsched_framework.resources import NOTHING, PodRequests, Resources, StatusAmounts
from gangsched_framework.values import value

DEFAULT_SCHEDULER = "default-scheduler"

_new = object.__new__


@value
class Condition:
    """A status condition. ``last_transition_time`` in engine nanoseconds."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str = ""
    message: str = ""
    last_transition_time: int = 0
    observed_generation: int = 0


@frozen
class PodStatus:
    """``allocated``: status amounts by container name, '' for the whole pod, if they count (node-plugins.md §3.5)."""

    phase: str = "Pending"
    nominated_node_name: str = ""
    start_time: int | None = None
    conditions: tuple[Condition, ...] = ()
    allocated: Mapping[str, StatusAmounts] = {}


@value(eq=False)
class _PodFields:
    namespace: str
    name: str
    uid: str
    spec: PodSpec = field(factory=PodSpec)
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    creation_timestamp: int = 0
    deletion_timestamp: int | None = None
    generation: int = 1
    scheduler_name: str = DEFAULT_SCHEDULER
    priority: int = 0
    preemption_policy: str = PREEMPT_LOWER_PRIORITY
    scheduling_gates: tuple[str, ...] = ()
    group_name: str = ""
    node_name: str = ""
    owner: tuple[str, str] | None = None  # (kind, name) of the controller, for default spread constraints
    status: PodStatus = PodStatus()
    key: str = field(init=False, repr=False, default=Factory(lambda p: f"{p.namespace}/{p.name}", takes_self=True))
    group_key: EntityKey | None = field(
        init=False,
        repr=False,
        default=Factory(
            lambda pod: EntityKey.of(POD_GROUP, pod.namespace, pod.group_name) if pod.group_name else None,
            takes_self=True,
        ),
    )
    """Key of the PodGroup named in ``spec.schedulingGroup.podGroupName``, None for a plain pod."""


@frozen(eq=False)
class Pod(_PodFields):
    """A pod. ``priority`` is resolved (classes, else 0); ``node_name`` empty = not assigned."""

    @property
    def entity_key(self) -> EntityKey:
        """``pod/namespace/name``."""
        return key_of_pod(self.key)

    @property
    def terminal(self) -> bool:
        """Succeeded or failed: invisible to the scheduler (spec §1.1.4)."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def deleting(self) -> bool:
        return self.deletion_timestamp is not None

    @property
    def incoming(self) -> PodRequests:
        """Request vectors of the pod as one to be placed: the spec alone (spec node-plugins.md §3.5)."""
        return self.spec.requests

    @property
    def usage(self) -> PodRequests:
        """Request vectors of the pod as it counts on its node: container status included when it has any."""
        if not self.status.allocated:
            return self.spec.requests
        return requests_of_assigned(self)

    def condition(self, kind: str) -> Condition | None:
        """The condition of type ``kind``, if any."""
        return next((c for c in self.status.conditions if c.type == kind), None)

    def with_condition(self, condition: Condition) -> Pod:
        """This pod with ``condition`` in place of the one of its type."""
        return self.with_status(evolve(self.status, conditions=replace_condition(self.status.conditions, condition)))

    def bound_to(self, node_name: str, status: PodStatus | None = None) -> Pod:
        """This pod, assigned to ``node_name``; ``status`` None keeps its status."""
        # every binding makes such a copy: field by field, and frozen when it is complete, it costs a tenth of evolve
        copy: Any = _new(_PodFields)
        pod: Pod = copy
        copy.namespace = self.namespace
        copy.name = self.name
        copy.uid = self.uid
        copy.spec = self.spec
        copy.labels = self.labels
        copy.annotations = self.annotations
        copy.creation_timestamp = self.creation_timestamp
        copy.deletion_timestamp = self.deletion_timestamp
        copy.generation = self.generation
        copy.scheduler_name = self.scheduler_name
        copy.priority = self.priority
        copy.preemption_policy = self.preemption_policy
        copy.scheduling_gates = self.scheduling_gates
        copy.group_name = self.group_name
        copy.node_name = node_name
        copy.owner = self.owner
        copy.status = self.status if status is None else status
        copy.key = self.key
        copy.group_key = self.group_key
        copy.__class__ = Pod
        return pod

    def with_status(self, status: PodStatus) -> Pod:
        """This pod with another status."""
        return self.bound_to(self.node_name, status)


def replace_condition(conditions: tuple[Condition, ...], new: Condition) -> tuple[Condition, ...]:
    """``conditions`` with ``new`` in place of the condition of its type, or appended."""
    for at, old in enumerate(conditions):
        if old.type == new.type:
            return (*conditions[:at], new, *conditions[at + 1 :])
    return (*conditions, new)


@frozen
class Taint:
    key: str
    value: str = ""
    effect: str = "NoSchedule"


@frozen
class ContainerImage:
    """An image on a node: all its names and its size in bytes."""

    names: tuple[str, ...]
    size: int


@frozen(eq=False)
class Node:
    """A node. ``allocatable`` as integers; the reader copies ``capacity`` when it is absent (spec §3.1.2).

    ``written_allocatable``: the same as it was written, in nano-units, with what is zero or counts nowhere: whether it
    changed is an event.
    """

    name: str
    uid: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    creation_timestamp: int = 0
    allocatable: Resources = NOTHING
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    conditions: tuple[tuple[str, str], ...] = ()
    declared_features: tuple[str, ...] = ()
    written_allocatable: Mapping[str, int] = {}


@value(eq=False)
class _Group:
    kind: ClassVar[str]
    namespace: str
    name: str
    uid: str
    minimum: int | None = None
    """``minCount`` / ``minGroupCount`` of a gang; None = ``basic`` policy."""
    parent_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    disruption_mode: Literal["single", "all"] = "single"
    topology_key: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    creation_timestamp: int = 0
    generation: int = 1
    conditions: tuple[Condition, ...] = ()
    key: EntityKey = field(
        init=False,
        repr=False,
        default=Factory(lambda group: EntityKey.of(group.kind, group.namespace, group.name), takes_self=True),
    )
    required: int = field(
        init=False, repr=False, default=Factory(lambda g: 1 if g.minimum is None else g.minimum, takes_self=True)
    )
    """M of the spec: the gang's minimum, 1 for basic (spec §3.2.3)."""
    effective_priority: int = field(init=False, repr=False, default=Factory(lambda g: g.priority or 0, takes_self=True))
    """``spec.priority``, nil = 0 (spec §1.2.7)."""

    @property
    def gang(self) -> bool:
        """Whether the policy is ``gang`` (else ``basic``)."""
        return self.minimum is not None

    @property
    def parent_key(self) -> EntityKey | None:
        """Key of the parent CompositePodGroup (same namespace), None for a root."""
        return EntityKey.of(COMPOSITE_POD_GROUP, self.namespace, self.parent_name) if self.parent_name else None

    def condition(self, kind: str) -> Condition | None:
        return next((c for c in self.conditions if c.type == kind), None)

    def with_condition(self, condition: Condition) -> Self:
        """This group with ``condition`` in place of the one of its type."""
        copy: Any = _new(_Group)  # as of a pod: every gang gets its condition
        group: Self = copy
        copy.namespace = self.namespace
        copy.name = self.name
        copy.uid = self.uid
        copy.minimum = self.minimum
        copy.parent_name = self.parent_name
        copy.priority = self.priority
        copy.priority_class_name = self.priority_class_name
        copy.preemption_policy = self.preemption_policy
        copy.disruption_mode = self.disruption_mode
        copy.topology_key = self.topology_key
        copy.labels = self.labels
        copy.annotations = self.annotations
        copy.creation_timestamp = self.creation_timestamp
        copy.generation = self.generation
        copy.conditions = replace_condition(self.conditions, condition)
        copy.key = self.key
        copy.required = self.required
        copy.effective_priority = self.effective_priority
        copy.__class__ = type(self)
        return group


@frozen(eq=False)
class PodGroup(_Group):
    """A leaf of a tree: owns pods (spec §1.2). ``minimum`` is ``minCount``."""

    kind = POD_GROUP


@frozen(eq=False)
class CompositePodGroup(_Group):
    """An inner node of a tree: owns groups only (spec §1.3). ``minimum`` is ``minGroupCount``."""

    kind = COMPOSITE_POD_GROUP


Group = PodGroup | CompositePodGroup

ClusterObject = (
    Pod | Node | PodGroup | CompositePodGroup | PriorityClass | PodDisruptionBudget | Namespace | SelectorOwner | Queue
)

__all__ = [
    "COMPOSITE_POD_GROUP",
    "DEFAULT_QUEUE",
    "DEFAULT_SCHEDULER",
    "POD",
    "POD_GROUP",
    "PREEMPT_LOWER_PRIORITY",
    "QUEUE_NAME",
    "ClusterObject",
    "CompositePodGroup",
    "Condition",
    "Container",
    "ContainerImage",
    "EntityKey",
    "Group",
    "Namespace",
    "Node",
    "Pod",
    "PodDisruptionBudget",
    "PodGroup",
    "PodSpec",
    "PodStatus",
    "PriorityClass",
    "Queue",
    "SelectorOwner",
    "Taint",
    "replace_condition",
]
