"""A recorded Volcano scenario as its first session sees it when it opens (conformance README of volcano, §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from gangsched_framework.pod_requests import is_scalar
from gangsched_framework.quantity import parse_quantity
from gangsched_framework.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from gangsched_plugins.fairshare.amounts import NO_AMOUNTS, Amounts
from gangsched_plugins.fairshare.demand import Demand, demand_of_job
from gangsched_plugins.fairshare.entitlement import total_of

ALLOCATED = frozenset({"Bound", "Running"})
"""The allocated family, of the states a task can have when a session opens (R36)."""
_ONE_POD = Amounts(scalars={PODS: 1})


@frozen
class Task:
    name: str
    status: str
    request: Amounts
    priority: int
    created: int


@frozen
class Job:
    """A PodGroup with its tasks. ``uid`` is ``namespace/name``, ``name`` how the records call it."""

    uid: str
    name: str
    queue: str
    minimum: int
    min_resources: Amounts | None
    phase: str
    priority: int
    created: int
    annotations: Mapping[str, str]
    tasks: tuple[Task, ...]

    @property
    def allocated(self) -> Amounts:
        return total_of(task.request for task in self.tasks if task.status in ALLOCATED)

    @property
    def request(self) -> Amounts:
        """Of all tasks, whatever their status (D12)."""
        return total_of(task.request for task in self.tasks)

    @property
    def demand(self) -> Demand:
        """What it adds to its queue (P5r-P7r)."""
        pending = total_of(task.request for task in self.tasks if task.status == "Pending")
        running = sum(task.status in ALLOCATED for task in self.tasks) >= self.minimum
        admitted = self.phase == "Inqueue" or (self.phase == "Running" and running)
        return demand_of_job(self.allocated, pending, self.min_resources, admitted=admitted)

    @property
    def ready(self) -> bool:
        """Gang's IsReady (G2)."""
        ready = sum(task.status in ("Bound", "Running", "Succeeded") for task in self.tasks)
        best_effort = sum(task.status == "Pending" and task.request.is_empty for task in self.tasks)
        return ready + best_effort >= self.minimum


@frozen
class VolcanoQueue:
    name: str
    weight: int
    priority: int
    created: int
    parent: str
    capability: Amounts | None
    guarantee: Amounts
    deserved: Amounts
    hierarchy: str
    hierarchy_weights: str


@frozen
class OpenSession:
    """``jobs`` by uid, ``queues`` by name, both in that order."""

    total: Amounts
    queues: Mapping[str, VolcanoQueue]
    jobs: tuple[Job, ...]

    def jobs_of(self, queue: str) -> list[Job]:
        return [job for job in self.jobs if job.queue == queue]

    @property
    def busy(self) -> list[VolcanoQueue]:
        """The queues that have jobs."""
        return [queue for queue in self.queues.values() if self.jobs_of(queue.name)]

    def demand_of(self, queue: str) -> Demand:
        """The demands of a queue's jobs together."""
        demand = Demand()
        for job in self.jobs_of(queue):
            demand = demand.plus(job.demand)
        return demand


def open_session(scenario: Mapping[str, Any]) -> OpenSession:
    """Read a scenario; jobs of queues that do not exist are left out (S1)."""
    queues = {raw["name"]: _queue(raw) for raw in sorted(scenario["queues"], key=lambda raw: str(raw["name"]))}
    tasks: dict[str, list[Task]] = {}
    for raw in scenario["pods"]:
        tasks.setdefault(f"{raw.get('namespace', 'default')}/{raw['group']}", []).append(_task(raw))
    classes = {raw["name"]: raw for raw in scenario.get("priorityClasses") or ()}
    jobs = [_job(raw, tasks, classes) for raw in scenario["podGroups"]]
    known = sorted((job for job in jobs if job.queue in queues), key=lambda job: job.uid)
    return OpenSession(total_of(_amounts(node["allocatable"]) for node in scenario["nodes"]), queues, tuple(known))


def _job(raw: Mapping[str, Any], tasks: Mapping[str, Sequence[Task]], classes: Mapping[str, Any]) -> Job:
    namespace = raw.get("namespace", "default")
    uid = f"{namespace}/{raw['name']}"
    default = next((each["value"] for each in classes.values() if each.get("globalDefault")), 0)
    chosen = classes.get(raw.get("priorityClassName", ""))
    minimum = raw.get("minResources")
    return Job(
        uid=uid,
        name=raw["name"] if namespace == "default" else uid,
        queue=raw["queue"],
        minimum=raw["minMember"],
        min_resources=None if minimum is None else _amounts(minimum),
        phase=raw["phase"],
        priority=chosen["value"] if chosen else default,
        created=raw.get("created", 0),
        annotations=raw.get("annotations") or {},
        tasks=tuple(sorted(tasks.get(uid, ()), key=lambda task: task.name)),
    )


def _task(raw: Mapping[str, Any]) -> Task:
    request = _amounts(raw.get("requests") or {}).plus(_ONE_POD)  # R8
    return Task(raw["name"], _status(raw), request, raw.get("priority", 1), raw.get("created", 0))


def _status(raw: Mapping[str, Any]) -> str:
    """Of a pod, as a task (R36)."""
    phase: str = raw.get("phase", "Pending")
    if phase == "Running":
        return "Releasing" if raw.get("deleting") else "Running"
    if phase != "Pending":
        return phase
    if raw.get("deleting"):
        return "Releasing"
    return "Bound" if raw.get("node") else "Pending"


def _queue(raw: Mapping[str, Any]) -> VolcanoQueue:
    def optional(key: str) -> Amounts | None:
        return None if raw.get(key) is None else _amounts(raw[key])

    return VolcanoQueue(
        name=raw["name"],
        weight=raw.get("weight", 1),
        priority=raw.get("priority", 0),
        created=raw.get("created", 0),
        parent=raw.get("parent", ""),
        capability=optional("capability"),
        guarantee=optional("guarantee") or NO_AMOUNTS,
        deserved=optional("deserved") or NO_AMOUNTS,
        hierarchy=raw.get("hierarchy", ""),
        hierarchy_weights=raw.get("hierarchyWeights", ""),
    )


def _amounts(raw: Mapping[str, str]) -> Amounts:
    """A Kubernetes list in stored units (R3)."""
    scalars: dict[str, float] = {}
    cpu = memory = 0
    for name, text in raw.items():
        quantity = parse_quantity(text)
        if name == CPU:
            cpu = quantity.milli_value
        elif name == MEMORY:
            memory = quantity.value
        elif name == PODS:
            scalars[name] = quantity.value
        elif name == EPHEMERAL_STORAGE or (is_scalar(name) and not name.startswith("count/")):
            scalars[name] = quantity.milli_value
    return Amounts(cpu, memory, scalars or None)
