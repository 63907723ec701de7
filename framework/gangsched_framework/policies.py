"""Cluster-wide policies and selectors the scheduler reads: priority classes, budgets, namespaces, selector owners."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from gangsched_framework.pod_spec import LabelSelector

PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"


@frozen
class PriorityClass:
    name: str
    value: int
    global_default: bool = False
    preemption_policy: str = PREEMPT_LOWER_PRIORITY


@frozen
class PodDisruptionBudget:
    """``disruptions_allowed`` is ``status.disruptionsAllowed``."""

    namespace: str
    name: str
    selector: LabelSelector | None
    disruptions_allowed: int = 0


@frozen
class Namespace:
    name: str
    labels: Mapping[str, str] = {}


@frozen
class SelectorOwner:
    """A Service, ReplicationController, ReplicaSet or StatefulSet: what default spread constraints read (§7.9.1)."""

    kind: str
    namespace: str
    name: str
    selector: LabelSelector | None
