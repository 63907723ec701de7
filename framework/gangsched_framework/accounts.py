"""Accounts: what tenants and jobs hold and ask for, as integers (architecture.md §6; fair-share.md §4.1).

**Committed** amounts follow cluster events and submit at once: a pod that is assigned or assumed is *allocated*, one
that is known and unfinished is *requested*; a pod on its way out counts nowhere (P5r). **Tentative** amounts are those
of the running cycle. A *job* is a root entity, a *tenant* a Queue; a pod without a known root and without an annotation
of its own is an orphan and counts for nobody (P18r).

Policies listen and keep what they derive in step; nothing here knows a policy. ``moved`` collects for the queue whose
amounts changed, and whom else a policy names. Costs are O(resources) a pod.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import define

from gangsched_framework.hierarchy import Forest
from gangsched_framework.moved import Moved
from gangsched_framework.objects import DEFAULT_QUEUE, POD, QUEUE_NAME, EntityKey, Node, Pod, PodSpec, Queue
from gangsched_framework.resources import CPU, MEMORY
from gangsched_framework.snapshot import Step
from gangsched_framework.tentative import Tentative
from gangsched_framework.vectors import Vector, minus, plus, stored_amounts


@define(eq=False)
class TenantAccount:
    """``queue`` None: pods name a Queue that does not exist. ``pods`` counts the requested ones."""

    name: str
    queue: Queue | None = None
    pods: int = 0
    request: Vector = ()
    allocated: Vector = ()


@define(eq=False)
class JobAccount:
    """A root entity: what its pods hold and ask for together."""

    key: EntityKey
    tenant: TenantAccount
    pods: int = 0
    request: Vector = ()
    allocated: Vector = ()


@define(eq=False)
class _Entry:
    """How a pod is counted, and the object it was counted by."""

    pod: Pod
    job: JobAccount
    request: Vector
    placed: bool = False


class Accounts:
    """The books of one core. ``tenants`` holds every Queue and every tenant with pods; ``jobs`` those with pods.

    A Queue named ``default`` of weight 1 exists unless there is a real one (architecture.md §11). Whoever is in one of
    the lists ``on_…`` is called after each change of that kind; a policy notes what to work out anew when it is asked.
    """

    def __init__(self, forest: Forest, steps: Sequence[Step] = ()) -> None:
        """``steps``: the undo log of the cycles, which is followed."""
        self.tentative = Tentative(self, steps)
        self.names: list[str] = [CPU, MEMORY]
        self.total: Vector = ()
        self.tenants: dict[str, TenantAccount] = {DEFAULT_QUEUE: TenantAccount(DEFAULT_QUEUE, Queue(DEFAULT_QUEUE))}
        self.jobs: dict[EntityKey, JobAccount] = {}
        self.moved = Moved({}, {}, {})
        self.version = 0
        """Counts the changes of committed amounts, of the total and of Queues."""
        self.on_allocated: list[Callable[[JobAccount, bool], None]] = []
        """A pod of a job was placed (True) or gave its place back."""
        self.on_requested: list[Callable[[JobAccount], None]] = []
        """A pod of a job came or went; at 0 pods the job has gone."""
        self.on_total: list[Callable[[], None]] = []
        """Nodes changed, or a resource was named for the first time."""
        self.on_queue: list[Callable[[], None]] = []
        """A Queue came, changed or went."""
        self._forest = forest
        self._pods: dict[str, _Entry] = {}
        self._latest: _Entry | None = None
        """The pod of a known group that came last, if it still counts: its group has not changed since."""
        self._nodes: dict[str, Vector] = {}
        self._vectors: dict[PodSpec, Vector] = {}

    # --- reading ----------------------------------------------------------------------------------------------------

    def tenant_name(self, pod: Pod) -> str | None:
        """The tenant of a pod: what the root of its tree says, else its own annotation; None for an orphan."""
        return self._owner(pod)[1]

    def vector(self, pod: Pod) -> Vector:
        """What the pod requests, itself included as one of ``pods``."""
        found = self._vectors.get(pod.spec)
        if found is None:
            if len(self._vectors) > 100_000:
                self._vectors.clear()
            found = self._vectors[pod.spec] = self._as_vector(stored_amounts(pod.spec.requests.requested, pods=1))
        return found

    def job_of(self, pod_key: str) -> JobAccount | None:
        """The job a pod counts for, None when it counts for nobody."""
        entry = self._pods.get(pod_key)
        return entry.job if entry is not None else None

    def is_placed(self, pod_key: str) -> bool | None:
        """Whether a pod that counts is assigned or assumed; None when it does not count."""
        entry = self._pods.get(pod_key)
        return entry.placed if entry is not None else None

    def take_moved(self) -> Moved | None:
        """Whose key may have changed since the last call; None = nobody's."""
        moved = self.moved
        if not (moved.tenants or moved.jobs or moved.branches):
            return None
        self.moved = Moved({}, {}, {})
        return moved

    # --- pods -------------------------------------------------------------------------------------------------------

    def see(self, pod: Pod, placed: bool, *, regrouped: bool = False) -> None:
        """A pod appears, changes, is placed or loses its place. ``placed``: assigned or assumed.

        ``regrouped``: groups above it came, went or changed, so it may have another root, or its root another tenant.
        """
        entry = self._pods.get(pod.key)
        if regrouped:
            self._latest = None
        if pod.deletion_timestamp is not None or pod.terminal:
            self.drop(pod.key)
        elif entry is None:
            self._enter(pod, placed)
        elif regrouped or not _counts_as_before(entry.pod, pod):
            self._recount(entry, pod, placed)
        else:
            entry.pod = pod
            if entry.placed is not placed:
                entry.placed = placed
                self._hold(entry.job, entry.request, placed)

    def place(self, pod_key: str, placed: bool) -> None:
        """A pod, otherwise as it was, is assumed or loses its place; unknown ones are ignored."""
        entry = self._pods.get(pod_key)
        if entry is not None and entry.placed is not placed:
            entry.placed = placed
            self._hold(entry.job, entry.request, placed)

    def _enter(self, pod: Pod, placed: bool) -> None:
        """A pod that does not count yet. Members of a group tend to come one after another, and alike."""
        like = self._latest
        if like is not None and pod.spec is like.pod.spec and pod.group_key == like.pod.group_key:
            job, request = like.job, like.request
        else:
            key, name = self._owner(pod)
            if name is None:
                return
            job, request = self._job(key, name), self.vector(pod)
            like = None
        entry = self._pods[pod.key] = _Entry(pod, job, request, placed)
        if like is None:
            self._latest = entry if pod.group_key is not None and job.key.kind != POD else None
        self._ask(job, request, 1)
        if placed:
            self._hold(job, request, True)

    def _recount(self, entry: _Entry, pod: Pod, placed: bool) -> None:
        key, name = self._owner(pod)
        if name is None:
            self.drop(pod.key)
            return
        job = entry.job
        if job.key == key and job.tenant.name != name:
            self._move(job, self._tenant(name))
        if job.key == key and entry.request == self.vector(pod):
            entry.pod = pod
            if entry.placed is not placed:
                entry.placed = placed
                self._hold(job, entry.request, placed)
            return
        self.drop(pod.key)
        self._enter(pod, placed)

    def drop(self, pod_key: str) -> None:
        """A pod is gone; unknown ones are ignored."""
        entry = self._pods.pop(pod_key, None)
        if entry is None:
            return
        if entry is self._latest:
            self._latest = None
        job, request = entry.job, entry.request
        if entry.placed:
            self._hold(job, request, False)
        if job.pods == 1:
            del self.jobs[job.key]
        self._ask(job, request, -1)
        self._forget_tenant(job.tenant)

    def _owner(self, pod: Pod) -> tuple[EntityKey, str | None]:
        """The job of a pod and its tenant, as ``tenant_name`` says."""
        key = pod.group_key
        if key is None:
            return pod.entity_key, pod.annotations.get(QUEUE_NAME) or DEFAULT_QUEUE
        root = self._forest.root(key)
        group = self._forest.group(root) if root is not None else None
        if root is None or group is None:
            return root or pod.entity_key, pod.annotations.get(QUEUE_NAME) or None
        return root, group.annotations.get(QUEUE_NAME) or DEFAULT_QUEUE

    def _job(self, key: EntityKey, tenant: str) -> JobAccount:
        job = self.jobs.get(key)
        if job is None:
            job = self.jobs[key] = JobAccount(key, self._tenant(tenant))
        elif job.tenant.name != tenant:
            self._move(job, self._tenant(tenant))
        return job

    def _move(self, job: JobAccount, tenant: TenantAccount) -> None:
        """A job changes its tenant, with all its pods."""
        old, pods, request, allocated = job.tenant, job.pods, job.request, job.allocated
        left = JobAccount(job.key, old, pods, request, allocated)
        job.tenant, job.pods, job.request, job.allocated = tenant, 0, (), ()
        self._ask(left, request, -pods)
        self._hold(left, allocated, False)
        self._ask(job, request, pods)
        self._hold(job, allocated, True)
        self._forget_tenant(old)

    def _tenant(self, name: str) -> TenantAccount:
        tenant = self.tenants.get(name)
        if tenant is None:
            tenant = self.tenants[name] = TenantAccount(name)
        return tenant

    def _forget_tenant(self, tenant: TenantAccount) -> None:
        if tenant.queue is None and not tenant.pods:
            self.tenants.pop(tenant.name, None)

    def _ask(self, job: JobAccount, request: Vector, pods: int) -> None:
        """``pods`` of a job, which request this together, came, or (a negative number) went."""
        change, tenant = plus if pods > 0 else minus, job.tenant
        job.pods += pods
        tenant.pods += pods
        job.request, tenant.request = change(job.request, request), change(tenant.request, request)
        self.version += 1
        self.moved.jobs[job.key] = None
        for note in self.on_requested:
            note(job)

    def _hold(self, job: JobAccount, request: Vector, grew: bool) -> None:
        """Pods of a job, which request this together, were placed, or gave their place back and left room."""
        change, tenant, moved = plus if grew else minus, job.tenant, self.moved
        job.allocated, tenant.allocated = change(job.allocated, request), change(tenant.allocated, request)
        self.version += 1
        moved.jobs[job.key] = None
        if not grew or tenant.name not in moved.tenants:
            moved.tenants[tenant.name] = not grew
        for note in self.on_allocated:
            note(job, grew)

    # --- nodes and queues -------------------------------------------------------------------------------------------

    def set_node(self, node: Node | None, name: str) -> None:
        """A node came, changed, or (None) went. The total counts all nodes, cordoned ones too."""
        old = self._nodes.pop(name, ())
        new: Vector = ()
        if node is not None:
            new = self._nodes[name] = self._as_vector(stored_amounts(node.allocatable))
        change = minus(new, old)
        if any(change):
            self.total = plus(self.total, change)
            self.version += 1
            for note in self.on_total:
                note()

    def set_queue(self, name: str, queue: Queue | None) -> None:
        """A Queue came, changed, or (None) went; its pods stay counted for its name."""
        if queue is None and name == DEFAULT_QUEUE:
            queue = Queue(DEFAULT_QUEUE)
        tenant = self._tenant(name)
        tenant.queue = queue
        self.version += 1
        self.moved.note(name, grew=True)
        for note in self.on_queue:
            note()
        self._forget_tenant(tenant)

    def _as_vector(self, amounts: dict[str, int]) -> Vector:
        unknown = [name for name in sorted(amounts) if name not in self.names]
        if unknown:
            self.names += unknown
            self.version += 1
            for note in self.on_total:
                note()
        return tuple(amounts.get(name, 0) for name in self.names)

    def _check(self) -> None:
        """Assert that every sum equals a recount (tests only)."""
        for counted in (self.tenants, self.jobs):
            for key, account in counted.items():
                entries = [
                    entry
                    for entry in self._pods.values()
                    if (entry.job.tenant if counted is self.tenants else entry.job) is account
                ]
                assert account.pods == len(entries), f"{key}: pods"
                assert _same(account.request, [entry.request for entry in entries]), f"{key}: request"
                assert _same(account.allocated, [e.request for e in entries if e.placed]), f"{key}: allocated"
        assert _same(self.total, list(self._nodes.values()))
        assert all(self.jobs[entry.job.key] is entry.job for entry in self._pods.values())
        self.tentative._check()


def _counts_as_before(old: Pod, new: Pod) -> bool:
    """Whether nothing changed that decides whom the pod counts for, and how much."""
    return (
        old.spec is new.spec
        and old.annotations is new.annotations
        and (old.group_key is new.group_key or old.group_key == new.group_key)
    )


def _same(sum_: Vector, vectors: list[Vector]) -> bool:
    total: Vector = ()
    for vector in vectors:
        total = plus(total, vector)
    return not any(minus(sum_, total))
