"""Accounts: what tenants and jobs hold and ask for, as integers (architecture.md §6; fair-share.md §4.1).

**Committed** amounts follow cluster events and submit at once: a pod that is assigned or assumed is *allocated*, one
that is known is *requested*, and finished ones are not known; a pod on its way out counts nowhere (P5r). **Tentative**
amounts are those of the running cycle. A *job* is a root entity, a *tenant* a Queue; a pod without a known root and
without an annotation of its own is an orphan and counts for nobody (P18r).

Policies listen and keep what they derive in step; nothing here knows a policy. ``moved`` collects for the queue whose
amounts changed, and whom else a policy names. A pod that comes, is placed or goes is counted among its like, and the
sums are made when somebody reads them: O(resources) a kind of pods that changed, not a pod.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from gangsched_framework.account import JobAccount, Like, TenantAccount
from gangsched_framework.hierarchy import Forest
from gangsched_framework.moved import Moved
from gangsched_framework.objects import DEFAULT_QUEUE, QUEUE_NAME, EntityKey, Node, Pod, PodSpec, Queue
from gangsched_framework.resources import CPU, MEMORY
from gangsched_framework.snapshot import Step
from gangsched_framework.tentative import Tentative
from gangsched_framework.vectors import Vector, minus, plus, stored_amounts, times


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
        self.moved = Moved({}, {}, {})
        self.version = 0
        """Counts the changes of committed amounts, of the total and of Queues."""
        self.on_allocated: list[Callable[[JobAccount, bool], None]] = []
        """Pods of a job are placed (True), the first since somebody read, or one gave its place back."""
        self.on_requested: list[Callable[[JobAccount], None]] = []
        """Pods of a job come or go, the first since somebody read; a job without pods is not among ``jobs`` then."""
        self.on_total: list[Callable[[], None]] = []
        """Nodes changed, or a resource was named for the first time."""
        self.on_queue: list[Callable[[], None]] = []
        """A Queue came, changed or went."""
        self._forest = forest
        self._tenants: dict[str, TenantAccount] = {DEFAULT_QUEUE: TenantAccount(DEFAULT_QUEUE, Queue(DEFAULT_QUEUE))}
        self._jobs: dict[EntityKey, JobAccount] = {}
        self._waiting: dict[str, Like] = {}
        self._placed: dict[str, Like] = {}
        """Every pod that counts is in one of the two."""
        self._latest: Like | None = None
        """Those of a known group of which one came last, and none has gone: the group has not changed since."""
        self._changed: list[Like] = []
        """Those that are not in the sums as they are."""
        self._left = False
        """Whether some of them have gone."""
        self._nodes: dict[str, Vector] = {}
        self._vectors: dict[PodSpec, Vector] = {}

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def tenants(self) -> Mapping[str, TenantAccount]:
        """Every tenant by name, with its sums as they are now; of use until the next change."""
        if self._changed:
            self._sum()
        return self._tenants

    @property
    def jobs(self) -> Mapping[EntityKey, JobAccount]:
        """Every job by key, with its sums as they are now; of use until the next change."""
        if self._changed:
            self._sum()
        return self._jobs

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
        if self._changed:
            self._sum()
        like = self._waiting.get(pod_key) or self._placed.get(pod_key)
        return like.job if like is not None else None

    def is_placed(self, pod_key: str) -> bool | None:
        """Whether a pod that counts is assigned or assumed; None when it does not count."""
        return True if pod_key in self._placed else False if pod_key in self._waiting else None

    def take_moved(self) -> Moved | None:
        """Whose key may have changed since the last call; None = nobody's."""
        if self._changed:
            self._sum()
        moved = self.moved
        if not (moved.tenants or moved.jobs or moved.branches):
            return None
        self.moved = Moved({}, {}, {})
        return moved

    # --- pods -------------------------------------------------------------------------------------------------------

    def add(self, pod: Pod) -> None:
        """A pod without a place that is not known appears. Members of a group tend to come together, and alike."""
        if pod.deletion_timestamp is not None:
            return
        like = self._latest
        if like is None or pod.spec is not like.spec or pod.group_key != like.group_key:
            like = self._newcomer(pod)
            if like is None:
                return
        self._waiting[pod.key] = like
        like.came = came = like.came + 1
        if came == 1:
            self._changed.append(like)
            self._tell_requested(like.job)

    def see(self, pod: Pod, placed: bool, *, regrouped: bool = False) -> None:
        """A pod appears, changes, is placed or loses its place. ``placed``: assigned or assumed.

        ``regrouped``: groups above it came, went or changed, so it may have another root, or its root another tenant.
        """
        if regrouped:
            self._latest = None
        if pod.deletion_timestamp is not None:
            self.drop(pod.key)
            return
        like = self._waiting.get(pod.key) or self._placed.get(pod.key)
        if like is None:
            self.add(pod)
        elif regrouped or not like.has(pod):
            self._recount(like, pod)
        if placed or like is not None:
            self.place(pod.key, placed)

    def place(self, pod_key: str, placed: bool) -> None:
        """A pod, otherwise as it was, is assumed or loses its place; unknown ones are ignored."""
        if not placed:
            self._displace(pod_key)
            return
        like = self._waiting.pop(pod_key, None)
        if like is not None:
            self._placed[pod_key] = like
            like.settled = settled = like.settled + 1
            if settled == 1:
                self._changed.append(like)
                self._tell_allocated(like.job, True)

    def _displace(self, pod_key: str) -> None:
        like = self._placed.pop(pod_key, None)
        if like is not None:
            self._waiting[pod_key] = like
            like.settled -= 1
            self._note(like)
            self._tell_allocated(like.job, False)

    def _newcomer(self, pod: Pod) -> Like | None:
        """The first of its like; None when it counts for nobody."""
        key, name, of_group = self._owner(pod)
        if name is None:
            return None
        request = self.vector(pod)  # a new resource is told of before the job is there
        like = Like(self._job(key, name), pod.spec, pod.group_key, None if of_group else pod.annotations, request)
        self._latest = like if of_group else None
        return like

    def _recount(self, like: Like, pod: Pod) -> None:
        """A pod that counts is of another group, spec or tenant, or its root may have changed."""
        key, name, of_group = self._owner(pod)
        request = self.vector(pod)
        if name is None or like.job.key != key or like.request != request:
            self.drop(pod.key)
            self.add(pod)
            return
        job = self._job(key, name)
        if not like.has(pod):
            here = self._waiting if pod.key in self._waiting else self._placed
            here[pod.key] = Like(job, pod.spec, pod.group_key, None if of_group else pod.annotations, request)

    def drop(self, pod_key: str) -> None:
        """A pod is gone; unknown ones are ignored."""
        self._displace(pod_key)
        like = self._waiting.pop(pod_key, None)
        if like is None:
            return
        self._latest = None
        like.came -= 1
        self._left = True
        self._note(like)
        self._tell_requested(like.job)

    def _note(self, like: Like) -> None:
        """Its sums are stale. They are made now if nobody has read them for long, so that what is gone is forgotten."""
        self._changed.append(like)
        if len(self._changed) > 10_000:
            self._sum()

    def _owner(self, pod: Pod) -> tuple[EntityKey, str | None, bool]:
        """The job of a pod, its tenant as ``tenant_name`` says, and whether a group decides that, not the pod."""
        key = pod.group_key
        if key is None:
            return pod.entity_key, pod.annotations.get(QUEUE_NAME) or DEFAULT_QUEUE, False
        root = self._forest.roots.get(key)
        group = self._forest.group(root) if root is not None else None
        if root is None or group is None:
            return pod.entity_key, pod.annotations.get(QUEUE_NAME) or None, False
        return root, group.annotations.get(QUEUE_NAME) or DEFAULT_QUEUE, True

    def _job(self, key: EntityKey, tenant: str) -> JobAccount:
        """The job, which is of this tenant from now on."""
        job = self._jobs.get(key)
        if job is not None and job.tenant.name != tenant:
            self._sum()  # it may have lost its last pod, and its tenant with it
            job = self._jobs.get(key)
            if job is not None:
                self._move(job, tenant)
        if job is None:
            job = self._jobs[key] = JobAccount(key, self._tenant(tenant))
        return job

    def _move(self, job: JobAccount, tenant: str) -> None:
        """A job changes its tenant, with all its pods, which are in the sums."""
        old = job.tenant
        for account, change, grew in ((old, minus, False), (self._tenant(tenant), plus, True)):
            account.pods += job.pods if grew else -job.pods
            account.request = change(account.request, job.request)
            account.allocated = change(account.allocated, job.allocated)
            job.tenant = account
            self._tell_requested(job)
            self._tell_allocated(job, grew)
        self._forget_tenant(old)

    def _tenant(self, name: str) -> TenantAccount:
        return self._tenants.get(name) or self._tenants.setdefault(name, TenantAccount(name))

    def _forget_tenant(self, tenant: TenantAccount) -> None:
        if tenant.queue is None and not tenant.pods:
            self._tenants.pop(tenant.name, None)

    # --- sums -------------------------------------------------------------------------------------------------------

    def _tell_requested(self, job: JobAccount) -> None:
        self.version += 1
        self.moved.jobs[job.key] = None
        for note in self.on_requested:
            note(job)

    def _tell_allocated(self, job: JobAccount, grew: bool) -> None:
        name, moved = job.tenant.name, self.moved
        self.version += 1
        moved.jobs[job.key] = None
        if not grew or name not in moved.tenants:
            moved.tenants[name] = not grew
        for note in self.on_allocated:
            note(job, grew)

    def _sum(self) -> None:
        """Bring the sums up to date. Jobs whose last pod has gone go, and tenants that were known by them alone."""
        changed, self._changed = self._changed, []
        for like in changed:
            job = like.job
            tenant = job.tenant
            if came := like.came:
                like.came = 0
                change = like.request if came == 1 else times(like.request, came)
                job.pods, tenant.pods = job.pods + came, tenant.pods + came
                job.request = plus(job.request, change) if job.request else change
                tenant.request = plus(tenant.request, change)
            if settled := like.settled:
                like.settled = 0
                change = like.request if settled == 1 else times(like.request, settled)
                job.allocated = plus(job.allocated, change) if job.allocated else change
                tenant.allocated = plus(tenant.allocated, change)
        if self._left:
            self._left = False
            for like in changed:
                job = like.job
                if not job.pods and self._jobs.get(job.key) is job:
                    del self._jobs[job.key]
                    self._forget_tenant(job.tenant)

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
        self._sum()
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
        pods = [*self._waiting.items(), *self._placed.items()]
        for counted in (self.tenants, self.jobs):
            for key, account in counted.items():
                own = [(pod, like.request) for pod, like in pods if account in (like.job, like.job.tenant)]
                asked: Vector = reduce(plus, [request for _, request in own], ())
                held: Vector = reduce(plus, [request for pod, request in own if pod in self._placed], ())
                assert account.pods == len(own), f"{key}: pods"
                assert not any(minus(account.request, asked)), f"{key}: request"
                assert not any(minus(account.allocated, held)), f"{key}: allocated"
        total: Vector = reduce(plus, self._nodes.values(), ())
        assert not any(minus(self.total, total))
        assert all(self._jobs[like.job.key] is like.job for _, like in pods)
        assert all(job.pods for job in self._jobs.values())
        assert not self._placed.keys() & self._waiting.keys()
        self.tentative._check()
