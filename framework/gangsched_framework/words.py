"""The words of the Kubernetes API, each list once: for readers of manifests and configurations, and for builders."""

from __future__ import annotations

from typing import Literal, get_args

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
TolerationOperator = Literal["Exists", "Equal", "Lt", "Gt"]
LabelOperator = Literal["In", "NotIn", "Exists", "DoesNotExist"]
NodeOperator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
WhenUnsatisfiable = Literal["DoNotSchedule", "ScheduleAnyway"]
PreemptionPolicy = Literal["PreemptLowerPriority", "Never"]
Protocol = Literal["TCP", "UDP", "SCTP"]
Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]
ConditionStatus = Literal["True", "False", "Unknown"]

EFFECTS: tuple[Effect, ...] = get_args(Effect)
TOLERATION_OPERATORS: tuple[TolerationOperator, ...] = get_args(TolerationOperator)
LABEL_OPERATORS: tuple[LabelOperator, ...] = get_args(LabelOperator)
NODE_OPERATORS: tuple[NodeOperator, ...] = get_args(NodeOperator)
WHEN_UNSATISFIABLE: tuple[WhenUnsatisfiable, ...] = get_args(WhenUnsatisfiable)
PREEMPTION_POLICIES: tuple[PreemptionPolicy, ...] = get_args(PreemptionPolicy)
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
PHASES: tuple[Phase, ...] = get_args(Phase)
CONDITION_STATUSES: tuple[ConditionStatus, ...] = get_args(ConditionStatus)
