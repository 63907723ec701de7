"""Cluster-wide policies and selectors the scheduler reads: priority classes, budgets, namespaces, selector owners."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from gangsched_framework.pod_spec import LabelSelector

PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
"""Annotation of a pod or of the root of its tree: the Queue it belongs to."""
DEFAULT_QUEUE = "default"


@frozen
class PriorityClass:
    """A named priority and the policy of preemption that comes with it."""

    name: str
    value: int
    global_default: bool = False
    preemption_policy: str = PREEMPT_LOWER_PRIORITY


@frozen
class PodDisruptionBudget:
    """``disruptions_allowed`` is ``status.disruptionsAllowed``; ``disrupted``: pods it counts as gone already."""

    namespace: str
    name: str
    selector: LabelSelector | None
    disruptions_allowed: int = 0
    disrupted: frozenset[str] = frozenset()


@frozen
class Namespace:
    """What namespace selectors read."""

    name: str
    labels: Mapping[str, str] = {}


@frozen
class SelectorOwner:
    """A Service, ReplicationController, ReplicaSet or StatefulSet: what default spread constraints read (§7.9.1)."""

    kind: str
    namespace: str
    name: str
    selector: LabelSelector | None


@frozen(eq=False)
class Queue:
    """A tenant (scheduling.volcano.sh/v1beta1): who shares the cluster with whom, and by which right.

    Amounts map resource names to nano-units, as written; None = unset. ``parent`` '' = the root. ``annotations`` may
    hold ``volcano.sh/hierarchy`` and ``volcano.sh/hierarchy-weights`` (fair-share.md §3.4, §4.1).
    """

    name: str
    uid: str = ""
    weight: int = 1
    capability: Mapping[str, int] | None = None
    guarantee: Mapping[str, int] | None = None
    deserved: Mapping[str, int] | None = None
    parent: str = ""
    priority: int = 0
    reclaimable: bool = True
    state: str = "Open"
    annotations: Mapping[str, str] = {}
    creation_timestamp: int = 0
