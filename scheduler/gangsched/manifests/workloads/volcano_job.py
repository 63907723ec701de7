"""Volcano's Job (batch.volcano.sh/v1alpha1): a gang of ``minAvailable`` and the pods ``JOB-TASK-INDEX`` of its tasks.

The group bears the name of the job; Volcano appends its uid. Its queue stands in the annotations of group and pods.
"""

from __future__ import annotations

from gangsched.manifests.context import GROUPS
from gangsched.manifests.errors import InputError, describe, found, missing
from gangsched.manifests.fields import Raw, each, unique
from gangsched.manifests.groups import read_pod_group
from gangsched.manifests.metadata import Metadata
from gangsched.manifests.names import DNS_LABEL
from gangsched.manifests.workloads.workload import Member, Workload
from gangsched_framework.objects import ClusterObject, PodGroup

DEFAULT_SCHEDULER = "volcano"
DEFAULT_QUEUE = "default"
QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"
GROUP_ANNOTATION = "scheduling.k8s.io/group-name"


def expand_volcano_job(workload: Workload) -> list[ClusterObject]:
    """The PodGroup and the pods, task by task."""
    spec = workload.spec
    tasks: list[Raw] = [
        {**task, "name": task.get("name") or f"default{index}"} for index, task in enumerate(spec.get("tasks") or ())
    ]
    replicas = [workload.count(task, "replicas", 0, "spec", "tasks", index) for index, task in enumerate(tasks)]
    workload.reserve(sum(replicas), "spec", "tasks")
    if workload.context.strict:
        _validate(spec, tasks, sum(replicas))
    _name_unmodelled(workload, spec, tasks)
    group = _group(workload, spec, tasks, replicas)
    objects: list[ClusterObject] = [] if group is None else [group]
    defaults = {"schedulerName": spec.get("schedulerName") or DEFAULT_SCHEDULER}
    if spec.get("priorityClassName"):
        defaults["priorityClassName"] = spec["priorityClassName"]
    for index, (task, count) in enumerate(zip(tasks, replicas, strict=True)):
        members = (_member(workload, spec, task["name"], number) for number in range(count))
        path = ("spec", "tasks", index, "template")
        objects += workload.pods(
            task.get("template"), path, members, workload.owner, group=group.name if group else "", defaults=defaults
        )
    return objects


def _member(workload: Workload, spec: Raw, task: str, number: int) -> Member:
    job, queue = workload.meta.name, spec.get("queue") or DEFAULT_QUEUE
    labels = {
        "volcano.sh/job-name": job,
        "volcano.sh/job-namespace": workload.meta.namespace,
        "volcano.sh/queue-name": queue,
        "volcano.sh/task-index": str(number),
        "volcano.sh/task-spec": task,
    }
    annotations = {
        **({GROUP_ANNOTATION: job} if workload.context.groups else {}),
        QUEUE_ANNOTATION: queue,
        "volcano.sh/job-name": job,
        "volcano.sh/queue-name": queue,
        "volcano.sh/task-index": str(number),
        "volcano.sh/task-spec": task,
        "volcano.sh/template-uid": f"{job}-{task}",
    }
    return Member(f"{job}-{task}-{number}", labels=labels, annotations=annotations)


def _group(workload: Workload, spec: Raw, tasks: list[Raw], replicas: list[int]) -> PodGroup | None:
    if not workload.context.groups:
        workload.context.warn_off(GROUPS, "spec.minAvailable")
        return None
    least = [
        count if task.get("minAvailable") is None else task["minAvailable"]
        for task, count in zip(tasks, replicas, strict=True)
    ]
    minimum = spec.get("minAvailable") or sum(least)
    policy = {"gang": {"minCount": minimum}} if minimum > 0 else {"basic": {}}
    group = {"schedulingPolicy": policy, "priorityClassName": spec.get("priorityClassName")}
    meta = workload.meta
    queue = {QUEUE_ANNOTATION: spec.get("queue") or DEFAULT_QUEUE}
    identity = Metadata(
        meta.namespace,
        meta.name,
        workload.context.new_uid("PodGroup", f"{meta.namespace}/{meta.name}"),
        meta.labels,
        {**meta.annotations, **queue},
        meta.creation_timestamp,
        None,
        1,
        ("Job", meta.name),
    )
    return read_pod_group(workload.context, {"spec": group}, identity)


def _name_unmodelled(workload: Workload, spec: Raw, tasks: list[Raw]) -> None:
    if spec.get("networkTopology"):
        workload.unmodelled("spec.networkTopology")
    for name in ("dependsOn", "partitionPolicy", "topologyPolicy", "minAvailable"):
        if any(task.get(name) is not None and task.get(name) != task.get("replicas") for task in tasks):
            workload.unmodelled(f"spec.tasks[].{name}")


def _validate(spec: Raw, tasks: list[Raw], total: int) -> None:
    """What Volcano's webhook refuses."""
    if not tasks:
        raise missing("tasks", "at least one task").under("spec")
    try:
        named = {"tasks": tasks}
        each(named, "tasks", lambda task: DNS_LABEL.require(task["name"], "name"))
        unique(named, "tasks", lambda task: task["name"], "name")
        each(named, "tasks", _validate_task)
        _validate_policies(spec)
    except InputError as error:
        raise error.under("spec") from None
    minimum = spec.get("minAvailable") or 0
    if not 0 <= minimum <= total:
        raise found(describe(minimum), f"0 to {total}, the replicas of all tasks", "spec", "minAvailable")


def _validate_task(task: Raw) -> None:
    minimum, replicas = task.get("minAvailable"), task.get("replicas") or 0
    if minimum is not None and not 0 <= minimum <= replicas:
        raise found(describe(minimum), f"0 to {replicas}, the replicas", "minAvailable")
    _validate_policies(task)


def _validate_policies(raw: Raw) -> None:
    """No event and no exit code may have two actions."""
    seen: dict[object, None] = {}
    policies: list[Raw] = raw.get("policies") or []
    for index, policy in enumerate(policies):
        triggers: list[object] = [*(policy.get("events") or ()), policy.get("event") or None, policy.get("exitCode")]
        for trigger in (trigger for trigger in triggers if trigger is not None):
            if trigger in seen:
                raise found(f"{describe(trigger)} twice", "one action for each event", "policies", index)
            seen[trigger] = None
